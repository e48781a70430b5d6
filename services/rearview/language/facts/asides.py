"""Words that speak of the telling and state nothing: "as I said", "我跟你说过的". They are blanked, offsets kept."""

import re

# "I said I like tea, but now ..." tells of what was, so it is left as it stands.
_CONTRAST = re.compile(
    r"但|不过|可是|然而|现在|后来|以前|曾经|\b(?:but|however|now|used to|anymore|any more|was|were)\b", re.IGNORECASE
)
_EN_WHEN = (
    r"(?: (?:before|already|earlier|above|previously|yesterday|last time|once|(?:many|several|a few) times|to you))*"
)
_EN_TOLD = (
    r"(?:i(?:'ve| have)? (?:already |just )?(?:said|mentioned|told you|noted|stated|explained)|(?:already )?"
    r"(?:mentioned|stated|noted|said))"
)
_EN_ASIDE = (
    rf"(?:(?:just )?(?:as|like) {_EN_TOLD}{_EN_WHEN}|(?:just )?as (?:always|usual|you (?:already )?know|you may recall)"
    r"|in case you (?:forgot|didn't know|missed it)|don't forget(?: that)?|for the record|you know|remember(?: that)?"
    r"|once (?:again|more)|again|(?:i )?(?:say|repeat)(?:ing)? (?:it |this )?again|by the way|btw|fyi"
    r"|just (?:a reminder|to remind you|so you know)|(?:just )?to repeat(?: myself)?|I repeat)"
)
_EN_HEAD = (
    rf"(?:{_EN_ASIDE}|i(?:'ve| have)? (?:already )?(?:said|told you|mentioned)(?: (?:before|already))?(?: that)?)"
)
_ZH_WHEN = "(?:之前|先前|刚才|刚刚|上次|上回|早就|已经|也|都|再|就|曾|好几次|多次|很多次|前面)*"
_ZH_TOLD = (
    f"(?:我?{_ZH_WHEN}(?:跟|和|对|同|给)你{_ZH_WHEN}(?:说|讲|提)(?:起|到)?过|我?{_ZH_WHEN}告诉过你"
    f"|我{_ZH_WHEN}(?:说|讲|提)(?:起|到)?过|{_ZH_WHEN}(?:说|讲|提)(?:起|到)?过)"
    "(?:的|了|好几次|很多次|好多次|多次|好几遍|很多遍|啊|呀|哦|吧|哈)*"
)
_ZH_ASIDE = (
    f"(?:(?:就?像|正?如|按)?(?:{_ZH_TOLD})(?:的?那样)?|如前(?:所述|面说的)|再(?:说|讲|强调|提醒)(?:你)?一[遍次下]|提醒(?:你)?一下|强调一下"
    "|你(?:是|也|应该)?知道的?|你(?:还)?记得的?|别忘了|不要忘了|记住(?:了|哦|啊|哈)?|顺便(?:说|提)一[句下])"
)
# White space and commas are taken whole, without giving any back, and tails begin where such a run does: a turn of
# nothing but these would be gone through once for each of them otherwise.
_START = r"(?:^|(?<=[。！!；;\n，,])|(?<=[.] ))\s*+"
_HEADS = (
    re.compile(rf"{_START}(?:{_EN_HEAD}[,:，：]?)(?=\s+(?:i\b|i'|my\b|we\b|our\b|我))", re.IGNORECASE),
    re.compile(rf"{_START}(?:{_ZH_ASIDE}[,，:：]?)(?=\s*(?:我|i\b|my\b))", re.IGNORECASE),
)
_END = r"(?=[^\S\n]*+(?:[.。!！;；\n,，]|$))"
_TAILS = (
    re.compile(
        rf"(?:(?<!\s)(?:\s*+[,，(（—-]\s*+{_EN_ASIDE}|\s++(?:as|like) {_EN_TOLD}{_EN_WHEN})[)）]?){_END}",
        re.IGNORECASE,
    ),
    re.compile(rf"(?<![\s,，(（])(?:[\s,，(（]++{_ZH_ASIDE}[)）]?){_END}"),
)
_SENTENCE = re.compile(r"[^。！？!?\n；;]*(?:[。！？!?\n；;]+|$)")
_HINT = re.compile(
    r"[说讲提诉述记忘知强遍]|said|told|mention|stated|noted|explain|know|again|forg|remember|repeat|remind|record|usual|always|recall"
    r"|way|btw|fyi|missed",
    re.IGNORECASE,
)


def without_asides(text: str) -> str:
    """Return the text with what only speaks of the telling blanked."""
    if _HINT.search(text) is None:
        return text
    return _SENTENCE.sub(lambda match: _without(match.group()), text)


def _without(sentence: str) -> str:
    if _HINT.search(sentence) is None:
        return sentence
    for tail in _TAILS:
        sentence = tail.sub(lambda match: " " * len(match.group()), sentence)
    if _CONTRAST.search(sentence):
        return sentence
    for head in _HEADS:
        sentence = head.sub(_blanked, sentence)
    return sentence


def _blanked(match: re.Match[str]) -> str:
    return " " * len(match.group())
