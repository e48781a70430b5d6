"""What an answer is kept under: everything that decides it but the content of memory."""

import hashlib
import hmac
import json
from collections.abc import Sequence

from rearview.domain.canonical_query import CanonicalQuery, hidden_token, unfit
from rearview.domain.principal import Caller
from rearview.domain.relevance import RANKER_VERSION
from rearview.domain.text import TimeRange
from rearview.ports.answer_cache import AnswerKeys
from rearview.v1 import recall_pb2

_TOKEN_DIGITS = 12


class AnswerKeyMaker:
    """Makes keys that say nothing of the query to whoever lacks the secret.

    Of a request everything counts, but for the query's manner in the key of its meaning: a new field can be forgotten
    by nobody. Times that it names count as they are resolved ("yesterday" is another day tomorrow).
    """

    def __init__(self, secret: bytes, *, generation_id: str, lexicon_version: str) -> None:
        self._secret = secret
        self._versions = [generation_id, lexicon_version, RANKER_VERSION]

    def keys(
        self,
        request: recall_pb2.RecallRequest,
        caller: Caller,
        query: CanonicalQuery,
        time_ranges: Sequence[TimeRange],
    ) -> AnswerKeys:
        """Return the keys of a request."""
        switches = recall_pb2.RecallRequest()
        switches.CopyFrom(request)
        switches.ClearField("query")
        switches.ClearField("no_cache")
        scope = [
            *self._versions,
            str(caller.tenant_id),
            caller.principal,
            sorted(f"{name}={reached.namespace_id}" for name, reached in caller.namespaces.items()),
            [[time_range.start.isoformat(), time_range.end.isoformat()] for time_range in time_ranges],
            switches.SerializeToString(deterministic=True).hex(),
        ]
        meaning = None if unfit(query) else self._hash("meaning", [*scope, query.anagram])
        return AnswerKeys(self._hash("exact", [*scope, request.query]), meaning)

    def hidden(self, query: CanonicalQuery) -> CanonicalQuery:
        """Return a query whose tokens are hashes, comparable among themselves; what says nothing of it stays."""
        tokens = tuple(
            hidden_token(token, lambda word: self._hash("token", [word])[:_TOKEN_DIGITS]) for token in query.tokens
        )
        return CanonicalQuery(tokens, query.deictic, query.precision)

    def _hash(self, kind: str, parts: list[object]) -> str:
        text = json.dumps([kind, *parts], ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        return hmac.new(self._secret, text, hashlib.sha256).hexdigest()
