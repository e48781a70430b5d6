"""What becomes of a turn: which kind of memory it makes, or why it makes none."""

from dataclasses import dataclass, replace

from rearview.domain.event import CaptureOutcome, Event, EventRole
from rearview.domain.importance import DROP_BELOW, TurnSignals, importance
from rearview.domain.memory import ORIGIN_OF_ROLE, TRUST_OF_ORIGIN, MemoryType, Origin, Trust

_MAY_ASK = frozenset({EventRole.USER, EventRole.SYSTEM})
_MAY_DECIDE = frozenset({EventRole.USER, EventRole.SYSTEM, EventRole.ASSISTANT})


@dataclass(frozen=True, slots=True)
class CaptureDecision:
    """What becomes of a turn. `type` is None when it is dropped; a type other than EPISODE makes a memory of its own,
    an episode's turn joins its segment. `reason` names the rule and its figures, never content."""

    outcome: CaptureOutcome
    type: MemoryType | None
    importance: float
    reason: str


def origin_of(event: Event) -> Origin:
    """Who first said it: a tool, where the event carries a tool call, whoever reported it."""
    return Origin.TOOL if event.tool_call is not None else ORIGIN_OF_ROLE[event.role]


def trust_of(event: Event) -> Trust:
    """How far the origin is trusted."""
    return TRUST_OF_ORIGIN[origin_of(event)]


def rated(event: Event, signals: TurnSignals) -> TurnSignals:
    """Return the signals as they count for this event.

    Tool calls and results are kept whatever they say. What a tool or a document says of remembering, deciding or
    forbidding counts for nothing: untrusted text must not be able to make itself a user's constraint.
    """
    if trust_of(event) is Trust.UNTRUSTED:
        signals = replace(signals, explicit_remember=False, decision=False, constraint=False)
    return replace(signals, forced_kind=True) if origin_of(event) is Origin.TOOL else signals


def decide(event: Event, signals: TurnSignals, *, echoed: int = 0, empty: bool = False) -> CaptureDecision:
    """Decide about a turn, its signals as the analyser found them.

    `echoed` pieces of recalled text were taken out of it before, and, if it is `empty`, nothing was left.
    """
    if empty:
        return CaptureDecision(
            CaptureOutcome.ECHO, None, 0.0, f"recalled text came back: {echoed} pieces, nothing else"
        )
    decision = _decide(event, rated(event, signals))
    if not echoed:
        return decision
    return replace(decision, reason=f"{decision.reason}; recalled text left out: {echoed} pieces")


def _decide(event: Event, signals: TurnSignals) -> CaptureDecision:
    value = importance(signals)
    kind, rule = _kind(event, signals)
    if kind is not MemoryType.EPISODE:
        return CaptureDecision(CaptureOutcome.KEPT, kind, value, f"forced: {rule}")
    if value < DROP_BELOW:
        what = "acknowledgement" if signals.acknowledgement else "small talk" if signals.small_talk else "nothing said"
        return CaptureDecision(
            CaptureOutcome.DROPPED, None, value, f"{what}: importance {value:.3f} < {DROP_BELOW:.2f}"
        )
    return CaptureDecision(CaptureOutcome.KEPT, kind, value, f"importance {value:.3f} >= {DROP_BELOW:.2f}")


def _kind(event: Event, signals: TurnSignals) -> tuple[MemoryType, str]:
    if origin_of(event) is Origin.TOOL:
        return MemoryType.TOOL_RESULT, "tool result"
    if signals.explicit_remember and event.role in _MAY_ASK:
        return MemoryType.EXPLICIT, "asked to remember"
    if signals.constraint and event.role in _MAY_ASK:
        return MemoryType.CONSTRAINT, "constraint"
    if signals.decision and event.role in _MAY_DECIDE:
        return MemoryType.DECISION, "decision"
    return MemoryType.EPISODE, ""
