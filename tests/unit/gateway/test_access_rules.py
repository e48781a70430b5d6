"""The table of access rules against the public API's own description."""

import re
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType, SimpleNamespace

import pytest
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor

import rearview.internal.v1
import rearview.v1
from rearview.domain.errors import InvalidFields
from rearview.domain.principal import Role
from rearview.gateway.access_rules import ACCESS_RULES, About, Need, ServiceName
from rearview.gateway.app import SERVED
from rearview.internal.v1 import lifecycle_service_pb2, retriever_service_pb2, writer_service_pb2
from rearview.rpc.internal_rules import INTERNAL_RULES

PROTOS = Path(__file__).parents[3] / "protos" / "rearview" / "v1"
METHODS: list[MethodDescriptor] = [
    method for name in SERVED for method in descriptor_pool.Default().FindServiceByName(name).methods
]
NONE = SimpleNamespace(services_by_name={})
INTERNAL = {
    ServiceName.WRITER: writer_service_pb2.DESCRIPTOR.services_by_name["WriterService"],
    ServiceName.RETRIEVER: retriever_service_pb2.DESCRIPTOR.services_by_name["RetrieverService"],
    ServiceName.LIFECYCLE: lifecycle_service_pb2.DESCRIPTOR.services_by_name["LifecycleService"],
}


def path_of(method: MethodDescriptor) -> str:
    return f"/{method.containing_service.full_name}/{method.name}"


def test_every_service_of_the_public_package_is_served() -> None:
    declared = re.findall(r"^service (\w+)", "\n".join(p.read_text() for p in PROTOS.glob("*.proto")), re.MULTILINE)
    assert {f"rearview.v1.{name}" for name in declared} == set(SERVED)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_rules_fit_their_methods(method: MethodDescriptor) -> None:
    rule = ACCESS_RULES[path_of(method)]
    if rule.done_by is not ServiceName.GATEWAY:
        behind = INTERNAL[rule.done_by].methods_by_name[method.name]
        assert behind.client_streaming == method.client_streaming
        assert behind.server_streaming == method.server_streaming
    if rule.about is About.NAMED:
        empty = message_factory.GetMessageClass(method.input_type)()
        with suppress(InvalidFields):
            assert rule.names(empty) == ()
    else:
        assert rule.names(object()) == ()
    if rule.done_by is ServiceName.WRITER:
        assert (rule.need, rule.role) == (Need.WRITE, Role.WRITE)
    assert (rule.role is Role.OPERATOR) == (rule.about is About.PLATFORM)


def services_of(package: ModuleType) -> list[ServiceDescriptor]:
    """Return every service that a package of generated code declares, also one that nobody has thought of here."""
    modules = (import_module(f"{package.__name__}.{found.name}") for found in iter_modules(package.__path__))
    return [service for module in modules for service in getattr(module, "DESCRIPTOR", NONE).services_by_name.values()]


def test_every_method_of_every_service_has_a_rule_and_every_rule_a_method() -> None:
    public, inner = services_of(rearview.v1), services_of(rearview.internal.v1)
    assert (len(public), len(inner)) == (4, 3)
    assert {path_of(method) for service in public for method in service.methods} == set(ACCESS_RULES)
    assert {path_of(method) for service in inner for method in service.methods} == set(INTERNAL_RULES)


def test_behind_the_gateway_a_method_needs_the_role_that_it_needs_before_it() -> None:
    needed = {}
    for path, rule in ACCESS_RULES.items():
        if rule.done_by is not ServiceName.GATEWAY:
            needed[f"/{INTERNAL[rule.done_by].full_name}/{path.rpartition('/')[2]}"] = rule.role
    needed["/rearview.internal.v1.WriterService/PreviewFound"] = Role.WRITE  # a step of Forget
    assert {path: role for path, role in INTERNAL_RULES.items() if path in needed} == {
        path: role for path, role in needed.items() if path in INTERNAL_RULES
    }
    assert set(INTERNAL_RULES) <= set(needed)
    assert Role.OPERATOR not in INTERNAL_RULES.values()


def test_every_internal_method_is_reached() -> None:
    forwarded = {(rule.done_by, path.rpartition("/")[2]) for path, rule in ACCESS_RULES.items()}
    forwarded.add((ServiceName.WRITER, "PreviewFound"))  # a step of Forget, by the rule of Forget
    for service, descriptor in INTERNAL.items():
        assert {(service, method.name) for method in descriptor.methods} <= forwarded


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_the_rule_requires_the_role_that_the_documentation_names(method: MethodDescriptor) -> None:
    service = f"service {method.containing_service.name} "
    text = next(text for text in (p.read_text() for p in PROTOS.glob("*.proto")) if service in text)
    service_comment, _, body = text.partition(service)
    comment = re.search(rf"((?:  //.*\n)+)  rpc {method.name}\(", body)
    assert comment is not None
    words = re.findall(r"Role (\w+)", comment[1]) or re.findall(r"(Operator|Admin)\.", comment[1])
    if not words and service_comment.rstrip().endswith("Role admin."):
        words = ["admin"]
    if words:
        assert ACCESS_RULES[path_of(method)].role == Role(words[0].lower())
