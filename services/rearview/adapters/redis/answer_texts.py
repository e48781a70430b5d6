"""Cached answers as bytes: a JSON header with its length before it, and the answer."""

from base64 import b64decode, b64encode
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import orjson

from rearview.domain.addition import AskedIn
from rearview.domain.canonical_query import CanonicalQuery
from rearview.ports.answer_cache import CachedAnswer
from rearview.ports.epochs import Epoch

_LENGTH_BYTES = 4


def answer_bytes(cached: CachedAnswer) -> bytes:
    """Return an answer as bytes."""
    header = {
        "tokens": list(cached.query.tokens),
        "deictic": cached.query.deictic,
        "precision": cached.query.precision,
        "stored": cached.stored_at.isoformat(),
        "expires": cached.expires_at.isoformat(),
        "turn": cached.last_turn,
        "epochs": {
            str(namespace_id): [epoch.breaking, {str(slot): number for slot, number in epoch.additive.items()}]
            for namespace_id, epoch in cached.epochs.items()
        },
        "asked": {
            str(namespace_id): {
                "keywords": sorted(asked.keywords),
                "entities": sorted(asked.entities),
                "times": asked.has_times,
                "sessions": sorted(asked.sessions),
                "vector": b64encode(np.asarray(asked.vector, dtype="<f4").tobytes()).decode(),
                "noise": {str(language): cosine for language, cosine in asked.noise_cosines.items()},
            }
            for namespace_id, asked in cached.asked.items()
        },
    }
    text = orjson.dumps(header)
    return len(text).to_bytes(_LENGTH_BYTES, "big") + text + cached.answer


def answer_of(value: bytes) -> CachedAnswer:
    """Return the answer of its bytes."""
    end = _LENGTH_BYTES + int.from_bytes(value[:_LENGTH_BYTES], "big")
    header: dict[str, Any] = orjson.loads(value[_LENGTH_BYTES:end])
    return CachedAnswer(
        answer=value[end:],
        query=CanonicalQuery(tuple(header["tokens"]), header["deictic"], header["precision"]),
        stored_at=datetime.fromisoformat(header["stored"]),
        expires_at=datetime.fromisoformat(header["expires"]),
        last_turn=header["turn"],
        epochs={
            UUID(namespace_id): Epoch(breaking, {int(slot): number for slot, number in additive.items()})
            for namespace_id, (breaking, additive) in header["epochs"].items()
        },
        asked={
            UUID(namespace_id): AskedIn(
                keywords=frozenset(asked["keywords"]),
                entities=frozenset(asked["entities"]),
                has_times=asked["times"],
                sessions=frozenset(asked["sessions"]),
                vector=np.frombuffer(b64decode(asked["vector"]), dtype="<f4"),
                noise_cosines={int(language): cosine for language, cosine in asked["noise"].items()},
            )
            for namespace_id, asked in header["asked"].items()
        },
    )
