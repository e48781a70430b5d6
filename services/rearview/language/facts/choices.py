"""Which of the options that were offered an answer picks: "就第二个吧", "option B", "the latter"."""

import re

_MARK = r"(?:(?:方案|选项|option|plan)\s?)?(?:[1-9]|[a-d]|[一二三四五])\s?[.、)）:：]"
_OPTION = re.compile(
    rf"(?:^|[\s：:；;，,。.(（、]){_MARK}\s*(?P<what>[^；;。\n？?]{{1,60}}?)"
    rf"(?=\s*(?:[；;。\n？?]|\.\s|[，,、]?\s*{_MARK}|$))",
    re.IGNORECASE,
)
_ORDINALS = {
    "一": 0, "1": 0, "a": 0, "first": 0, "前者": 0, "former": 0,
    "二": 1, "2": 1, "b": 1, "second": 1, "后者": 1, "latter": 1,
    "三": 2, "3": 2, "c": 2, "third": 2, "四": 3, "4": 3, "d": 3, "fourth": 3,
}  # fmt: skip
_PICKS = re.compile(
    r"\s*(?:(?:嗯+|好的?|可以|行|那|ok|okay|yeah|yes|hmm|sure)[\s,，.。、]*)*(?:我|那)?(?:就|还是|选|要|我选|我要"
    r"|i'll (?:go with|take|pick)|let's (?:go with|do|take)|go with|i choose|i pick)*\s*"
    r"(?:(?:第\s?(?P<nth>[一二三四1-4])|(?:方案|选项)\s?(?P<plan>[一二三四1-4a-d]))(?:个|种|项|套|款)?(?:方案|选项)?"
    r"|(?P<side>前者|后者)"
    r"|the (?P<en>first|second|third|fourth|former|latter)(?: one| option)?|(?:option|plan"
    r"|number) (?P<option>[1-4a-d])|(?P<letter>[a-d]))"
    r"\s*(?:吧|好了|了|please|then|thanks|[\s,，.。!！~])*$",
    re.IGNORECASE,
)
_LEAST_OPTIONS = 2


def picked(answer: str, offer: str) -> str | None:
    """Return the words of the option that an answer picks out of an offer; None where it picks none."""
    match = _PICKS.match(answer)
    if match is None:
        return None
    options = [found["what"].strip(" ,，、") for found in _OPTION.finditer(offer)]
    said = next(value for value in match.groupdict().values() if value)
    at = _ORDINALS[said.lower()]
    return options[at] if len(options) >= _LEAST_OPTIONS and at < len(options) else None
