"""Sentences and clauses of a turn with their places in it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rearview.language.facts.statement import TITLED_NAME_EN
from rearview.language.facts.values import relation_words
from rearview.language.scripts import HAN

MAX_CLAUSE_CHARACTERS = 160

_SENTENCE = re.compile(
    r"[^。！？!?\n；;.]*(?:\.(?!\s|$)[^。！？!?\n；;.]*|(?:(?<=\bDr)|(?<=\bMr)|(?<=\bMrs)|(?<=\bMs)|(?<=\bProf)"
    r"|(?<=\be\.g)|(?<=\bi\.e)|(?<=\be)|(?<=\bi))\.[^。！？!?\n；;.]*)*"
    r"(?:[。！？!?\n；;]+|\.|$)"
)
_EMOJI = "\u2600-\u27bf\U0001f300-\U0001faff"
_CLAUSE_END = re.compile(
    # Every end begins with one of few characters, which is seen sooner than that it is none of them all.
    rf"(?=[\s，：,:()（）…。.！？!?；;、但不可身体~～—{_EMOJI}])(?:"
    r"[，：]|[,:](?![0-9]|(?<=[0-9a-z],) [12][0-9]{3}(?![0-9]))|(?<![0-9])[,:]|[(（)）]|\s[-–—]\s|…+|\.{2,}|\.$"
    r"|[。！？!?；;\n]+|、(?=我)"
    r"|\s(?=but\s)|\s(?=(?:and|n)\s(?:i|im|ive|my|we|our|(?:he|she|they|it)(?='s|\s)|(?:his|her|their)\s|(?:working"
    r"|living"
    r"|based|majoring)\s|wear|keep (?:kosher|halal)|the\s(?:budget|rent|deadline)|[0-9]{2,3} ?(?:lbs|pounds|kg|kilos)"
    r"|(?:now |also |really |currently )*(?:lives?|works?|study|studies"
    r"|(?:is|am) (?:now )?an?|(?:love|like|hate|prefer|own|drive|speak|weigh|enjoy|take(?=s?\s[a-z]{5}))s?|ha(?:ve"
    r"|s) an?"
    r"|can (?!i\b)|(?:can't|cannot|don't|doesn't) (?:stand|eat|drink|do|like|have))|so (?:am|do|does|is|are))\b)"
    r"|(?<![不非])(?=但(?:是)?(?![愿凡求是]))"
    r"|(?=不过我|可是我)|\s(?=who\s(?:lives|works|is|loves|likes|hates|has)\b)"
    r"|(?<=[a-z]{4})\s(?=so\s(?!much|many|far|good|bad|long|often|that\b|hard|well|badly|little|fast|cute|called|on\b"
    r"|forth))"
    r"|\s(?=so\s(?:i|my|we|please|pl[sz]|no|avoid|nothing|keep|use|don'?t|do not|let's)\b)"
    r"|(?<=[0-9米斤gm])(?=身高|体重)"
    # As people type who leave the commas out.
    rf"|(?<=[{HAN}])\s+(?=[我你帮有请想但不求能可别现预平住推给以所因最])|[~～]+|—+|[{_EMOJI}]+"
    r"|\s(?=(?:can|could|would|will)\s(?:you|u|i|we)\b)|\s(?=(?:what|where|which|how)\s(?:should|can|do|would|are|is"
    r"|about)\b)"
    r"|\s(?=should\s(?:i|we)\b)|\s(?=any\s(?:idea|tip|rec|suggestion|recommendation|advice)s?\b)"
    r"|\s(?=(?:please|pls|plz)\s(?:don'?t|do not|never|always|keep|use|only|no|avoid|make|send|call|reply|answer"
    r"|recommend"
    r"|suggest|help|find)\b)|\s(?=(?:because|bc|cuz|coz)\s(?:i|i'm|im|ive|i've|my|we)\b)"
    r"|\s(?=(?:al|even )?though\s(?:i|i'm|my|we)\b))",
    re.IGNORECASE,
)
_OPENERS = re.compile(
    r"\s*(?:(?:对了|其实|实际上|事实上|别忘了|不要忘记|别忘记|老实说|说实话|说真的|嗯+|哦|那个|请(?:你)?记住|记住"
    r"|记一下|帮我记一下|顺便说一下|顺便|另外|而且|还有|因为"
    r"|所以|但是|但|可是|不过|然后|大家好|你好|您好|嗨|哈喽|好的|是的|我(?:想)?(?:跟|和|告诉)你(?:说|讲)?|注意"
    r"|话说|那啥|刚想起来|忘了说|提醒(?:你)?一?下|说起来|跟你说个事|哈哈+|呵|嗐|诶|欸|咳|哎呀?|嘿|好吧|我承认|唉|呃"
    r"|补充一下|更新一下|说一下|跟你说一下|顺带|另外|(?:just )?to let you know|(?:it )?turns out(?: that)?|heads up"
    r"|quick (?:update|note)|by the way|actually|also|and|but|so|well|oh|hi|hello|hey|yes|yeah|ok|okay"
    r"|(?:please )?remember"
    r"(?: that)?|note(?: that)?|don't forget(?: that)?|do not forget(?: that)?|just so you know|to be honest"
    r"|fyi|btw|honestly|tbh|lol|ugh|umm?|uhh?"
    r"|plus|n(?= )|yo|hii+|heya|quick (?:q|question)|random but|one more thing|forgot to (?:mention|say)(?: that)?"
    r"|for context"
    r"|fwiw|ps|edit|context|cuz|coz|bc|though|although|even though|anyway|i mean|haha|because|as you know|update"
    r"|for the record)(?![a-z])[\s,，:：]*)*",
    re.IGNORECASE,
)
# "My boss, Angela, prefers ..." names somebody within a clause: the commas become blanks, offsets kept.
_APPOSITION = re.compile(
    rf"(?<![a-z])(?:my|our) (?:[a-z]+ )?(?:{'|'.join(word for word in relation_words() if word.isascii())}),"
    rf" {TITLED_NAME_EN}(?:,(?= [a-z])|(?=[.!;]|$))",
    re.IGNORECASE,
)
_LIST_INSIDE = re.compile(
    r"(?:allergic to|speak|visited|been to) [a-z]+(?: [a-z]+)?, |[a-z]+, [a-z]+,? and ", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause without its opening words; `start` is where it stands in the turn."""

    start: int
    text: str

    @property
    def end(self) -> int:
        """Where it ends in the turn."""
        return self.start + len(self.text)


def sentences(text: str) -> Iterator[Clause]:
    """The sentences of a text with their closing marks, empty ones left out."""
    for match in _SENTENCE.finditer(text):
        if match.group().strip():
            yield Clause(match.start(), match.group())


def clauses(sentence: Clause, is_label: Callable[[str], bool]) -> Iterator[Clause]:
    """The clauses of a sentence; those longer than MAX_CLAUSE_CHARACTERS state nothing clearly and are left out.

    A colon ends a clause but after a label ("Budget: $500"), which `is_label` tells.
    """
    at = 0
    text = _APPOSITION.sub(lambda found: found.group().replace(",", " "), sentence.text)
    for match in [*_CLAUSE_END.finditer(text), None]:
        end = match.start() if match else len(text)
        if match and match.group() in (":", "：") and is_label(text[at:end]):
            continue
        clause = _opened(text[at:end])
        if clause is not None:
            yield Clause(sentence.start + at + clause[0], clause[1])
        at = match.end() if match else end


def whole_list(sentence: Clause) -> Clause | None:
    """A sentence with a list in it as one clause ("peanuts, shrimp and milk"), None for others."""
    text = sentence.text.rstrip(" 。！？!?.；;\n")
    if len(text) > MAX_CLAUSE_CHARACTERS or ", " not in text or _LIST_INSIDE.search(text) is None:
        return None
    clause = _opened(text)
    return Clause(sentence.start + clause[0], clause[1]) if clause else None


def _opened(written: str) -> tuple[int, str] | None:
    if not 0 < len(written) <= MAX_CLAUSE_CHARACTERS:
        return None
    opened = _OPENERS.match(written)
    skipped = opened.end() if opened else 0
    rest = written[skipped:].rstrip()
    skipped += len(rest) - len(rest.lstrip())
    return (skipped, rest.lstrip()) if rest.strip() else None
