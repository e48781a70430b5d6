"""What a scenario file may say. Unknown words are refused, so that a misspelt expectation cannot pass unnoticed."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

MAIN = "main"
"""The namespace of steps that name none."""
OWNER = "owner"
"""Who acts in steps that name nobody: an administrator of the tenant."""

Languages: TypeAlias = Literal["zh", "en", "mixed"]
ActorKind: TypeAlias = Literal["reader", "writer", "outsider", "keyless"]
CallsAtOnce: TypeAlias = Annotated[int, Field(ge=1, le=16)]
"""How often a call is made at the same moment."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SaidTurn(_Strict):
    """One turn, `user: ...` or `assistant: ...`, or a tool's result with the tool's name; a minute after the last."""

    user: str | None = None
    assistant: str | None = None
    system: str | None = None
    document: str | None = None
    tool: str | None = None
    tool_name: str = "tool"
    arguments: dict[str, Any] = {}
    at: AwareDatetime | None = None
    speaker: str = ""
    metadata: dict[str, Any] = {}

    @model_validator(mode="after")
    def _one_role(self) -> SaidTurn:
        if len(self.said) != 1:
            raise ValueError("a turn is said by exactly one of user, assistant, system, document, tool")
        return self

    @property
    def said(self) -> dict[str, str]:
        """Who says what."""
        roles = ("user", "assistant", "system", "document", "tool")
        return {role: text for role in roles if (text := getattr(self, role)) is not None}


class Append(_Strict):
    """Append turns; with `settle`, wait until they are memories."""

    session: str
    turns: Annotated[list[SaidTurn], Field(min_length=1)]
    at: AwareDatetime | None = None
    settle: bool = True
    end: bool = False
    request_id: str | None = None
    at_once: CallsAtOnce = 1


class Remember(_Strict):
    """Store a memory; `name` lets later steps speak of it."""

    content: str
    name: str = ""
    type: str = "explicit"
    priority: float = 0.5
    pinned: bool = False
    labels: dict[str, str] = {}
    metadata: dict[str, Any] = {}
    entities: list[str] = []
    at: AwareDatetime | None = None
    valid_from: AwareDatetime | None = None
    expires_at: AwareDatetime | None = None
    session: str | None = None
    request_id: str | None = None
    at_once: CallsAtOnce = 1


class _Many(_Strict):
    """The `content` once for each number from 1 to `count`, which takes the place of `{n}` in it."""

    content: str
    count: Annotated[int, Field(ge=1, le=1_000)]

    @property
    def texts(self) -> list[str]:
        """The texts, in the order of their numbers."""
        return [self.content.replace("{n}", str(number)) for number in range(1, self.count + 1)]


class RememberMany(_Many):
    """Store that many memories, in calls of a hundred."""


class AppendMany(_Many):
    """Append that many turns of the user to the sessions `s1`, `s2`, ... in turn, and wait when all are appended.

    A request holds up to twenty of them, and is sent twice, as by a client that has not heard the answer.
    """

    sessions: Annotated[int, Field(ge=1)] = 1


class Filter(_Strict):
    """Which memories count."""

    types: list[str] = []
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    entities: list[str] = []
    session: str | None = None
    labels: dict[str, str] = {}
    origins: list[str] = []


class Recall(_Strict):
    """Ask. `asked_at` is the caller's now; `name` lets later steps read what the recall did."""

    query: str = ""
    dialogue: list[dict[str, str]] = []
    k: int = 5
    session: str | None = None
    filter: Filter | None = None
    as_of: AwareDatetime | None = None
    asked_at: AwareDatetime | None = None
    time_zone: str = ""
    with_namespaces: list[str] = []
    without_routes: list[str] = []
    include_cold: bool = False
    no_cache: bool = False
    profile: str = ""
    token_budget: int | None = None
    deadline_seconds: Annotated[float, Field(gt=0)] | None = None
    times: int = 1
    at_once: CallsAtOnce = 1
    name: str = ""


class ListMemories(_Strict):
    """List memories of the given states (active unless given), or what was held at a time."""

    states: list[str] = []
    filter: Filter | None = None
    as_of: AwareDatetime | None = None


class Update(_Strict):
    """Change fields of a memory."""

    memory: str
    changes: dict[str, Any]


class Forget(_Strict):
    """Forget exactly one of: named memories, a session, its last turns, a subject, a filter, or what a query finds."""

    memories: list[str] = []
    session: str | None = None
    last_turns: int | None = None
    subject: str | None = None
    filter: Filter | None = None
    query: str | None = None
    confirm: bool = True
    now: bool = False
    name: str = ""


class ImportMemories(_Strict):
    """Take in an export of an earlier step: `only_lines` of its file, or so far as `stop_after_lines` lets it come."""

    export: str
    only_lines: Annotated[int, Field(ge=1)] | None = None
    stop_after_lines: Annotated[int, Field(ge=1)] | None = None
    resume: bool = False


class Grant(_Strict):
    """Let an actor read, or write, in the step's namespace."""

    to: str
    write: bool = False


class Expect(_Strict):
    """What must hold after the step. Texts are compared without regard to case.

    `first`: all of these stand in the first result. `any`: each stands in some result. `none`: none stands anywhere in
    the answer. `once`: each stands in exactly one result. `in_order`: each stands in a result behind the one before.
    `context`: each stands in the context text. `count`, `at_least`, `at_most`: how many results. `cites`: the first
    result cites a turn that holds this. `error`: the call fails with this reason, in this `field` if one is named.
    `or_says_why`: the others need not hold where the answer names what it left out, or the deadline has passed. The
    rest are fields of the answer by their names, the first result's where there are several.
    """

    first: list[str] = []
    any: list[str] = []
    none: list[str] = []
    once: list[str] = []
    in_order: list[str] = []
    context: list[str] = []
    count: int | None = None
    at_least: int | None = None
    at_most: int | None = None
    cites: str | None = None
    error: str | None = None
    field: str | None = None
    outcome: str | None = None
    state: str | None = None
    trust: str | None = None
    origin: str | None = None
    type: str | None = None
    tier: str | None = None
    redactions: list[str] | None = None
    empty_reason: str | None = None
    cached: bool | None = None
    complete: bool | None = None
    ranker: str | None = None
    degraded: list[str] | None = None
    context_tokens_at_most: int | None = None
    or_says_why: bool = False


class Step(_Strict):
    """One call by one actor in one namespace, and what must hold after it."""

    append: Append | None = None
    append_many: AppendMany | None = None
    end: str | None = None
    remember: Remember | None = None
    remember_many: RememberMany | None = None
    recall: Recall | None = None
    trace: str | None = None
    get: str | None = None
    list_memories: ListMemories | None = None
    history: str | None = None
    update: Update | None = None
    undo: str | None = None
    forget: Forget | None = None
    restore: str | None = None
    receipt: str | None = None
    move: Literal["warm", "cold"] | None = None
    rehydrate: list[str] | None = None
    expire: str | None = None
    hold: str | None = None
    release: str | None = None
    delete_namespace: str | None = None
    export_memories: str | None = None
    import_memories: ImportMemories | None = None
    reembed: str | None = None
    grant: Grant | None = None
    revoke: str | None = None
    subscribe: str | None = None
    events: str | None = None
    working_memory: str | None = None
    capture: str | None = None
    captures: str | None = None
    by: str = OWNER
    namespace: str = MAIN
    expect: Expect | None = None

    @property
    def action(self) -> str:
        """The name of what the step does."""
        return next(name for name in _ACTIONS if getattr(self, name) is not None)

    @property
    def argument(self) -> Any:
        """What the action is given."""
        return getattr(self, self.action)

    @model_validator(mode="after")
    def _one_action(self) -> Step:
        given = [name for name in _ACTIONS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"a step does exactly one thing, of {', '.join(_ACTIONS)}; got {', '.join(given) or 'none'}"
            )
        return self


_ACTIONS = tuple(name for name in Step.model_fields if name not in {"by", "namespace", "expect"})


class Scenario(_Strict):
    """A file of the test set."""

    title: str
    language: Languages
    about: Annotated[list[str], Field(min_length=1)]
    complaint: int | None = None
    actors: dict[str, ActorKind] = {}
    public_namespaces: list[str] = []
    owned_namespaces: dict[str, str] = {}
    steps: Annotated[list[Step], Field(min_length=1)]

    @model_validator(mode="after")
    def _checks_something(self) -> Scenario:
        if not any(step.expect for step in self.steps):
            raise ValueError("a scenario expects something of at least one step")
        unknown = {*(step.by for step in self.steps), *self.owned_namespaces.values()} - {OWNER, *self.actors}
        if unknown:
            raise ValueError(f"nobody here is called {', '.join(sorted(unknown))}")
        return self
