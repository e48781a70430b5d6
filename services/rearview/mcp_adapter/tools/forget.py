"""memory_forget: forget for good."""

from rearview.client import AsyncClient
from rearview.domain.errors import invalid_field
from rearview.domain.forget import MAX_NAMES_PER_FORGET
from rearview.mcp_adapter.answers import RECEIPT_SCHEMA, Json, receipt_json
from rearview.mcp_adapter.fields import Flag, Many, Number, Text
from rearview.mcp_adapter.tool import NAMESPACE, Arguments, Hints, Tool
from rearview.mcp_adapter.tools.search import FILTERS, TIME_RANGE, filter_of

_TARGETS = (("memories",), ("session",), ("subject",), ("query",), ("time_range", "filters"))


async def _forget(client: AsyncClient, given: Arguments) -> Json:
    if sum(any(name in given for name in target) for target in _TARGETS) != 1:
        raise invalid_field(
            "memories", "give exactly one of memories, session, subject, query, or time_range and filters"
        )
    if "last_turns" in given and "session" not in given:
        raise invalid_field("last_turns", "is for a session: give it with session")
    receipt = await client.forget(
        memories=given.get("memories", ()),
        session=given.get("session"),
        last_turns=given.get("last_turns"),
        subject=given.get("subject"),
        query=given.get("query"),
        filter=filter_of(given, given.get("namespace") or client.namespace),
        preview=given.get("preview", False),
        confirmation_token=given.get("confirmation_token", ""),
        reason=given.get("reason", ""),
        namespace=given.get("namespace"),
    )
    return receipt_json(receipt)


FORGET = Tool(
    name="memory_forget",
    title="Forget",
    description=(
        "Forget what the user wants forgotten: from the answer on it is never returned, and after a grace period it is "
        "erased with everything derived from it. Give exactly one target: `memories` (ids from memory_search), "
        "`session`, `session` with `last_turns`, `subject`, `query`, or `time_range` and `filters`. Only on the user's "
        'wish; a value that has changed is updated, not forgotten. Example: {"memories": ["01890f3e-..."], "reason": '
        '"user asked"}.'
    ),
    takes={
        "memories": Many(
            description="Ids of memories, as hits of memory_search give them.",
            of=Text(description="An id."),
            low=1,
            high=MAX_NAMES_PER_FORGET,
        ),
        "session": Text(description='A whole conversation by its id, for example "chat-42".'),
        "last_turns": Number(
            description="With `session`: only its last turns, 1 to 1,000.", low=1, high=1_000, whole=True
        ),
        "subject": Text(description='Everything about a person or thing, by name, for example "Li Lei".'),
        "query": Text(description="What a query finds; needs a preview first."),
        "time_range": TIME_RANGE,
        "filters": FILTERS,
        "preview": Flag(description="Change nothing; answer what would go. Default false."),
        "confirmation_token": Text(description="From a preview; binds the call to exactly that set."),
        "reason": Text(description="Why, at most 500 characters; kept in the audit log, so without content."),
        "namespace": NAMESPACE,
    },
    answers=RECEIPT_SCHEMA,
    hints=Hints(destructive=True, idempotent=True),
    run=_forget,
)
