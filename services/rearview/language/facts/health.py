"""Allergies, conditions, medication and diet."""

from rearview.domain.fact import Stance, Strength
from rearview.language.facts.statement import EN_SELF, ZH_SELF, FactRule, en, zh

_ZH_CAUSE = "(?P<list>(?!什么|这|那|任何|所有|他|她|你|您)[^，。不]{1,20}?)"
_EN_CAUSE = (
    r"(?P<list>(?!any|everything|nothing|it\b|that\b|this\b|you\b)[a-z\u4e00-\u9fff][a-z\u4e00-\u9fff ,']{0,50}?)"
)
_ZH_MORE = r"(?:(?:\s+|而且|并且|所以|因此).+)?"
_ZH_CONDITION = (
    "(?P<value>[^，。的]{0,6}?(?:糖尿病|高血压|低血压|高血脂|哮喘|乳糖不耐受?|胃病|胃炎|心脏病|关节炎|痛风|贫血|失眠|鼻炎"
    "|湿疹|癫痫|抑郁症|焦虑症|偏头痛|甲亢|甲减|近视|色盲|颈椎病))"
)
_ZH_DRUG = (
    "(?P<value>(?!什么|点|完|着)[^，。的了和]{0,6}?(?:阿司匹林|二甲双胍|胰岛素|布洛芬|华法林|褪黑素|抗生素|优甲乐|他汀|沙坦|洛尔|地平"
    "|普利|拉唑|西林|霉素|西汀|替丁|[降止避抗胃安][^，。的了和]{1,3}药))"
)
_EN_DRUG = (
    r"(?P<value>metformin|aspirin|ibuprofen|insulin|warfarin|antidepressants|antibiotics|blood thinners|melatonin"
    r"|birth control|statins?|levothyroxine|[a-z]{2,}(?:pril|sartan|olol|statin|prazole|mycin|cillin|dipine|oxetine"
    r"|xaban|gliptin|zepam|lukast|profen|thyroxine))"
)
_EN_CONDITION = (
    r"(?P<list>(?:(?: and |, and |, )?(?:type [12] )?(?:diabetes|asthma|hypertension|high blood pressure|arthritis"
    r"|epilepsy|migraines?"
    r"|celiac disease|coeliac disease|insomnia|anemia|anaemia|eczema|depression|anxiety|adhd|gout|ibs|heart disease"
    r"|lactose intolerance|sleep apnea|high cholesterol))+)"
)

RULES: tuple[FactRule, ...] = (
    zh("allergy", f"{ZH_SELF}(?:没有|不再|不会|不)对{_ZH_CAUSE}过敏", denied=True, stance=Stance.NEGATION),
    zh("allergy", f"{ZH_SELF}对{_ZH_CAUSE}(?:并)?不(?:会)?过敏", denied=True, stance=Stance.NEGATION),
    zh("allergy", f"{ZH_SELF}对{_ZH_CAUSE}(?:都|有点|有些|也)*(?:严重|特别|非常)过敏", strength=Strength.STRONG),
    zh("allergy", f"{ZH_SELF}对{_ZH_CAUSE}(?:都|有点|有些|也|会)*过敏{_ZH_MORE}"),
    zh("allergy", f"{ZH_SELF}(?:一)?[吃喝碰闻](?P<list>[^，。不对没]{{1,10}}?)(?:就|都|会)+过敏"),
    zh("allergy", f"{ZH_SELF}(?:有)?(?P<list>(?![对没无会不是吃喝有])[^，。不对没]{{1,10}}?)过敏"),
    en(
        "allergy",
        rf"(?:{EN_SELF}|i) (?P<degree>(?:severely|highly|very|badly|deathly) )?(?:mildly )?allergic to {_EN_CAUSE}",
    ),
    en(
        "allergy",
        rf"(?:{EN_SELF} (?:not|no longer)|i'm (?:not|no longer)) allergic to {_EN_CAUSE}",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en(
        "allergy",
        r"i have an? (?P<degree>severe |bad |serious )?(?:mild )?(?P<list>(?!skin )[a-z]+(?: [a-z]+)?) allergy",
    ),
    en("allergy", rf"i have (?:an allergy|allergies) to {_EN_CAUSE}"),
    en("allergy", r"i(?:'ve| have)? developed an? (?P<list>[a-z]+(?: [a-z]+)?) allergy"),
    zh("condition", f"{ZH_SELF}(?:有|患有|得了|确诊了?|被诊断出(?:有|患有)?){_ZH_CONDITION}"),
    zh("condition", f"{ZH_SELF}(?:是)?(?P<value>乳糖不耐受?|高血压|糖尿病|低血糖|血[压糖脂](?:有点|比较|偏)?高)"),
    en(
        "condition",
        rf"i(?: have|'ve got|(?:'ve)? been diagnosed with| was diagnosed with"
        rf"| suffer from) {_EN_CONDITION}(?: last .*| in .*)?",
    ),
    en(
        "condition",
        rf"(?:{EN_SELF}|i) (?P<value>(?:lactose|gluten|dairy) intolerant|diabetic|asthmatic|colou?r ?blind)",
    ),
    zh("medication", f"{ZH_SELF}(?:在|每天|正在|长期|一直在)*(?:都)?(?:吃|服用){_ZH_DRUG}"),
    en(
        "medication",
        rf"i(?:'m| am)?(?: currently)? (?:take|taking|on) (?:[0-9.]+ ?m[cg]g? (?:of )?)?{_EN_DRUG}"
        r"(?: (?:daily|every .*|for .*|twice .*|once .*))?",
    ),
    zh("diet", f"{ZH_SELF}(?:是|只)?(?P<value>吃素|素食(?:主义)?者|纯素食者|素食|清真)的?"),
    zh("diet", "我(?:现在|已经)*不(?:再)?(?P<value>吃素)", denied=True, stance=Stance.NEGATION),
    en(
        "diet",
        r"i(?:'m| am) (?:not|no longer) (?:an? )?(?P<value>vegetarian|vegan|pescatarian)(?: any ?more)?",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en("diet", r"i(?:'m| am| follow|'ve been) (?:on )?an? (?P<value>vegetarian|vegan|keto|gluten[- ]free|halal) diet"),
    en("diet", r"i(?:'ve| have) been (?:an? )?(?P<value>vegetarian|vegan|pescatarian)(?: (?:for|since) .*)?"),
    zh("diet", f"{ZH_SELF}(?:开始|改)(?P<value>吃素)", stance=Stance.CHANGE),
    en("diet", rf"{EN_SELF} (?:an? )?(?:strict )?(?P<value>vegetarian|vegan|pescatarian|gluten[- ]free|keto)"),
    en(
        "diet",
        r"i(?:'ve| have)? (?:become|went|gone|turned) (?:an? )?(?P<value>vegetarian|vegan|pescatarian|keto)",
        stance=Stance.CHANGE,
    ),
)
