"""JSON comes out of metadata as it went in, and redaction in between does not break it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.client.exact_json import pack, unpack
from rearview.domain.errors import InvalidFields
from rearview.language.pii import PatternRedactor
from rearview.rpc.convert.structs import struct_to_proto

# Texts of letters: what looks like personal data is redacted, and that is another test.
texts = st.text(alphabet='abcxyzÄ中文字 \n"\\', max_size=6)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
trees = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


@given(st.dictionaries(texts, trees, max_size=5))
def test_what_goes_in_comes_out(value: dict[str, Any]) -> None:
    stored = json.loads(json.dumps(pack(value, "value"), sort_keys=True))  # a jsonb column keeps no order
    assert repr(unpack(struct_to_proto(stored))) == repr(value)


def test_redacted_values_leave_the_rest_as_it_is() -> None:
    value = {"z": [1.0, {"phone": 13800138000, "b": 2**60}], "a": "call 13800138000", "13800138000": 1.0, "m": True}
    redacted, _ = PatternRedactor().redact_tree(pack(value, "value"))
    assert isinstance(redacted, dict)
    found = unpack(struct_to_proto(redacted))
    assert found is not None
    assert "13800138000" not in repr(found)
    assert found["z"] == [1.0, {"phone": "[PHONE]", "b": 2**60}]
    assert list(found["z"][1]) == ["phone", "b"]
    assert found["m"] is True


@pytest.mark.parametrize("value", [{"v": float("inf")}, {"v": {1: 2}}, {"v": {"a", "b"}}, {"v": b"x"}])
def test_what_is_no_json_is_refused(value: dict[str, Any]) -> None:
    with pytest.raises(InvalidFields) as refused:
        pack(value, "items[3]")
    assert [violation.field for violation in refused.value.violations] == ["items[3]"]


def test_what_is_nested_as_deep_as_allowed_comes_out_and_what_is_deeper_is_refused() -> None:
    value: dict[str, Any] = {"end": 1.0}
    for _ in range(13):
        value = {"in": value}
    assert unpack(struct_to_proto(pack(value, "value"))) == value
    with pytest.raises(InvalidFields):
        pack({"in": value}, "value")
