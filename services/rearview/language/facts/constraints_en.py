"""Patterns of rules laid down in English: (pattern, whether it forbids, stance)."""

from rearview.domain.fact import Stance

_TASK = (
    "use|call|send|share|tell|show|include|write|put|add|delete|remove|deploy|push|commit|merge|contact|email|text"
    "|message|book|order|buy|schedule|recommend|suggest|mention|ask|reply|answer|respond|speak|translate|change|modify"
    "|edit|store|save|publish|post|disclose|reveal|charge|pay|spend|exceed|transfer|assume|interrupt|wake|disturb"
    "|invite|read|touch|open|close|run|install|ship|sign|accept|cancel|round|repeat|format|output|print|log|explain"
    "|quote|cook|serve|record|track|start|set|make|check|confirm|cc|bcc|ping|dm|page|@|tag|address|mix|skip|approve"
    "|download|upload|expose|restart|seat|give (?!up)|bring (?!you|me)"
)
# What is done "always" is done by rule, whatever it is.
_ROUTINE = (
    f"{_TASK}|plan|pick|choose|assign|refer|talk|default|hardcode|rename|reformat|overwrite|refactor|reserve|substitute"
    "|attach|link|list|highlight|abbreviate|shorten|summari[sz]e|double-check|verify|cite|notify|alert|turn|enable"
    "|disable|forward"
)
_DOING = (
    "sending|calling|recommending|suggesting|showing|using|asking|adding|telling|messaging|emailing|texting|repeating"
    "|reminding|putting|apologi[sz]ing|explaining|scheduling|booking|pinging|tagging|offering|cc'ing|correcting"
    "|including|writing|changing|deleting|charging|sharing|translating|assuming"
)
_THINGS = r"(?:(?:the|all|every|any|each) (?!best\b|time\b|day\b|people\b|kids\b|way\b)[a-z]+(?: [a-z]+)?)"
_MANY = (
    "(?:(?:my|our|your) )?(?:replies|responses|answers|emails|meetings|messages|reports|documents|docs|invoices"
    "|summaries|commits|prs"
    "|pull requests"
    "|deployments|deploys|flights|hotels|recipes|payments|calls|notifications|slides|subject lines|backups|contracts"
    "|releases)"
)
_WORK = (
    "deploy|merge|push|commit|ship|release|publish|sign|share|store|log|hardcode|test|review|approve|touch|edit"
    "|change|send|discuss|post|release"
)
_NEEDING = (
    "(?:[a-z]+ )?(?:pr|pull request|commit|merge|release|deploy|deployment|document|invoice|expense|purchase|order"
    "|report|email|meeting|change|feature|ticket|contract|migration|payment|refund|booking|request|post|page|form)s?"
)
_POLITE = r"(?:(?:please|pls|plz|also|and|just) )*"
_NO_ONE = r"(?:nobody|no one|no-one)"
_FOOD = (
    "food|meal plans?|meals?|coffee|tea|menu|salad|soup|order|diet|recipes?|emails?|replies|answers|responses|code"
    "|docs?|slides?"
    "|reports?|comments?|subject lines?|titles?|summar(?:y|ies)|messages?"
    "|lunch(?:es)?|dinners?"
)

RULES: tuple[tuple[str, bool, Stance], ...] = (
    (
        rf"{_POLITE}(?:don't|do not|never)(?: ever)? (?P<rule>(?:{_TASK})(?![a-z])(?! me (?:wrong|laugh|cry|wait)| sure"
        rf"| sense| out (?:on|of)| up (?:on|with)).{{3,80}})",
        True,
        Stance.STANDING,
    ),
    (rf"{_POLITE}(?:stop|quit) (?P<rule>(?:{_DOING})\b.{{2,80}})", True, Stance.CHANGE),
    (rf"{_POLITE}(?:try to )?avoid (?P<rule>(?:[a-z-]+ing|any|all|the) .{{2,80}})", True, Stance.STANDING),
    (
        rf"{_POLITE}(?:you (?:must|should|may|can) )?under no circumstances (?:(?:should|must|may|can) (?:you"
        rf"|anyone) )?(?P<rule>.{{3,80}})",
        True,
        Stance.STANDING,
    ),
    (
        r"i(?:'d| would) (?:rather|prefer(?: it)?(?: if)?|appreciate it if) (?:that )?you (?:not|didn't|don't|never"
        r"|wouldn't) (?P<rule>.{3,80})",
        True,
        Stance.STANDING,
    ),
    (
        r"i (?:don't|do not) want you (?:to )?(?P<rule>(?!worry|think|feel|be\b|get\b|going\b|go\b)(?:[a-z]+) .{2,80})",
        True,
        Stance.STANDING,
    ),
    (r"i (?:need|want|expect) you to (?:never|not) (?P<rule>.{3,80})", True, Stance.STANDING),
    (r"i (?:need|want|expect) you to (?:always|only) (?P<rule>.{3,80})", False, Stance.STANDING),
    (rf"{_POLITE}always (?P<rule>(?:{_ROUTINE})\b.{{2,80}})", False, Stance.STANDING),
    (
        rf"{_POLITE}(?P<rule>use (?!this|it\b|that|these|those).{{1,40}} (?:for|in) (?:all|every|any|each) .{{2,30}})",
        False,
        Stance.STANDING,
    ),
    (rf"{_POLITE}only (?P<rule>(?:{_TASK})\b.{{2,80}})", False, Stance.STANDING),
    (
        # For each time, not for once.
        rf"{_POLITE}(?:make|be) sure (?:to|(?:that )?you) (?P<rule>(?=.*\b(?:always|never|every|each|before"
        rf"|whenever)\b)"
        rf"(?:always |never )?(?:{_ROUTINE})\b.{{2,80}})",
        False,
        Stance.STANDING,
    ),
    (
        rf"(?:you|we|{_THINGS}|{_MANY}) (?:must|should|shall|have to|has to|can|may)(?: not|n't"
        rf"| never) (?P<rule>(?!have been\b).{{3,80}})",
        True,
        Stance.STANDING,
    ),
    (
        rf"(?:you|{_THINGS}|{_MANY}) (?:mustn't|must never|can never|can't ever|are not allowed to"
        rf"|aren't allowed to|isn't allowed to|is not allowed to) (?P<rule>.{{3,80}})",
        True,
        Stance.STANDING,
    ),
    (rf"we never (?P<rule>(?:{_WORK})\b.{{2,80}})", True, Stance.STANDING),
    (rf"we always (?P<rule>(?:{_WORK})\b.{{2,80}})", False, Stance.STANDING),
    (
        rf"{_NO_ONE} (?:may|can|should|must|is allowed to|gets to|is supposed to) (?P<rule>.{{3,80}})",
        True,
        Stance.STANDING,
    ),
    (rf"{_NO_ONE} (?P<does>(?:{_WORK})(?:e?s)) (?P<rule>.{{3,80}})", True, Stance.STANDING),
    (rf"you (?:must|have to|need to) (?:always )?(?P<rule>(?:{_TASK})\b.{{3,80}})", False, Stance.STANDING),
    (
        rf"(?:{_THINGS}|{_MANY}) (?:must|has to|have to|needs? to|shall|ought to) (?!not\b"
        rf"|have been\b)(?P<rule>.{{3,80}})",
        False,
        Stance.STANDING,
    ),
    (
        rf"(?:(?:all|every|each|any) (?!time\b|day\b)[a-z]+(?: [a-z]+)?|{_MANY}) should (?!not\b|never\b"
        rf"|have been\b)(?P<rule>.{{3,80}})",
        False,
        Stance.STANDING,
    ),
    # "Needs two approvals" names what is needed, not what is to be done: the rule is the whole.
    (
        rf"(?P<rule>(?:all|every|each|any) (?:{_NEEDING}) (?:needs?|requires?) (?!to\b)[a-z0-9].{{3,60}})",
        False,
        Stance.STANDING,
    ),
    (
        r"(?:(?:it|they) )?(?:has to|needs to|must(?= (?:allow|accept|fit|include)\b)) (?P<rule>(?!be (?:the|an?|nice"
        r"|great|hard|tough|fun|so)\b"
        r"|have been\b|happen|stop|go\b)[a-z].{3,60})",
        False,
        Stance.STANDING,
    ),
    (
        rf"{_POLITE}no (?P<rule>(?:(?:phone|video|voice|work|marketing|conference|cold|late|early) )?(?:calls?"
        rf"|emails?|messages?|meetings?|deliver(?:y|ies)|visits?|texts?|visitors?|notifications?) .{{3,40}})",
        True,
        Stance.STANDING,
    ),
    (rf"{_POLITE}no (?P<rule>[a-z]+(?: [a-z]+)? in (?:my|our|the|any) (?:{_FOOD}))(?![a-z])", True, Stance.STANDING),
    (
        r"(?:i|we) can only (?P<rule>(?:meet|talk|work|do|take calls|travel|be reached|eat|pay) .{2,50})",
        False,
        Stance.STANDING,
    ),
    (
        r"(?:i|we) (?:can't|cannot|don't) (?P<rule>(?:do|take|make|have|schedule|accept) (?:any )?(?:meetings?|calls?"
        r"|appointments?) .{2,50})",
        True,
        Stance.STANDING,
    ),
    (
        rf"{_POLITE}(?P<rule>(?:keep|limit) .{{2,40}} (?:under|below|within|to|at) .{{0,12}}[0-9].{{0,20}})",
        False,
        Stance.STANDING,
    ),
    (
        rf"{_POLITE}(?P<rule>keep (?:(?:your|the|all|my|any) )?(?:answers?|replies|responses?|emails?|messages?"
        rf"|explanations?|things|everything|summaries|updates|notes)"
        r" (?:short|brief|concise|simple|to the point|private|confidential|formal|casual|polite|minimal"
        r"|in [a-z]+)(?: and [a-z]+)?)",
        False,
        Stance.STANDING,
    ),
    (r"no (?P<rule>[a-z]+(?: [a-z]+)?)(?: allowed| ever| under any circumstances)", True, Stance.STANDING),
)
