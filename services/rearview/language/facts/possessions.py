"""What the speaker owns, keeps and uses."""

from rearview.domain.fact import Stance
from rearview.language.facts.statement import NAME_EN, ZH_SELF, FactRule, en, zh

_ZH_PETS = (
    "(?P<value>[^，。我你他她]{0,6}(?:猫咪?|狗狗?|柯基|金毛|哈士奇|泰迪|边牧"
    "|布偶|英短|橘猫|兔子|仓鼠|鹦鹉|乌龟|金鱼|鱼))"
)
_EN_PETS = (
    r"(?P<value>(?:[a-z]+ ){0,2}(?:dog|cat|puppy|kitten|parrot|rabbit|hamster|turtle|tortoise|goldfish"
    r"|fish|bird|guinea pig|horse|snake|lizard|corgi|poodle|labrador|golden retriever|beagle|husky)s?)"
)
_EN_THINGS = (
    r"(?:car|bike|bicycle|motorcycle|scooter|truck|house|apartment|condo|flat|boat|camera|laptop|phone|tablet|piano"
    r"|guitar|violin|drone|printer|van|telescope|watch|computer|macbook(?: pro| air)?|iphone(?: [0-9]+)?(?: pro)?"
    r"|ipad|thinkpad|kindle|playstation|xbox|tesla)"
)
_ZH_COUNT = "(?:一|两|二|三|几|[0-9])?(?:辆|台|部|套|把|架|艘|块|栋|间)"
_EN_OWNED = rf"(?P<value>(?:[a-z0-9-]+ ){{0,3}}{_EN_THINGS})"
_EN_MODEL = r"(?P<value>(?:[a-z0-9]+ )?(?-i:[A-Z])[A-Za-z0-9-]+(?: [A-Za-z0-9-]+){0,3}?)"

RULES: tuple[FactRule, ...] = (
    zh("pet", f"我(?:家)?(?:现在|已经|早就)*不(?:再)?养{_ZH_PETS}", denied=True, stance=Stance.NEGATION),
    zh(
        "pet",
        f"我家?(?:里)?(?:(?:养了?|有)(?:[一两二三四五几0-9]+)?[只条个匹]|养了?){_ZH_PETS}(?:[,，]?(?:名字)?叫(?P<called>[^，。的]{{1,8}}?))?",
    ),
    zh("pet", f"我(?:家)?的?{_ZH_PETS}(?:的名字)?叫(?P<called>[^，。的什]{{1,8}}?)"),
    en(
        "pet",
        rf"(?:i|we)(?:'ve| have)? (?:have |got |own |adopted )?(?:an?|one|two|three|four|five|[0-9]) {_EN_PETS}"
        rf"(?: (?:named|called) (?P<called>{NAME_EN}(?: and {NAME_EN})?))?",
    ),
    en("pet", rf"my {_EN_PETS}(?:'s name is| is (?:named|called)) (?P<called>{NAME_EN})"),
    zh("owns", f"{ZH_SELF}(?:有|买了|买的是|入手了|拥有|开的是){_ZH_COUNT}(?P<value>[^，。]{{1,20}}?)"),
    zh(
        "owns",
        "我的?(?:车|汽车|手机|电脑)是(?:一?[辆台部])?(?P<value>(?!谁|我|什么|坏|好|新|旧|黑|白|红|蓝)[^，。]{2,16}?)的?",
    ),
    zh(
        "owns",
        f"{ZH_SELF}开(?:的是)?(?:一?辆)?(?P<value>特斯拉|宝马|奔驰|奥迪|丰田|本田|比亚迪|大众|保时捷|蔚来|理想|小鹏|日产|沃尔沃|雷克萨斯)",
    ),
    zh(
        "owns",
        f"{ZH_SELF}用的?是(?P<value>(?!什么|你|他)[^，。]{{0,12}}?(?:手机|电脑|平板|相机|iphone|macbook|安卓|windows|mac))",
    ),
    zh("owns", f"{ZH_SELF}(?:没有|没)(?P<value>车|房子?|电脑|手机|驾照|信用卡)", denied=True, stance=Stance.NEGATION),
    zh(
        "owns",
        f"{ZH_SELF}(?:已经)?把(?P<value>[^，。我你]{{1,12}}?)(?:卖了|卖掉了?|送人了|扔了)",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en("owns", rf"i (?:own|have|bought|just bought|got|just got)(?: myself)? (?:an?|one|two|three) {_EN_OWNED}s?"),
    en("owns", rf"i(?:'ve| have) (?:just |recently )?(?:bought|got)(?: myself)? an? {_EN_OWNED}"),
    en("owns", rf"(?:i (?:drive|own|ride|use)|i've got|my (?:car|phone|laptop|bike|camera) is) an? {_EN_MODEL}"),
    en("owns", rf"i (?:don't (?:own|have)|do not (?:own|have)) an? {_EN_OWNED}", denied=True, stance=Stance.NEGATION),
    en(
        "owns",
        rf"i(?:'ve| have)?(?: just| recently)? (?:sold|gave away|got rid of) my {_EN_OWNED}",
        denied=True,
        stance=Stance.NEGATION,
    ),
)
