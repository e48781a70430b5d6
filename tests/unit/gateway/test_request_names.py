"""Every namespace that a request can name is found, wherever it stands."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TypeAlias
from uuid import uuid4

import pytest
from google.api import field_behavior_pb2
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from rearview.domain.errors import InvalidFields
from rearview.gateway.access_rules import ACCESS_RULES, About
from rearview.v1 import recall_pb2

ID = str(uuid4())
FORMS = (
    "namespaces/{n}",
    "namespaces/{n}/sessions/s",
    "namespaces/{n}/memories/" + ID,
    "namespaces/{n}/sessions/s/events/" + ID,
)
# Read by nobody: what is stored is named by the request's parent.
NOT_READ = {
    "Remember:memory.name",
    "BatchRemember:requests.memory.name",
}
Way: TypeAlias = tuple[FieldDescriptor, ...]
NAMING = {"parent", "name", "names", "session", "namespace", "additional_namespaces", "memory", "event"}


def texts_that_name(
    descriptor: Descriptor, path: tuple[FieldDescriptor, ...] = ()
) -> Iterator[tuple[FieldDescriptor, ...]]:
    """Yield the ways to the string fields of a request that can hold a namespace's name."""
    for field in descriptor.fields:
        way = (*path, field)
        if field_behavior_pb2.OUTPUT_ONLY in field.GetOptions().Extensions[field_behavior_pb2.field_behavior]:
            continue
        if field.message_type is not None and field.message_type.file.package == "rearview.v1" and len(path) < 3:
            yield from texts_that_name(field.message_type, way)
        elif field.type == FieldDescriptor.TYPE_STRING and field.name in NAMING:
            yield way


def requests() -> list[Any]:
    found = []
    for path, rule in ACCESS_RULES.items():
        if rule.about is not About.NAMED:
            continue
        service, _, method = path.lstrip("/").partition("/")
        input_type = descriptor_pool.Default().FindServiceByName(service).methods_by_name[method].input_type
        for way in texts_that_name(input_type):
            label = f"{method}:{'.'.join(field.name for field in way)}"
            if label not in NOT_READ:
                found.append(pytest.param(rule, input_type, way, id=label))
    return found


def put(message: Any, way: Way, value: str) -> None:
    """Set the field at the end of a way, in the first element of whatever repeats."""
    for field in way[:-1]:
        message = getattr(message, field.name)
        if field.is_repeated:
            message = message[0] if len(message) else message.add()
    if way[-1].is_repeated:
        getattr(message, way[-1].name).append(value)
    else:
        setattr(message, way[-1].name, value)


@pytest.mark.parametrize(("rule", "input_type", "way"), requests())
def test_a_name_in_any_field_is_found_or_refused(rule: Any, input_type: Descriptor, way: Way) -> None:
    found: list[str] = []
    passed_over: list[str] = []
    for form in FORMS:
        request: Any = message_factory.GetMessageClass(input_type)()
        if "parent" in input_type.fields_by_name and way[0].name != "parent":
            session = input_type.name in ("AppendEventsRequest", "ListEventsRequest")
            request.parent = "namespaces/mine" + ("/sessions/s" if session else "")
        put(request, way, form.format(n="theirs"))
        with suppress(InvalidFields):
            (found if "theirs" in rule.names(request) else passed_over).append(form)
    assert found
    # Entries of a batch that have another form fail by themselves, where they are stored.
    assert not passed_over or input_type.name == "BatchRememberRequest"


def test_all_malformed_names_are_told_at_once() -> None:
    request = recall_pb2.RecallRequest(
        parent="nonsense", additional_namespaces=["namespaces/a", "b"], session="namespaces/UPPER/sessions/s"
    )
    rule = ACCESS_RULES["/rearview.v1.MemoryService/Recall"]
    with pytest.raises(InvalidFields) as caught:
        rule.names(request)
    assert [v.field for v in caught.value.violations] == ["parent", "additional_namespaces[1]", "session"]
