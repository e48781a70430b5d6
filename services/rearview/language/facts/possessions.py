"""What the speaker owns, keeps and uses."""

from rearview.domain.fact import Stance
from rearview.language.facts.statement import NAME_EN, ZH_SELF, FactRule, en, zh
from rearview.language.facts.word_lists import any_of

_ZH_PETS = f"(?P<value>[^，。我你他她和]{{0,6}}?(?:{any_of('pets_zh', 'pets_en')}))"
_EN_PETS = rf"(?P<value>(?:[a-z0-9-]+ ){{0,2}}(?:{any_of('pets_en')})s?|(?:[a-z]+ )?puppies)"
_EN_THINGS = f"(?:{any_of('things_en')})"
_EN_BRANDS = f"(?:{any_of('brands')})"
_ZH_BRANDS = f"(?:{any_of('brands_zh')})"
_ZH_OWNED = f"(?:{any_of('things_zh')})"
_ZH_COUNT = "(?:一|两|二|三|几|[0-9])?(?:辆|台|部|艘|栋|架)"
# These count much that is bought to be eaten or read as well.
_ZH_LOOSE_COUNT = "(?:一|两|二|三|几|[0-9])?(?:套|把|块|间|支|款|副|张|个|双|条|件)"
_ZH_WHEN = (
    "(?:现在|目前|刚刚?|最近|去年|前年|今年|上个?月|上周末?|昨天|前天|前两天|年初|新|又|终于|已经|才|手头|手上"
    "|名下|家里|也|还)"
)
_ZH_GOT = "(?:有|拥有|买了|买的是|买过|入手了?|入了|提了|换了|收了|攒钱买了|组了|开的是|骑的是|弹的是|用的是)"
_ZH_WHERE = "(?:在[^，。我你他她有]{2,6}(?:还|也)?(?=有))?"
_EN_WORD = (
    "(?!(?:about|for|with|of|in|on|my|the|to|from|that|and|or|at|your|his|her|their|question|problem|issue|call|photo"
    "|picture|called|named)(?![a-z0-9-]))[a-z0-9-]+"
)
_EN_MODEL_WORD = (
    "[a-z]*[0-9][a-z0-9-]*|(?-i:[A-Z][A-Za-z0-9-]*)|pro|air|max|plus|mini|ultra|switch|keyboard|guitar|piano|camera"
    "|bike|phone|laptop|watch|headphones"
)
_EN_OWNED = (
    rf"(?P<value>(?:{_EN_WORD} ){{0,4}}(?:{_EN_THINGS}|{_EN_BRANDS}(?: [a-z]?[0-9][a-z0-9]*| pro| air| max"
    rf"| plus| mini| switch| keyboard){{0,3}}(?: {_EN_THINGS})?))"
)
_EN_MODEL = r"(?P<value>(?:[a-z0-9]+ )?(?-i:[A-Z])[A-Za-z0-9-]+(?: [A-Za-z0-9-]+){0,3}?)"
_EN_BRANDED = rf"(?P<value>(?:{_EN_WORD} ){{0,3}}{_EN_BRANDS}(?: (?:{_EN_MODEL_WORD})){{0,3}})"
_EN_A = "(?:an?|one|two|three|my own)(?: (?:used|second-hand|brand new))?"
_EN_WHERE = (
    r"(?: (?:at home|at work|for work|yesterday|today|recently|last (?:week|month|year|weekend|summer|spring|fall"
    r"|winter)"
    r"|this (?:week|month|year|morning)|(?:in|up|down|near|outside|from) (?!mind\b|common\b"
    r"|theory\b)(?:the )?[a-z' ]{3,20}|which .*|that .*|as my .*|to (?:work|school|the office|get around) ?.*"
    r"|every .*|most .*|when .*|but .*|because .*|since .*"
    r"|for (?!you\b|him\b|her\b|them\b|sale\b|rent\b).*|with .*))?"
)
_EN_LATELY = r"(?:(?: just| recently| finally| also| actually| still| already))*"

_PETS = (
    zh("pet", f"我(?:家)?(?:现在|已经|早就)*不(?:再)?养{_ZH_PETS}", denied=True, stance=Stance.NEGATION),
    zh(
        "pet",
        f"我们?家?(?:{_ZH_WHEN}|里)*(?:(?:(?:领|收)?养[着了]?|有)(?:[一两二三四五六几0-9]+)?[只条个匹头缸群窝对]|(?:领"
        f"|收|只)?养了?){_ZH_PETS}"
        "(?:[,，]?(?:名字)?叫(?P<called>[^，。的]{1,8}?))?",
    ),
    zh("pet", f"我们?(?:家)?的?(?:那?[只条])?{_ZH_PETS}(?:的名字|名字)?(?:就)?叫(?P<called>[^，。的什]{{1,8}}?)"),
    en(
        "pet",
        rf"(?:i|we)(?:'ve| have)?(?:{_EN_LATELY} (?:have|got|own|adopted|keep|raise))?(?: an?| one| two| three| four"
        rf"| five| [0-9])"
        rf" {_EN_PETS}(?:,? (?:named|called) (?P<called>{NAME_EN}(?: and {NAME_EN})?)|{_EN_WHERE})",
    ),
    en(
        "pet",
        rf"(?:my|our) {_EN_PETS}(?:'s name is| is (?:named|called)|'s called|s' names are|s are (?:named|called)) "
        rf"(?P<called>{NAME_EN}(?: and {NAME_EN})?)",
    ),
    en("pet", rf"i(?:'m| am) the (?:proud )?owner of an? {_EN_PETS}"),
)

_OWNED = (
    zh(
        "owns",
        f"我们?家?(?:{_ZH_WHEN}|里)*{_ZH_WHERE}{_ZH_GOT}{_ZH_COUNT}(?P<value>(?!电影|戏|歌|曲|剧|路"
        f"|时间)[^，。]{{1,20}}?)",
    ),
    zh(
        "owns", f"我们?家?(?:{_ZH_WHEN}|里)*{_ZH_WHERE}{_ZH_GOT}{_ZH_LOOSE_COUNT}(?P<value>[^，。]{{0,12}}?{_ZH_OWNED})"
    ),
    zh(
        "owns",
        f"我们?家?(?:{_ZH_WHEN}|里)*{_ZH_GOT}(?:一?个)?(?P<value>[^，。我你他她]{{0,8}}?"
        f"(?:{_ZH_BRANDS}[a-z0-9\\s]{{0,12}}|{_ZH_BRANDS}?(?:手机|电脑|平板|手表|耳机|相机)))",
    ),
    zh(
        "owns",
        "我的?(?:车|汽车|手机|电脑|平板|相机|耳机|手表|吉他|自行车|car|phone|laptop|bike|camera)(?:现在)?(?:是"
        "|用的是)(?:一?[辆台部块把个])?"
        "(?P<value>(?!谁|我|什么|坏|好|新|旧|黑|白|红|蓝|[0-9 +-]+$)[^，。]{2,16}?)的?",
    ),
    zh("owns", f"我的?(?:手机|电脑|车|平板)(?P<value>{_ZH_BRANDS}[a-z0-9\\s]{{0,12}})"),
    zh(
        "owns",
        f"{ZH_SELF}(?:用|开|骑)的(?:手机|电脑|平板|相机|车|耳机|自行车)(?:就"
        f"|一直)?是(?:一?[辆台部个])?(?P<value>(?!谁|什么|坏|黑|白)[^，。]{{2,16}}?)的?",
    ),
    zh(
        "owns",
        f"我(?:平时|平常|每天|一直|现在|上下班|上班|都|自己|就)*(?:开|骑)(?:的(?:都)?是)?着?(?:一?[辆台部])?"
        f"(?P<value>(?!了|过|车)[^，。我你他她]{{0,6}}?(?:{_ZH_BRANDS}[a-z0-9\\s]{{0,8}}"
        f"|(?<=[辆台部是])[^，。]{{2,10}}?))(?:去)?(?:上下班|上班|代步|通勤|接娃)?",
    ),
    zh(
        "owns",
        f"{ZH_SELF}(?:都|平时)*用(?:的?是|的|着)?(?P<value>(?!什么|你|他|的|是)[^，。]{{0,6}}?{_ZH_BRANDS}(?:手机"
        f"|电脑|平板|手表|耳机)?[a-z0-9\\s]{{0,12}})",
    ),
    zh(
        "owns",
        f"{ZH_SELF}用的?是(?P<value>(?!什么|你|他)[^，。]{{0,12}}?(?:手机|电脑|平板|相机|安卓|windows"
        f"|{_ZH_BRANDS}[a-z0-9\\s]{{0,12}}))",
    ),
    zh(
        "owns",
        f"{ZH_SELF}(?:没有|没)(?:自己的)?(?P<value>车|房子?|电脑|手机|驾照|信用卡|{_ZH_OWNED})",
        denied=True,
        stance=Stance.NEGATION,
    ),
    zh(
        "owns",
        f"(?:{ZH_SELF})(?:{_ZH_WHEN})*(?:已经)?把(?:我(?:的|那)"
        f"|自己的)?(?:那?[台辆部套把个](?=(?:旧|老|破)?\\s?[a-z]))?\\s?(?P<value>(?!文档|代码|垃圾|东西|文件)[^，。我你]{{1,12}}?)\\s?(?:给)?(?:卖了|卖掉了?"
        f"|送人了|扔了|转手了|处理掉了)",
        denied=True,
        stance=Stance.NEGATION,
    ),
    zh(
        "owns",
        f"我(?:的|那|这|之前那|原来那)[台辆部套把个]?(?P<value>[^，。我你他她的]{{1,10}}?)(?:{_ZH_WHEN})*(?:已经)?"
        f"(?:给)?(?:卖了|卖掉了|送人了|扔了|报废了|转手了)",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en(
        "owns",
        rf"(?:i|we)(?:'ve| have)?{_EN_LATELY}(?: (?:own|have|got|bought|picked up|ordered|built|keep))?(?: myself"
        rf"| ourselves)?"
        rf" {_EN_A} {_EN_OWNED}s?{_EN_WHERE}",
    ),
    en(
        "owns",
        rf"(?:i|we){_EN_LATELY} (?:use|drive|ride|play|own|have|got|bought) (?:an?|my|our) {_EN_BRANDED}{_EN_WHERE}",
    ),
    en("owns", rf"(?:i|we) (?:use|drive|ride) an? {_EN_OWNED}{_EN_WHERE}"),
    en(
        "owns",
        rf"(?:i (?:drive|own|ride|use)|my (?:car|phone|laptop|bike|camera|guitar|tablet|watch|computer)(?: is"
        rf"|'s)) an? {_EN_MODEL}",
    ),
    en(
        "owns",
        rf"my (?:car|phone|laptop|bike|camera|guitar|tablet|watch|computer)(?: is|'s)(?: still)? (?:an? "
        rf"|the )?{_EN_BRANDED}",
    ),
    en(
        "owns",
        rf"(?:i|we) (?:don't (?:own|have)|do not (?:own|have)|no longer (?:own|have)) (?:an?|any"
        rf"|my) {_EN_OWNED}(?: anymore| any more)?",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en(
        "owns",
        rf"(?:i|we)(?:'ve| have)?{_EN_LATELY} (?:sold|gave away|given away|got rid of|gotten rid of|donated"
        rf"|traded in) (?:my|our|the) (?:old )?{_EN_OWNED}{_EN_WHERE}",
        denied=True,
        stance=Stance.NEGATION,
    ),
)

RULES: tuple[FactRule, ...] = (*_PETS, *_OWNED)
