"""The credential in a call's metadata."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.errors import CredentialInvalid, CredentialMissing
from rearview.gateway.presented_credential import presented_credential

HEADERS = st.sampled_from(["authorization", "Authorization", "x-api-key", "x-request-id", "user-agent"])
VALUES = st.one_of(st.text(max_size=40), st.binary(max_size=40), st.just("Bearer rv_a_b"), st.text(min_size=300))


def test_where_a_key_may_stand() -> None:
    assert presented_credential([("authorization", "Bearer rv_x_y")]) == "rv_x_y"
    assert presented_credential([("x-other", "z"), ("x-api-key", "rv_x_y")]) == "rv_x_y"


@pytest.mark.parametrize("metadata", [[], [("cookie", "key=rv_x_y")], [("authorization-bin", b"x")]])
def test_no_credential(metadata: list[tuple[str, str | bytes]]) -> None:
    with pytest.raises(CredentialMissing):
        presented_credential(metadata)


@pytest.mark.parametrize(
    "metadata",
    [
        [("authorization", "rv_x_y")],
        [("authorization", "Token rv_x_y")],
        [("authorization", b"Bearer rv_x_y")],
        [("authorization", "Bearer " + "x" * 10_000)],
        [("authorization", "Bearer rv_x_y"), ("authorization", "Bearer rv_x_y")],
        [("authorization", "Bearer rv_x_y"), ("x-api-key", "rv_x_y")],
    ],
)
def test_bad_credentials(metadata: list[tuple[str, str | bytes]]) -> None:
    with pytest.raises(CredentialInvalid):
        presented_credential(metadata)


@given(st.lists(st.tuples(HEADERS, VALUES), max_size=4))
def test_any_metadata_gives_a_text_or_a_typed_error(metadata: list[tuple[str, str | bytes]]) -> None:
    try:
        found = presented_credential(metadata)
    except (CredentialMissing, CredentialInvalid):
        return
    assert isinstance(found, str)
