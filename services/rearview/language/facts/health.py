"""Allergies, conditions, medication and diet."""

from rearview.domain.fact import Stance, Strength
from rearview.language.facts.statement import EN_SELF, ZH_SELF, FactRule, en, zh
from rearview.language.facts.word_lists import any_of

_ZH_CAUSE = "(?P<list>(?!什么|这|那|任何|所有|他|她|你|您)[^，。不]{1,20}?)"
_EN_CAUSE = (
    r"(?P<list>(?!any|everything|nothing|it\b|that\b|this\b|you\b)[a-z\u4e00-\u9fff][a-z\u4e00-\u9fff ,']{0,50}?)"
)
_ZH_MORE = r"(?:(?:\s+|而且|并且|所以|因此).+)?"
# An ailment in general ends in its sort; of some that do nobody speaks in earnest ("选择困难症").
_ZH_CONDITION = (
    f"(?!(?:一?点|点儿|些)(?:失眠|便秘|耳鸣))(?:一?点|点儿|些|(?:轻微|轻度|严重|慢性|先天性?)的)?(?P<value>[^，。的点些]{{0,6}}?(?:{any_of('conditions_zh')}"
    "|[\u4e00-\u9fff]{1,6}(?:炎|综合征|[^感后急重炎]症)(?<!拖延症)(?<!困难症)(?<!公主症)(?<!强迫症)(?<!尴尬症)"
    "(?<!懒癌症)))"
)
_ZH_DRUG = (
    f"(?P<value>(?!什么|点|完|着)[^，。的了和]{{0,6}}?(?:{any_of('drugs_zh')}|沙坦|洛尔|地平"
    "|普利|拉唑|西林|霉素|西汀|替丁|列汀|格列净|司他|曲林|[降止避抗胃安][^，。的了和]{1,3}药))"
)
_ZH_DOSE = "(?:(?:一|两|二|三|半|[0-9]+)(?:片|粒|颗|毫克|mg|支|针))?"
_EN_DRUG = (
    rf"(?P<value>{any_of('drugs_en')}|[a-z]{{2,}}(?:pril|sartan|olol|statin|prazole|mycin|cillin|dipine|oxetine"
    r"|xaban|gliptin|zepam|zolam|lukast|profen|thyroxine|citalopram|triptan|glutide|semide|gabalin))"
)
_EN_CONDITION = (
    r"(?P<list>(?:(?: and |, and |, )?(?:(?:mild|severe|chronic|bad|really bad|terrible|type [12]|type one|type two"
    r"|seasonal) )*"
    rf"(?:{any_of('conditions_en')}))+)"
)
_EN_TAIL = r"(?: (?:last .*|in .*|this .*|when .*|as an? .*|if .*|every .*|from .*|pretty .*|which .*))?"
_EN_DOSE = r"(?:[0-9.]+ ?m[cg]g? (?:of )?|an? |my |daily )?"
_EN_DIET = (
    "vegetarian|vegan|pescatarian|gluten[- ]free|dairy[- ]free|keto|paleo|halal|kosher|plant[- ]based|low[- ]carb"
    "|low[- ]sodium|flexitarian"
)
_ZH_DIET = "吃素|素食(?:主义)?者|纯素食?者?|全素|素食|清真|生酮|低碳|无麸质|轻断食|vegan|vegetarian|keto|gluten[- ]free"

RULES: tuple[FactRule, ...] = (
    zh("allergy", f"{ZH_SELF}(?:没有|不再|不会|不)对{_ZH_CAUSE}过敏", denied=True, stance=Stance.NEGATION),
    zh("allergy", f"{ZH_SELF}对{_ZH_CAUSE}(?:并)?不(?:会)?过敏", denied=True, stance=Stance.NEGATION),
    zh("allergy", f"{ZH_SELF}对{_ZH_CAUSE}(?:都|有点|有些|也)*(?:严重|特别|非常|重度)过敏", strength=Strength.STRONG),
    zh("allergy", f"{ZH_SELF}对{_ZH_CAUSE}(?:都|有点|有些|轻微|轻度|也|会)*(?:过敏|allergic)(?:的|体质)?{_ZH_MORE}"),
    zh("allergy", f"{ZH_SELF}(?:一)?[吃喝碰闻](?P<list>[^，。不对没]{{1,10}}?)(?:就|都|会)+过敏"),
    zh("allergy", f"{ZH_SELF}(?:有)?(?P<list>(?![对没无会不是吃喝有])[^，。不对没]{{1,10}}?)过敏"),
    en(
        "allergy",
        rf"(?:{EN_SELF}|i) (?:both )?(?P<degree>(?:severely|highly|very|badly|deathly|extremely|super) )?(?:mildly "
        rf"|a bit |slightly )?"
        rf"allergic to {_EN_CAUSE}",
    ),
    en(
        "allergy",
        rf"(?:{EN_SELF} (?:not|no longer)|i'm (?:not|no longer)) allergic to {_EN_CAUSE}",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en(
        "allergy",
        r"i(?:'ve got| have|'ve had| have had) an? (?P<degree>severe |bad |serious |nasty )?(?:mild )?"
        r"(?P<list>(?!skin )[a-z]+(?: [a-z]+)?) allergy",
    ),
    en("allergy", rf"i(?:'ve got| have) (?:an allergy|allergies|a (?P<degree>severe|bad) allergy) to {_EN_CAUSE}"),
    en("allergy", r"i(?:'ve| have)? developed an? (?P<list>[a-z]+(?: [a-z]+)?) allergy"),
    zh(
        "condition",
        f"{ZH_SELF}(?:一直|从小|也|都)*(?:有|患有|得了|患上了?|确诊了?|查出来?了?|检查出来?了?|被诊断出(?:有|患有)?"
        f"|被查出)+(?:有|了|是|为)?{_ZH_CONDITION}{_ZH_MORE}",
    ),
    zh(
        "condition",
        f"{ZH_SELF}(?:是)?(?P<value>乳糖不耐受?|高血压|糖尿病|低血糖|血[压糖脂](?:有点|比较|偏)?高|红绿色盲|色盲"
        f"|色弱|(?:高度|轻度|深度|重度)(?:近视|远视|散光|焦虑|抑郁))(?:患者|的人)?的?",
    ),
    zh("condition", f"我(?:是)?(?:一?个)?{_ZH_CONDITION}患者"),
    en(
        "condition",
        rf"i(?: have|'ve got|'ve had| have had| live with| suffer from| struggle with| deal with| was born with| get"
        rf"|(?:(?:'ve| have) been| was| got)(?: just| recently"
        rf"| officially)? diagnosed with?) {_EN_CONDITION}{_EN_TAIL}",
    ),
    en("condition", rf"{EN_SELF} intolerant (?:to|of) lactose", fixed="lactose intolerance"),
    en(
        "condition",
        rf"(?:{EN_SELF}|i) (?P<value>(?:lactose|gluten|dairy) intolerant|diabetic|asthmatic|colou?r ?blind|autistic"
        r"|dyslexic|epileptic|celiac|coeliac|hypoglycemic|anemic|prediabetic|hard of hearing)",
    ),
    zh(
        "medication",
        f"{ZH_SELF}(?:在|正在|长期|一直在?|(?:每天|每晚|早上|晚上|睡前|饭后)+(?:都|要|得|需要)*)*(?:吃|服用|打|注射"
        f"|喝){_ZH_DOSE}{_ZH_DRUG}"
        f"{_ZH_DOSE}",
    ),
    zh("medication", f"{ZH_SELF}(?:停了|不再?吃|把){_ZH_DRUG}(?:停)?", denied=True, stance=Stance.NEGATION),
    en(
        "medication",
        rf"i(?:'m| am|'ve been| have been)?(?: currently| now| also| just| still)? (?:take|taking|on"
        rf"|using) {_EN_DOSE}{_EN_DRUG}"
        r"(?: (?:daily|every .*|for .*|twice .*|once .*|at night|each .*|right now|and .*|with .*|tablets?|pills?))?",
    ),
    en(
        "medication",
        rf"(?:my (?:doctor|doc|gp|psychiatrist)|i(?:'ve been| was| got)|they) (?:just |recently )?(?:put|started"
        rf"|prescribed)(?: me)?"
        rf"(?: on)? {_EN_DOSE}{_EN_DRUG}(?: (?:last .*|this .*|in .*|for .*|recently))?",
    ),
    en(
        "medication",
        rf"i(?:'ve| have)? (?:stopped taking|came off|went off|quit|quit taking|no longer take"
        rf"|don't take) (?:my )?{_EN_DRUG}"
        r"(?: (?:anymore|last .*|in .*))?",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en(
        "condition",
        r"(?:i'm|i am) not (?:actually )?(?P<value>diabetic|asthmatic|colou?r ?blind|lactose intolerant|celiac)",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en("condition", rf"i don't (?:actually )?have {_EN_CONDITION}", denied=True, stance=Stance.NEGATION),
    zh("condition", f"{ZH_SELF}(?:并)?没有?{_ZH_CONDITION}", denied=True, stance=Stance.NEGATION),
    zh(
        "diet",
        f"(?:{ZH_SELF}|我们俩?(?:都|全家)*)(?:是|只)?(?:一?个)?(?P<value>吃素|素食(?:主义)?者|纯素食者|素食|清真"
        f"|吃全素|vegan"
        f"|vegetarian)(?:的|食物)?",
    ),
    zh("diet", f"{ZH_SELF}(?P<value>吃素)(?:有|已经)*[^，。不了]{{1,6}}年"),
    zh("diet", f"{ZH_SELF}(?:在)?(?:做|坚持|执行|走|吃)(?P<value>生酮|低碳|轻断食|无麸质|keto)(?:饮食|餐)?的?"),
    zh(
        "diet",
        "我(?:是)?(?P<value>gluten[- ]free|dairy[- ]free|vegan|vegetarian|halal|keto)(?:的|饮食|[^，。]{1,3}年)?",
    ),
    zh(
        "diet",
        f"我(?:现在|已经|又|可|并)*不(?:再)?(?:是)?(?:一?个)?(?P<value>{_ZH_DIET})",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en(
        "diet",
        rf"i(?:'m| am) (?:not|no longer) (?:an? )?(?P<value>{_EN_DIET})(?: any ?more)?",
        denied=True,
        stance=Stance.NEGATION,
    ),
    en("diet", rf"i(?:'m| am| follow| eat|'ve been|'m following| keep)(?: on)? (?:an?|the) (?P<value>{_EN_DIET}) diet"),
    en("diet", rf"i (?:keep|(?:only )?eat) (?:strictly |only )?(?P<value>{_EN_DIET})"),
    en("diet", rf"i(?:'ve| have) been (?:an? )?(?P<value>{_EN_DIET})(?: (?:for|since) .*)?"),
    zh("diet", f"{ZH_SELF}(?:开始|改)(?P<value>吃素|吃全素)", stance=Stance.CHANGE),
    en(
        "diet",
        rf"{EN_SELF} (?:an? )?(?:strict |mostly |strictly |ethical )*(?P<value>{_EN_DIET})(?: (?:eater|by choice))?",
    ),
    en(
        "diet",
        rf"i(?:'ve| have)? (?:become|became|went|gone|turned) (?:an? |fully |full )?(?P<value>{_EN_DIET})"
        r"(?: (?:last .*|this .*|in .*|(?:an?|two|three|[0-9]+|a few) .* ago|recently))?",
        stance=Stance.CHANGE,
    ),
    zh("blood_type", f"{ZH_SELF}是?(?P<value>(?:A|B|AB|O)型)血?"),
    en(
        "blood_type",
        rf"{EN_SELF} (?:blood )?(?P<value>type (?:a|b|ab|o))(?: blood)?|{EN_SELF} (?P<value2>(?:a|b|ab"
        rf"|o)[ -](?:positive|negative))",
    ),
)
