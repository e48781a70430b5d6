"""The form of API keys."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.gateway.api_key import LONGEST_KEY, hash_secret, make_key, parse_key


def test_a_new_key_can_be_parsed_and_is_stored_as_a_hash() -> None:
    made = make_key()
    parsed = parse_key(made.text)
    assert parsed is not None
    assert parsed.key_id == made.key_id
    assert made.secret_hash == hash_secret(parsed.secret) == hashlib.sha256(parsed.secret.encode()).digest()
    assert len(bytes.fromhex(parsed.secret)) == 32
    assert parsed.secret not in repr(parsed) + repr(made)


def test_keys_do_not_repeat() -> None:
    made = [make_key() for _ in range(200)]
    assert len({key.key_id for key in made}) == len({key.text for key in made}) == 200


@pytest.mark.parametrize("operator_key", ["rv_operator_" + "aB3-_" * 9, "rv_operator0_" + "0" * 64])
def test_an_operators_key_made_elsewhere_is_a_key(operator_key: str) -> None:
    parsed = parse_key(operator_key)
    assert parsed is not None
    assert f"rv_{parsed.key_id}_{parsed.secret}" == operator_key


@pytest.mark.parametrize("change", [str.upper, str.strip, lambda k: k + "\n", lambda k: " " + k, lambda k: k + "\0"])
def test_what_is_almost_a_key_is_none(change: object) -> None:
    assert callable(change)
    text = change(make_key().text)
    assert parse_key(text) is None or text == text.strip().lower()


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    parsed = parse_key(text)
    assert parsed is None or f"rv_{parsed.key_id}_{parsed.secret}" == text


@given(st.text(alphabet="rv_aZ09-é中\n", min_size=1, max_size=200))
def test_garbage_that_looks_like_a_key_is_read_in_one_way_or_not_at_all(tail: str) -> None:
    text = "rv_" + tail
    parsed = parse_key(text)
    if parsed is not None:
        assert len(text) <= LONGEST_KEY
        assert "_" not in parsed.key_id
        assert text == f"rv_{parsed.key_id}_{parsed.secret}"
