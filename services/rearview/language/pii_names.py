"""Recognisers of people and organisations: language models, and the phrases by which people give their names."""

import re
from collections.abc import Collection, Iterator

from rearview.domain.text import EntityType, PiiCategory
from rearview.language.entities import model_mentions

_CATEGORIES = {EntityType.PERSON: PiiCategory.PERSON, EntityType.ORGANISATION: PiiCategory.ORGANISATION}
_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗高郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔"
    "谭陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向常汤"
)
_INTRODUCED = re.compile(
    rf"(?:我叫|名叫|姓名(?:是|为|[:：])?|名字(?:是|叫)|联系人(?:是|为|[:：])?|收件人(?:是|为|[:：])?)\s?"
    rf"((?:欧阳|司马|上官|诸葛|司徒|东方|尉迟|公孙|慕容|[{_SURNAMES}])[\u4e00-\u9fff]{{1,2}})(?![\u4e00-\u9fff])"
    r"|(?<![A-Za-z])(?:my name is|i am called|name:)\s([A-Z][a-z]{1,20}(?: [A-Z][a-z]{1,20}){0,2})"
)
_COMPANY = re.compile(r"[\u4e00-\u9fff]{2,20}?(?:有限责任公司|股份有限公司|有限公司|集团公司)")
_LEADING = re.compile("^.*(?:[在到是为给去从与和跟]|甲方|乙方|转到)")


def names(text: str, categories: Collection[PiiCategory]) -> Iterator[tuple[PiiCategory, int, int]]:
    """Yield people and organisations with their spans; those of the models are guesses, not promises."""
    if PiiCategory.PERSON in categories:
        for match in _INTRODUCED.finditer(text):
            group = match.lastindex or 1
            yield PiiCategory.PERSON, match.start(group), match.end(group)
    if PiiCategory.ORGANISATION in categories:
        for match in _COMPANY.finditer(text):
            lead = _LEADING.match(match.group())
            yield PiiCategory.ORGANISATION, match.start() + (lead.end() if lead else 0), match.end()
    for start, end, kind in model_mentions(text):
        category = _CATEGORIES.get(kind)
        if category is not None and category in categories and not _is_code(text, start, end):
            yield category, start, end


def _is_code(text: str, start: int, end: int) -> bool:
    """Whether a mention is rather a code, an abbreviation of technology, or a unit before a number."""
    mention = text[start:end]
    if any(character.isdigit() for character in mention) or (mention.isascii() and mention.isupper()):
        return True
    return text[end : end + 1].isdigit() and len(mention) <= len("毫秒")
