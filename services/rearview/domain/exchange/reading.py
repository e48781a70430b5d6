"""Lines of an export, read and checked. What is wrong is an InvalidFields that names the field."""

import base64
import binascii
import math
import re
import struct

from rearview.domain.errors import invalid_field
from rearview.domain.event import (
    MAX_CAPTION_CHARACTERS,
    MAX_CONTENT_CHARACTERS,
    MAX_METADATA_BYTES,
    CaptureOutcome,
    Event,
    ToolCall,
)
from rearview.domain.exchange.fields import Fields, parsed
from rearview.domain.exchange.records import (
    MAX_LINE_BYTES,
    SCHEMA_VERSION,
    End,
    ExportedEvent,
    ExportedLink,
    ExportedMemory,
    ExportedUnit,
    Manifest,
    Record,
)
from rearview.domain.exchange.words import (
    ENTITY_TYPES,
    INTENTS,
    LANGUAGES,
    ORIGINS,
    OUTCOMES,
    ROLES,
    STATES,
    TIERS,
    TRUSTS,
    TYPES,
)
from rearview.domain.exchange.writing import FORMAT
from rearview.domain.keyword_bag import MAX_TERMS
from rearview.domain.memory import (
    MAX_ENTITIES,
    MAX_LABEL_VALUE_CHARACTERS,
    MAX_LABELS,
    Fact,
    Memory,
    MemoryState,
    MemoryType,
    Origin,
    Tier,
    Trust,
)
from rearview.domain.names import SESSION_ID
from rearview.domain.text import Entity, Intent, Sentiment
from rearview.domain.token_hash import MAX_TOKEN_HASH

_MOST_LINKS = 10_000
_LONGEST_NAME = 512
_LABEL_KEY = re.compile(r"[a-z][a-z0-9_.-]{0,62}", re.ASCII)
_CHECKSUM = re.compile(r"[0-9a-f]{64}", re.ASCII)
_NORM = (0.98, 1.02)
"""Between these lie the norms of half-precision vectors that were normalised."""


def read(line: str) -> Record:
    """Return what a line holds.

    Raises:
        InvalidFields: it is no JSON object, of no known kind, or one of its fields is wrong.
    """
    if len(line) > MAX_LINE_BYTES or len(line.encode("utf-8", "surrogatepass")) > MAX_LINE_BYTES:
        raise invalid_field("line", f"is longer than {MAX_LINE_BYTES} bytes")
    fields = parsed(line)
    kind = fields.text("kind", 16)
    if kind == "manifest":
        return _manifest(fields)
    if kind == "event":
        return _event(fields)
    if kind == "memory":
        return _memory(fields)
    if kind == "end":
        return _end(fields)
    raise fields.wrong("kind", "is to be one of manifest, event, memory, end")


def _manifest(fields: Fields) -> Manifest:
    if fields.text("format", 64) != FORMAT:
        raise fields.wrong("format", f"is to be {FORMAT}")
    version = fields.whole("schema_version", 1)
    if version != SCHEMA_VERSION:
        raise fields.wrong(
            "schema_version", f"is {version}; this version reads {SCHEMA_VERSION}, export again or upgrade"
        )
    return Manifest(
        export_id=fields.uuid("export_id"),
        exported_at=fields.moment("exported_at"),
        namespace=fields.text("namespace", _LONGEST_NAME),
        namespace_id=fields.optional_uuid("namespace_id"),
        generation_id=fields.text("model_generation", _LONGEST_NAME, default=""),
        events=fields.whole("events", 0, 0),
        memories=fields.whole("memories", 0, 0),
    )


def _event(fields: Fields) -> ExportedEvent:
    session = fields.child("session")
    if session is None:
        raise fields.wrong("session", "is required")
    occurred_at = fields.moment("occurred_at")
    call = fields.child("tool_call")
    event = Event(
        event_id=fields.uuid("id"),
        role=fields.choice("role", ROLES),
        content=fields.text("content", 2 * MAX_CONTENT_CHARACTERS, default=""),
        occurred_at=occurred_at,
        speaker=fields.text("speaker", _LONGEST_NAME, default=""),
        tool_call=_tool_call(call) if call else None,
        image_caption=fields.text("image_caption", 2 * MAX_CAPTION_CHARACTERS, default=""),
        metadata=fields.tree("metadata", 2 * MAX_METADATA_BYTES),
        redactions=fields.texts("redactions", 64, 64),
        sequence=fields.whole("sequence", 1),
        created_at=fields.optional_moment("created_at") or occurred_at,
    )
    if not event.content and event.tool_call is None:
        raise fields.wrong("content", "may be empty only beside a tool call")
    outcome = fields.choice("outcome", OUTCOMES, CaptureOutcome.PENDING)
    if outcome is CaptureOutcome.FORGOTTEN:
        raise fields.wrong("outcome", "says that the event was forgotten")
    return ExportedEvent(
        event=event,
        session_id=_session_id(session, "id"),
        session_started_at=session.optional_moment("started_at") or occurred_at,
        session_last_event_at=session.optional_moment("last_event_at") or occurred_at,
        session_ended_at=session.optional_moment("ended_at"),
        outcome=outcome,
        reason=fields.text("reason", _LONGEST_NAME, default=""),
        importance=fields.number("importance", 0, 1e6, 0),
        bands=tuple(int(band) for band in fields.numbers("bands", 64, -(2**31), 2**31 - 1)),
        indexed_at=fields.optional_moment("indexed_at"),
    )


def _tool_call(fields: Fields) -> ToolCall:
    return ToolCall(
        tool=fields.text("tool", _LONGEST_NAME),
        call_id=fields.text("call_id", _LONGEST_NAME, default=""),
        arguments=fields.tree("arguments", MAX_LINE_BYTES),
        result=fields.text("result", MAX_LINE_BYTES, default=""),
        failed=fields.flag("failed"),
    )


def _memory(fields: Fields) -> ExportedMemory:
    fact = fields.child("fact")
    memory = _memory_itself(fields, _fact(fact) if fact else None)
    return ExportedMemory(
        memory=memory,
        told_at=fact.optional_moment("told_at") if fact else None,
        source_id=fact.optional_uuid("source_id") if fact else None,
        derived=fields.flag("derived"),
        links=tuple(_link(link) for link in fields.children("events", _MOST_LINKS)),
        sources=fields.uuids("sources", _MOST_LINKS),
        units=tuple(_unit(unit) for unit in fields.children("units", _MOST_LINKS)),
    )


def _memory_itself(fields: Fields, fact: Fact | None) -> Memory:
    occurred_at = fields.moment("occurred_at")
    created_at = fields.optional_moment("created_at") or occurred_at
    origin = fields.choice("origin", ORIGINS, Origin.USER)
    return Memory(
        memory_id=fields.uuid("id"),
        type=fields.choice("type", TYPES, MemoryType.EXPLICIT),
        content=fields.text("content", MAX_LINE_BYTES),
        occurred_at=occurred_at,
        created_at=created_at,
        updated_at=fields.optional_moment("updated_at") or created_at,
        origin=origin,
        trust=fields.choice(
            "trust", TRUSTS, Trust.UNTRUSTED if origin in (Origin.TOOL, Origin.DOCUMENT) else Trust.TRUSTED
        ),
        state=fields.choice("state", STATES, MemoryState.ACTIVE),
        tier=fields.choice("tier", TIERS, Tier.HOT),
        priority=fields.number("priority", 0, 1, 0.5),
        pinned=fields.flag("pinned"),
        labels=_labels(fields),
        metadata=fields.tree("metadata", 2 * MAX_METADATA_BYTES),
        entities=tuple(_entity(entity) for entity in fields.children("entities", 10 * MAX_ENTITIES)),
        intent=fields.choice("intent", INTENTS, Intent.OTHER),
        sentiment=Sentiment(fields.number("valence", -1, 1, 0), fields.number("intensity", 0, 1, 0)),
        confidence=fields.number("confidence", 0, 1, 1),
        valid_from=fields.optional_moment("valid_from"),
        valid_to=fields.optional_moment("valid_to"),
        occurred_until=fields.optional_moment("occurred_until"),
        expires_at=fields.optional_moment("expires_at"),
        superseded_by=fields.optional_uuid("superseded_by"),
        session_id=_session_id(fields, "session", optional=True),
        languages=frozenset(
            LANGUAGES[word] for word in fields.texts("languages", len(LANGUAGES), 2) if word in LANGUAGES
        ),
        generation_id=fields.text("model_generation", _LONGEST_NAME, default=""),
        redactions=fields.texts("redactions", 64, 64),
        fact=fact,
        access_count=fields.whole("access_count", 0, 0),
        last_accessed_at=fields.optional_moment("last_accessed_at"),
        version=fields.whole("version", 1, 1),
    )


def _fact(fields: Fields) -> Fact:
    longest = MAX_CONTENT_CHARACTERS
    return Fact(
        subject=fields.text("subject", _LONGEST_NAME),
        attribute=fields.text("attribute", _LONGEST_NAME),
        value=fields.text("value", longest, default=""),
        unit=fields.text("unit", _LONGEST_NAME, default=""),
        single_valued=fields.flag("single_valued"),
        value_key=fields.text("value_key", longest, default=""),
        denied=fields.flag("denied"),
        stance=fields.text("stance", 32, default="standing"),
        category=fields.text("category", _LONGEST_NAME, default=""),
        replaces=fields.text("replaces", longest, default=""),
        extractor=fields.text("extractor", _LONGEST_NAME, default=""),
        prompt_version=fields.text("prompt_version", _LONGEST_NAME, default=""),
        note=fields.text("note", _LONGEST_NAME, default=""),
    )


def _labels(fields: Fields) -> dict[str, str]:
    labels = fields.tree("labels", MAX_METADATA_BYTES * 4)
    if len(labels) > MAX_LABELS:
        raise fields.wrong("labels", f"are more than {MAX_LABELS}")
    for key, value in labels.items():
        if not _LABEL_KEY.fullmatch(key):
            raise fields.wrong("labels", "have a key that does not match [a-z][a-z0-9_.-]{0,62}")
        if not isinstance(value, str) or len(value) > MAX_LABEL_VALUE_CHARACTERS:
            raise fields.wrong(f"labels.{key}", f"is to be a text of at most {MAX_LABEL_VALUE_CHARACTERS} characters")
    return labels


def _entity(fields: Fields) -> Entity:
    text = fields.text("text", _LONGEST_NAME)
    canonical = fields.text("canonical", _LONGEST_NAME, default=text.casefold())
    return Entity(fields.choice("type", ENTITY_TYPES), text, canonical, 0, 0)


def _link(fields: Fields) -> ExportedLink:
    return ExportedLink(
        session_id=_session_id(fields, "session"),
        event_id=fields.uuid("id"),
        sequence=fields.whole("sequence", 1),
        repeats=fields.optional_uuid("repeats"),
    )


def _unit(fields: Fields) -> ExportedUnit:
    terms = tuple(int(term) for term in fields.numbers("terms", MAX_TERMS, 1, MAX_TOKEN_HASH))
    weights = tuple(fields.numbers("weights", MAX_TERMS, 0, 1e6))
    if len(terms) != len(weights) or len(set(terms)) != len(terms):
        raise fields.wrong("terms", "are to be as many as the weights, each once")
    return ExportedUnit(
        unit_id=fields.uuid("id"),
        occurred_at=fields.moment("occurred_at"),
        flags=fields.whole("flags", 0, 0, 32_767),
        vector=_vector(fields),
        terms=terms,
        weights=weights,
    )


def _vector(fields: Fields) -> bytes:
    try:
        data = base64.b64decode(fields.text("vector", 32_768), validate=True)
        values = struct.unpack(f"<{len(data) // 2}e", data)
    except (binascii.Error, struct.error, ValueError) as error:
        raise fields.wrong("vector", "is to be little-endian float16 in base64") from error
    if not _NORM[0] <= math.hypot(*values) <= _NORM[1]:  # also when one of them is no number
        raise fields.wrong("vector", "is to be of length 1")
    return data


def _end(fields: Fields) -> End:
    checksum = fields.text("checksum", 64)
    if not _CHECKSUM.fullmatch(checksum):
        raise fields.wrong("checksum", "is to be 64 hexadecimal digits")
    return End(fields.whole("events", 0), fields.whole("memories", 0), bytes.fromhex(checksum))


def _session_id(fields: Fields, name: str, *, optional: bool = False) -> str:
    session_id = fields.text(name, _LONGEST_NAME, default="" if optional else None)
    if session_id and not SESSION_ID.fullmatch(session_id):
        raise fields.wrong(name, "is no name of a session")
    return session_id
