"""Messages of chat APIs: OpenAI's, Anthropic's, ShareGPT's, and plain rows of role and content."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rearview.client.transcripts.said import TranscriptError
from rearview.client.turn import ToolCall, Turn

ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "observation": "tool",
    "document": "document",
}
"""The roles of other tools, and what they are here."""

_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal"})
# Pictures, sounds and what a model thought by itself were not said.
_UNSAID_PARTS = frozenset(
    {"image", "image_url", "input_image", "input_audio", "audio", "file", "document", "thinking", "redacted_thinking"}
)
_CONTENTS = ("content", "value", "text")
_TOOL_CALLS = ("tool_calls", "tool_call")
_TIMES = ("occurred_at", "timestamp", "created_at", "create_time", "time")
_LONGEST_TOOL_NAME = 128


class MessageReader:
    """Turns the messages of one conversation, in their order, into turns; ties results to the calls they answer."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolCall] = {}

    def turns(self, message: object, place: str) -> Iterator[Turn]:
        """Yield what a message says: its text, and the tool calls whose results it holds.

        Raises:
            TranscriptError: it is no message; `place` says which.
        """
        if not isinstance(message, Mapping):
            raise TranscriptError(f"{place}: expected an object, not {type(message).__name__}")
        role = _role(message, place)
        content = next((message[name] for name in _CONTENTS if name in message), None)
        if content is None and not any(name in message for name in (*_CONTENTS, *_TOOL_CALLS)):
            raise TranscriptError(f"{place}.content: is missing; known are {', '.join(message)}")
        texts, results = self._parts(content, place)
        self._note_calls(message, place)
        common = _common(message, place)
        text = "\n".join(texts)
        if role == "tool" and not results:
            yield Turn("tool", tool_call=self._answered(message, text, place), **common)
            return
        for result in results:
            yield Turn("tool", tool_call=result, **common)
        if text.strip():
            yield Turn(role, text, **common)

    def unanswered(self) -> Iterator[Turn]:
        """Yield the calls that nothing answered."""
        for call in self._calls.values():
            yield Turn("tool", tool_call=call)

    def _parts(self, content: object, place: str) -> tuple[list[str], list[ToolCall]]:
        if content is None:
            return [], []
        if isinstance(content, str):
            return [content], []
        if not isinstance(content, Sequence):
            raise TranscriptError(f"{place}: content must be a text or a list of parts")
        texts, results = [], []
        for number, part in enumerate(content):
            if isinstance(part, str):
                texts.append(part)
                continue
            kind = part.get("type") if isinstance(part, Mapping) else None
            if kind in _TEXT_PARTS:
                texts.append(str(part.get("text") or part.get("refusal") or ""))
            elif kind == "tool_use":
                self._note(str(part.get("id", "")), str(part.get("name", "")), part.get("input"), place)
            elif kind == "tool_result":
                results.append(self._result(part, place))
            elif kind not in _UNSAID_PARTS:
                raise TranscriptError(f"{place}.content[{number}]: a part of type {kind!r} is not known")
        return texts, results

    def _result(self, part: Mapping[str, Any], place: str) -> ToolCall:
        texts, _ = self._parts(part.get("content"), place)
        return self._take(str(part.get("tool_use_id", "")), "", "\n".join(texts), failed=bool(part.get("is_error")))

    def _answered(self, message: Mapping[str, Any], text: str, place: str) -> ToolCall:
        given = message.get("tool_call")
        if isinstance(given, Mapping):
            arguments = _arguments(given.get("arguments"), place)
            name, call_id = str(given.get("tool", "")), str(given.get("call_id", ""))
            return _call(name, str(given.get("result") or text), arguments, call_id, failed=bool(given.get("failed")))
        name = str(message.get("name") or message.get("tool") or "")
        return self._take(str(message.get("tool_call_id", "")), name, text, failed=False)

    def _note_calls(self, message: Mapping[str, Any], place: str) -> None:
        for call in message.get("tool_calls") or ():
            function = call.get("function") if isinstance(call, Mapping) else None
            if not isinstance(function, Mapping):
                raise TranscriptError(f"{place}.tool_calls: each call must have a function with a name and arguments")
            self._note(str(call.get("id", "")), str(function.get("name", "")), function.get("arguments"), place)

    def _note(self, call_id: str, name: str, arguments: object, place: str) -> None:
        self._calls[call_id] = _call(name, "", _arguments(arguments, place), call_id, failed=False)

    def _take(self, call_id: str, name: str, result: str, *, failed: bool) -> ToolCall:
        asked = self._calls.pop(call_id, None)
        return _call(
            name or (asked.tool if asked else ""), result, asked.arguments if asked else {}, call_id, failed=failed
        )


def _call(name: str, result: str, arguments: Mapping[str, Any], call_id: str, *, failed: bool) -> ToolCall:
    return ToolCall(name[:_LONGEST_TOOL_NAME] or "tool", result, arguments, call_id, failed)


def _role(message: Mapping[str, Any], place: str) -> str:
    said = message.get("role", message.get("from"))
    role = ROLES.get(str(said).lower())
    if role is None:
        raise TranscriptError(f"{place}.role: {said!r} is none of {', '.join(sorted(ROLES))}")
    return role


def _arguments(arguments: object, place: str) -> Mapping[str, Any]:
    """Return a call's arguments, which OpenAI writes as a text of JSON."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except json.JSONDecodeError:
            return {"text": arguments}  # what a model wrote in place of JSON is still what it asked for
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise TranscriptError(f"{place}: a tool call's arguments must be an object")
    return arguments


def _common(message: Mapping[str, Any], place: str) -> dict[str, Any]:
    metadata = message.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise TranscriptError(f"{place}.metadata: must be an object")
    speaker = message.get("speaker") or ""
    caption = message.get("image_caption") or ""
    return {
        "speaker": str(speaker),
        "occurred_at": _time(message, place),
        "image_caption": str(caption),
        "metadata": metadata,
        "event_id": str(message.get("event_id") or ""),
    }


def _time(message: Mapping[str, Any], place: str) -> datetime | None:
    field = next((name for name in _TIMES if message.get(name) is not None), None)
    if field is None:
        return None
    value = message[field]
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        moment = datetime.fromisoformat(str(value))
    except (ValueError, OverflowError, OSError):
        raise TranscriptError(
            f"{place}.{field}: {value!r} is neither an ISO 8601 time nor seconds since 1970"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
