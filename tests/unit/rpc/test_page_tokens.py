import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.errors import InvalidPageToken
from rearview.rpc.convert.requests import next_page_token, page_from_proto
from rearview.rpc.convert.violations import Violations
from rearview.rpc.fingerprint import fingerprint, list_fingerprint
from rearview.rpc.page_token import decode_page_token, encode_page_token
from rearview.v1 import memory_service_pb2 as messages
from tests.unit.rpc.strategies import few, texts

KEY = b"page key"
positions = st.lists(texts, min_size=1, max_size=3).map(tuple)


@few
@given(positions)
def test_a_token_gives_back_its_position(after: tuple[str, ...]) -> None:
    token = encode_page_token(KEY, "ListMemories", b"f", after)
    assert token.isascii()
    assert decode_page_token(KEY, "ListMemories", b"f", token) == after


@few
@given(positions)
def test_a_token_is_good_for_its_method_request_and_key_only(after: tuple[str, ...]) -> None:
    token = encode_page_token(KEY, "ListMemories", b"f", after)
    for key, method, print_ in (
        (b"other", "ListMemories", b"f"),
        (KEY, "ListEvents", b"f"),
        (KEY, "ListMemories", b"g"),
    ):
        with pytest.raises(InvalidPageToken):
            decode_page_token(key, method, print_, token)


@few
@given(st.text(min_size=1, max_size=60))
def test_garbage_is_no_token(token: str) -> None:
    with pytest.raises(InvalidPageToken):
        decode_page_token(KEY, "ListMemories", b"f", token)


def test_a_token_follows_the_request_through_its_pages_but_not_to_another_filter() -> None:
    request = messages.ListMemoriesRequest(parent="namespaces/a", page_size=10)
    token = next_page_token(request, ("2026", "x"), KEY)
    following = messages.ListMemoriesRequest(parent="namespaces/a", page_size=50, page_token=token)
    page = page_from_proto(following, following.page_size, token, KEY, Violations())
    assert (page.size, page.after) == (50, ("2026", "x"))
    other = messages.ListMemoriesRequest(parent="namespaces/b", page_token=token)
    with pytest.raises(InvalidPageToken):
        page_from_proto(other, other.page_size, token, KEY, Violations())
    assert next_page_token(request, (), KEY) == ""


@few
@given(st.dictionaries(st.sampled_from(list("abcdefgh")), texts, min_size=2))
def test_fingerprints_do_not_depend_on_order_or_request_id(labels: dict[str, str]) -> None:
    one, two = (messages.RememberRequest(parent="namespaces/a", request_id=i) for i in ("1", "2"))
    one.memory.labels.update(labels)
    two.memory.labels.update(dict(reversed(labels.items())))
    assert fingerprint(one) == fingerprint(two)
    two.memory.content = "别的"
    assert fingerprint(one) != fingerprint(two)


def test_the_type_is_part_of_a_fingerprint() -> None:
    assert list_fingerprint(messages.ListEventsRequest()) != list_fingerprint(messages.ListSessionsRequest())
