"""How far into a sentence a supposition, a report or a question reaches: what stands before it is stated all the same.

"I'm allergic to nuts, let me know if there are any" states an allergy; "I'll stay home, if it rains" states nothing.
"""

import re

from rearview.language.facts import speech_acts

_BREAK = re.compile(
    r"[,，;；:：…—~～]+\s*|\s(?=(?:so|but|and)\s(?:please |pls )?(?:let me know|lmk|tell me|i (?:hope|wish)|if"
    r"|hopefully))"
    r"|\s(?=(?:please |pls |so |just )*(?:let me know|lmk|tell me|not sure|wondering|i wonder|hope|hoping"
    r"|do you know) )",
    re.IGNORECASE,
)
# A condition whose consequence comes first.
_CONSEQUENCE = re.compile(
    r"\b(?:will|won't|would|wouldn't|might|may|could|'ll|'d|should)\b|就|会|打算|考虑", re.IGNORECASE
)
_WHOLE = re.compile("就好了|才好|多好|恨不得|幻想")
# "Not sure if it helps, but ...", "没记错的话": they doubt nothing of what follows.
_COURTESY = re.compile(
    r"(?:(?:i'm )?not sure|idk|i don't know|no idea|dunno)? ?\bif (?:(?:it|this|that)(?: even)?(?:'s| is)? (?:helps?"
    r"|matters?|makes (?:a|any) difference|relevant|useful|important)"
    r"|you(?: must know|'re (?:wondering|curious)| were wondering| need (?:it|to know)| don't mind| recall| remember)"
    r"|(?:i|memory) (?:remember(?: right| correctly)?|recall|serves?)"
    r"|anyone asks|possible|that's (?:ok|okay|alright|possible))(?: (?:at all|me|right|correctly))?[,，]?(?: but\b)?"
    r"|(?:如果|要是)?(?:我)?没(?:有)?记错的话[,，]?|方便的话[,，]?|可以的话[,，]?|(?:如果|要是)(?:有用|有帮助"
    r"|需要)的话[,，]?|说实话的话",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"[,，]\s*(?:right|correct|yes|no|remember|ok|okay|huh|eh|isn't (?:it|that)(?: right)?|is that right)\s*[?？]+\s*$"
    r"|\b(?:(?:do|does|did|is|are|am|was|were|have|has|can|could|will|would|should|ain't)(?:n't)? (?:i|it|he|she"
    r"|they|we"
    r"|you|that))\s*[?？]+\s*$"
    r"|(?:对吗|对吧|是吗|是吧|对不对|是不是|没错吧|没错|记得|知道|好吗|行吗|可以吗|好不好|行不行|可不可以|猜|信吗"
    r"|懂吗|明白吗|吧)[^,，]{0,6}[?？吗呢吧。]*\s*$",
    re.IGNORECASE,
)
_OR = re.compile(r"\s*(?:or\b|还是|或者|或是)", re.IGNORECASE)
_LAST = re.compile(r"(?P<stated>.+)(?:[,，;；~～—]|\s-)\s*(?P<tail>[^,，;；~～]+)$", re.DOTALL)
_RUN_ON = re.compile(
    r"(?P<stated>.*?\b(?:i'm|im|i am|i have|i've|ive|my|i|we|we're)\s.{3,120}?)\s"
    r"(?=(?:so |and |but )?(?:(?:what|where|which|how) (?:should|can|do|would|are|is|to|about|much|many|else)"
    r"|(?:can|could|would|will) (?:you|u|i|we)|should (?:i|we)|is (?:there|it)|are there|any (?:idea|tip|rec"
    r"|suggestion|recommendation|advice)"
    r"|do (?:you|u|i|we))\b)",
    re.IGNORECASE | re.DOTALL,
)
_FILLING = re.compile(r"^(?:so|and|but|then|also|那么?|所以|请问|想问下?|问一下|那)\s*[,，]?\s*", re.IGNORECASE)
_COMPLEMENT = re.compile(
    r"(?: me| us| you)?(?: that)? (?:i|i'm|he|he's|she|she's|they|it|it's|we|you|my|his|her|their|the|there|no|this)\b",
    re.IGNORECASE,
)
_LEADING_ON = re.compile(r"(?:\s+(?:so|and|but|please|pls|just))+$", re.IGNORECASE)
_LEAST_SAID, _LONGEST_RUN_ON = 2, 300


def without_courtesies(text: str) -> str:
    """Return the text with polite conditions blanked, offsets kept."""
    if "if" not in text.lower() and "的话" not in text:
        return text
    return _COURTESY.sub(lambda match: " " * len(match.group()), text)


def before_commission(text: str) -> str:
    """Return the sentences of a turn before the one that asks for words to be made: what those say is made up."""
    at = speech_acts.commissions_from(text)
    if at is None:
        return text
    return text[: max((text.rfind(mark, 0, at) + 1 for mark in ".。!！?？\n"), default=0)]


def stated_before_supposing(sentence: str) -> str:
    """Return what a sentence states before it comes to suppose or wish; the whole of one that does not, or nothing."""
    at = speech_acts.supposes_from(sentence)
    if at is None:
        return sentence
    if _WHOLE.search(sentence):
        return ""
    breaks = [found for found in _BREAK.finditer(sentence[: at + 1]) if found.start() <= at]
    if not breaks:
        return ""
    before = _LEADING_ON.sub("", sentence[: breaks[-1].start()])
    last = _BREAK.split(before)[-1]
    return "" if _CONSEQUENCE.search(last) else before


def stated_before_asking(sentence: str) -> str:
    """Return what an asking sentence states before it comes to its question, empty where it only asks."""
    if before := speech_acts.stated_before_asking(sentence):
        return before
    if _TAG.search(sentence):
        return ""
    match = _LAST.match(sentence)
    if match is not None:
        tail = _FILLING.sub("", match["tail"])
        if _OR.match(tail):
            return ""
        before = match["stated"]
        if speech_acts.clause_asks(tail) or tail.rstrip(" 。?？").endswith(("吗", "么")):
            return stated_before_asking(f"{before}?") if speech_acts.clause_asks(_last(before)) else before
    run_on = _RUN_ON.match(sentence) if len(sentence) <= _LONGEST_RUN_ON else None
    return run_on["stated"] if run_on and not speech_acts.clause_asks(run_on["stated"]) else ""


def reported_from(sentence: str) -> int | None:
    """Return from where on a sentence tells what somebody else said, None where it does not.

    "I moved to Austin, my mom says it's too hot" tells only the end as her words; "I'm moving, she said" all of it.
    """
    cue = speech_acts.report(sentence)
    if cue is None:
        return None
    rest = sentence[cue.end() :].strip(" ,，.。!！:：")
    told = len(rest) >= _LEAST_SAID if not rest.isascii() else _COMPLEMENT.match(f" {rest}") is not None
    breaks = [found.end() for found in _BREAK.finditer(sentence[: cue.start() + 1]) if found.end() <= cue.start()]
    return breaks[-1] if told and breaks else 0


def _last(text: str) -> str:
    return _BREAK.split(text)[-1].strip()
