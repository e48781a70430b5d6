"""What the speaker was told by those who decide or find it out: the landlord the rent, a doctor a condition.

Of others' words nothing is kept otherwise.
"""

import re
from dataclasses import dataclass

_HEALTH = frozenset(("condition", "allergy", "medication", "diet", "blood_type"))
_MAY_TELL = {
    "landlord": frozenset(("rent",)),
    "doctor": _HEALTH,
    "employer": frozenset(("salary", "deadline")),
    "teacher": frozenset(("deadline",)),
}
_WHO = {
    "landlord": "landlord|landlady|property manager|房东|中介",
    "doctor": "doctor|doc|gp|dentist|cardiologist|dermatologist|allergist|neurologist|nutritionist|医生|大夫"
    "|体检报告|体检",
    "employer": "boss|manager|company|hr|client|老板|领导|公司|客户|甲方|人事",
    "teacher": "professor|teacher|advisor|supervisor|导师|老师|教授",
}
_ROLES = "|".join(f"(?P<{name}>{words})" for name, words in _WHO.items())
_TOLD = re.compile(
    rf"(?:my|our|the) (?:{_ROLES}) (?:(?:just|has|already|recently|finally) )*(?:told (?:me|us)|said|says|let (?:me"
    rf"|us) know"
    r"|confirmed|informed (?:me|us))(?: that)? (?P<what>.+)"
    rf"|(?:我们?的?)?(?:{_ROLES.replace('P<', 'P<zh_')})(?:刚刚?|今天|昨天|又|已经|都)*(?:说|告诉我们?|通知我们?"
    rf"|跟我们?说|给我们?说|确认|诊断|显示)了?"
    "[,，]?(?P<zh_what>.+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Told:
    """What was told, and the attributes that whoever told it knows of."""

    what: str
    attributes: frozenset[str]


def told(clause: str) -> Told | None:
    """Return what somebody who knows told the speaker; None for other clauses."""
    if (match := _TOLD.match(clause)) is None:
        return None
    who = next(name for name in _WHO if match[name] or match[f"zh_{name}"])
    return Told(match["what"] or match["zh_what"], _MAY_TELL[who])
