"""What is wrong with an answer, whatever was asked: bugs, hangs, and errors that do not say what they are about."""

from __future__ import annotations

import re
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from mcp_types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR

from rearview.domain.errors import InvalidFields
from rearview.rpc.errors import STATUS_DETAILS_KEY, from_rpc_error

_NEVER = {
    code.name
    for code in (
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DATA_LOSS,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.CANCELLED,
    )
}
_NEVER_REASONS = {"INTERNAL", "DEADLINE_EXCEEDED", "DEPENDENCY_UNAVAILABLE"}
_OF_THE_CALLER = {PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS}
_ERROR_KEY = "rearview.dev/error"
_AND_MORE = re.compile("and [0-9]+ more")
"""Stands for the violations that found no room."""

_LINE = "line"
"""A field that holds a line of an export: what is wrong in it is named by the line's own fields."""

_FIRST_SEGMENT = re.compile(r"[^.\[]*")


def fault_of_call(method: MethodDescriptor, octets: bytes, error: grpc.RpcError) -> str:
    """Return what is wrong with the error of a gRPC call; empty when nothing is."""
    code = error.code().name
    if code in _NEVER:
        return code
    if STATUS_DETAILS_KEY not in {datum.key for datum in error.trailing_metadata() or ()}:
        return f"{code} without details"
    told = from_rpc_error(error)
    if not isinstance(told, InvalidFields):
        return "" if told.reason else f"{code} without a reason"
    if not _parses(method, octets):
        return ""
    for violation in told.violations:
        if not violation.field and _AND_MORE.fullmatch(violation.description):
            continue
        if _LINE in method.input_type.fields_by_name and violation.field:
            continue
        first = _FIRST_SEGMENT.match(violation.field)
        if first is None or first[0] not in method.input_type.fields_by_name:
            return f"names no field of the request: {violation.field[:80]!r}, {violation.description[:80]!r}"
        if not violation.description:
            return f"does not say what is wrong with {violation.field[:80]!r}"
    return "" if told.violations and told.violations[0].field else "names no field"


def fault_of_tool(told: Any) -> str:
    """Return what is wrong with the JSON-RPC answer to a call of a tool, None for an answer that is none; empty when
    nothing is."""
    if not isinstance(told, dict):
        return "no JSON-RPC answer"
    if "error" in told:
        code = told["error"]["code"]
        return "" if code in _OF_THE_CALLER else f"JSON-RPC error {code}: {told['error']['message'][:200]}"
    if not told["result"].get("isError"):
        return ""
    error = told["result"].get("_meta", {}).get(_ERROR_KEY, {})
    if error.get("reason") in {None, "", *_NEVER_REASONS}:
        return f"reason {error.get('reason')}: {error.get('message', '')[:200]}"
    if error["reason"] != "INVALID_FIELD":
        return ""
    fields = error.get("fields", [])
    return "" if fields and all(one["description"] for one in fields) else "names no field"


def _parses(method: MethodDescriptor, octets: bytes) -> bool:
    make: type[Message] = GetMessageClass(method.input_type)
    try:
        make.FromString(octets)
    except DecodeError:
        return False
    return True
