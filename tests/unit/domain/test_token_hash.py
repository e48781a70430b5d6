"""Token numbers are stable and fit a sparse vector."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.token_hash import MAX_TOKEN_HASH, token_hash

NAMESPACE = UUID("018f3c2e-7b1a-7c3d-9e4f-123456789012")


def test_hashes_are_fixed_and_depend_on_the_namespace() -> None:
    # A changed value would orphan every stored keyword bag.
    assert token_hash(NAMESPACE, "预算") == 493_244_441
    assert token_hash(NAMESPACE, "预算") != token_hash(UUID(int=1), "预算")


@given(st.uuids(), st.text(max_size=20))
def test_hashes_fit_a_sparse_vector(namespace_id: UUID, token: str) -> None:
    assert 1 <= token_hash(namespace_id, token) <= MAX_TOKEN_HASH
