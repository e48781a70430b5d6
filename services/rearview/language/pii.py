"""Redaction of personal data and secrets.

Rules and checksums, fast enough for the path of an acknowledgement; models only for the categories that need them.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from rearview.domain.text import DEFAULT_CATEGORIES, MODEL_CATEGORIES, PiiCategory, Redacted, RedactedSpan
from rearview.language import pii_numbers, pii_personal, pii_secrets
from rearview.language.pii_names import names
from rearview.language.pii_values import normal_value
from rearview.language.scripts import fold_width_in_place
from rearview.ports.redactor import Naming, PayloadDepthError, plain_name

MAX_DEPTH = 64
"""How deep a payload may be nested."""


@dataclass(frozen=True, slots=True)
class _Recogniser:
    """How values of a category are found; where the hint does not occur there are none, which is quickly known."""

    category: PiiCategory
    hint: re.Pattern[str]
    find: Callable[[str], Iterable[tuple[int, int]]]


_SIX_DIGITS = re.compile(r"[0-9](?:[-. ()/]{0,3}[0-9]){5}")

# In order of precedence: where two find overlapping values, the earlier one names the whole.
_RECOGNISERS = (
    _Recogniser(
        PiiCategory.SECRET,
        re.compile(
            r"key|token|secret|bearer|basic\s|密钥|令牌|PRIVATE KEY|[sr]k[-_]|gh[pousr]_|github_|glpat-"
            r"|A[KSR][IO][AD]|AIDA|AIza|ya29"
            r"|xox|hf_|npm_|pypi-|SG\.|LTAI|eyJ",
            re.IGNORECASE,
        ),
        pii_secrets.secrets,
    ),
    _Recogniser(PiiCategory.PASSWORD, re.compile("pass|pwd|pin|密码|口令|://", re.IGNORECASE), pii_secrets.passwords),
    _Recogniser(PiiCategory.EMAIL, re.compile("@"), pii_secrets.emails),
    _Recogniser(PiiCategory.IBAN, re.compile("[A-Za-z]{2}[0-9]{2}[ A-Za-z0-9]{5}"), pii_numbers.ibans),
    _Recogniser(PiiCategory.NATIONAL_ID, _SIX_DIGITS, pii_numbers.national_ids),
    _Recogniser(PiiCategory.PASSPORT, re.compile("护照|passport", re.IGNORECASE), pii_numbers.passports),
    _Recogniser(PiiCategory.BANK_CARD, _SIX_DIGITS, pii_numbers.bank_cards),
    _Recogniser(
        PiiCategory.LICENSE_PLATE,
        re.compile("[\u4e00-\u9fff][A-Za-z][·• -]?[A-Za-z0-9]{4}|plate|registration", re.IGNORECASE),
        pii_numbers.license_plates,
    ),
    _Recogniser(PiiCategory.IP, re.compile(r"[0-9]\.[0-9]{1,3}\.[0-9]|:[0-9A-Fa-f:]"), pii_numbers.ip_addresses),
    _Recogniser(PiiCategory.PHONE, _SIX_DIGITS, pii_numbers.phones),
    _Recogniser(
        PiiCategory.DATE_OF_BIRTH, re.compile("生|birth|born|d.?o.?b", re.IGNORECASE), pii_personal.dates_of_birth
    ),
    _Recogniser(PiiCategory.ADDRESS, re.compile("[0-9]"), pii_personal.addresses),
)
_PRECEDENCE = {recogniser.category: at for at, recogniser in enumerate(_RECOGNISERS)}
_PLACEHOLDER = re.compile(rf"\[(?:{'|'.join(PiiCategory)})(?:_[0-9]{{1,9}})?\]")

# Private use: neither letter nor digit, and in no pattern, like the brackets of the placeholder that will stand there.
_FILLER = "\ue000"

# A value can border on another so closely that it is seen only once the other is gone ("a@b.com13812345678").
_MAX_ROUNDS = 8

_SECRET_KEYS = re.compile(
    r"(?:.*[_.-])?(?:api_?key|secret|secret_?key|access_?key|private_?key|client_?secret|(?:access|auth|refresh|session|id)_?token"
    r"|credentials?|密钥|令牌)|token|authorization|proxy-authorization",
    re.IGNORECASE,
)
_PASSWORD_KEYS = re.compile(r"(?:.*[_.-])?(?:password|passwd|passphrase|pwd|密码|口令)", re.IGNORECASE)
_LEAST_SENSITIVE_INTEGER = 10**9


class PatternRedactor:
    """The `Redactor` port over patterns, checksums and, for names, models. Stateless and thread-safe."""

    def redact(
        self, text: str, categories: Collection[PiiCategory] = DEFAULT_CATEGORIES, name: Naming = plain_name
    ) -> Redacted:
        """Return the text with every value of the given categories replaced by what `name` calls it.

        Idempotent, except that a model may see another name in the text it is given the second time.
        """
        spans = _spans(text, categories)
        return Redacted(_rendered(text, spans, name), tuple(spans)) if spans else Redacted(text)

    def normal(self, category: PiiCategory, value: str) -> str:
        """Return the form that two spellings of one value share."""
        return normal_value(category, value)

    def redact_tree(
        self, value: object, categories: Collection[PiiCategory] = DEFAULT_CATEGORIES, name: Naming = plain_name
    ) -> tuple[object, tuple[PiiCategory, ...]]:
        """Redact the strings of a JSON-like payload, keys included; return it and the categories found.

        A key that names a secret, as in `{"password": "hunter2"}`, hides its value whatever that looks like, and a key
        that names a number, as in `{"phone": "467 3395"}`, is read as the label of its value. Whole numbers long
        enough to be a phone or card number are read as text.

        Raises:
            PayloadDepthError: the payload is nested deeper than MAX_DEPTH.
        """
        walk = _TreeWalk(categories, name)
        return walk.node(value, "", 0), tuple(walk.found)


class _TreeWalk:
    """One redaction of one payload."""

    def __init__(self, categories: Collection[PiiCategory], name: Naming) -> None:
        self._categories = categories
        self._name = name
        self.found: dict[PiiCategory, None] = {}

    def node(self, value: object, label: str, depth: int) -> object:
        if depth > MAX_DEPTH:
            raise PayloadDepthError(f"payload is nested deeper than {MAX_DEPTH} levels")
        if isinstance(value, str):
            return self._leaf(value, label)
        if isinstance(value, dict):
            return self._dict(value, depth)
        if isinstance(value, list | tuple):
            return [self.node(item, label, depth + 1) for item in value]
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _LEAST_SENSITIVE_INTEGER:
            text = str(value)
            redacted = self._leaf(text, label)
            return value if redacted == text else redacted
        return value

    def _dict(self, value: dict[object, object], depth: int) -> dict[object, object]:
        result: dict[object, object] = {}
        for key, item in value.items():
            safe_key = self._leaf(key, "") if isinstance(key, str) else key
            unique, copy = safe_key, 2
            while unique in result:
                unique, copy = f"{safe_key} ({copy})", copy + 1
            result[unique] = self.node(item, key if isinstance(key, str) else "", depth + 1)
        return result

    def _leaf(self, text: str, label: str) -> str:
        for category, keys in ((PiiCategory.PASSWORD, _PASSWORD_KEYS), (PiiCategory.SECRET, _SECRET_KEYS)):
            if category in self._categories and text and keys.fullmatch(label) and not _PLACEHOLDER.fullmatch(text):
                self.found[category] = None
                return self._name(category, text)
        spans = _spans(text, self._categories)
        if label and not spans:
            prefix = f"{label.replace('_', ' ')}: "
            labelled = _spans(prefix + text, self._categories)
            if labelled and labelled[0].start >= len(prefix):
                spans = [
                    RedactedSpan(span.category, span.start - len(prefix), span.end - len(prefix)) for span in labelled
                ]
        self.found.update(dict.fromkeys(span.category for span in spans))
        return _rendered(text, spans, self._name)


def _rendered(text: str, spans: list[RedactedSpan], name: Naming) -> str:
    pieces: list[str] = []
    done = 0
    for span in spans:
        pieces += (text[done : span.start], name(span.category, text[span.start : span.end]))
        done = span.end
    return "".join((*pieces, text[done:]))


def _spans(text: str, categories: Collection[PiiCategory]) -> list[RedactedSpan]:
    """Spans of values, ordered and disjoint."""
    if not categories:
        return []
    folded = fold_width_in_place(text)
    spans = _find(folded, categories)
    if MODEL_CATEGORIES.isdisjoint(categories):
        return spans
    taken = [*((span.start, span.end) for span in spans), *(match.span() for match in _PLACEHOLDER.finditer(folded))]
    for category, start, end in names(folded, categories):
        if start < end and all(end <= other[0] or other[1] <= start for other in taken):
            spans.append(RedactedSpan(category, start, end))
            taken.append((start, end))
    return sorted(spans, key=lambda span: span.start)


def _find(text: str, categories: Collection[PiiCategory]) -> list[RedactedSpan]:
    """Spans of values, ordered and disjoint, found until nothing new appears beside what is already hidden."""
    spans: list[RedactedSpan] = []
    for _ in range(_MAX_ROUNDS):
        found = _scan(text, categories)
        if not found:
            break
        text = _hide(text, found)
        spans += found
    return sorted(spans, key=lambda span: span.start)


def _hide(text: str, spans: list[RedactedSpan]) -> str:
    pieces: list[str] = []
    done = 0
    for span in spans:
        pieces += (text[done : span.start], _FILLER * (span.end - span.start))
        done = span.end
    return "".join((*pieces, text[done:]))


def _scan(text: str, categories: Collection[PiiCategory]) -> list[RedactedSpan]:
    candidates = [
        RedactedSpan(recogniser.category, start, end)
        for recogniser in _RECOGNISERS
        if recogniser.category in categories and recogniser.hint.search(text)
        for start, end in recogniser.find(text)
    ]
    candidates.sort(key=lambda span: (span.start, -span.end))
    merged: list[RedactedSpan] = []
    for span in candidates:
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            # The union is hidden: cutting either value short would leave part of it readable.
            category = min(last.category, span.category, key=_PRECEDENCE.__getitem__)
            merged[-1] = RedactedSpan(category, last.start, max(last.end, span.end))
        else:
            merged.append(span)
    return merged
