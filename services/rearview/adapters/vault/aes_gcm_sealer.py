"""Sealing with AES-256-GCM, under a key of each tenant's own, bound to the resource that the original belongs to."""

import json
import os
from collections.abc import Sequence
from functools import lru_cache
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from rearview.domain.redaction import VAULT_KEY_BYTES, Original, Sealed, VaultKey
from rearview.ports.sealing import SealBroken

_NONCE_BYTES = 12
_PURPOSE = b"rearview vault 1"
_MAX_TENANT_KEYS = 1_000


class AesGcmSealer:
    """The `Sealer` port. The first key seals, every key opens what it sealed."""

    def __init__(self, keys: Sequence[VaultKey]) -> None:
        """Take at least one key."""
        self._keys = {key.key_id: key.secret for key in keys}
        self._current = keys[0].key_id
        self._cipher = lru_cache(_MAX_TENANT_KEYS)(self._made_cipher)

    def seal(self, tenant_id: UUID, resource_id: UUID, original: Original) -> Sealed:
        """Return the original, sealed; see `Sealer.seal`."""
        plain = json.dumps([original.content, dict(original.values)], ensure_ascii=False).encode()
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._cipher(self._current, tenant_id).encrypt(nonce, plain, resource_id.bytes)
        return Sealed(self._current, nonce + sealed)

    def open(self, tenant_id: UUID, resource_id: UUID, sealed: Sealed) -> Original:
        """Return what was sealed; see `Sealer.open`."""
        if sealed.key_id not in self._keys:
            raise SealBroken(f"the vault's key {sealed.key_id} is not configured")
        nonce, data = sealed.data[:_NONCE_BYTES], sealed.data[_NONCE_BYTES:]
        try:
            plain = self._cipher(sealed.key_id, tenant_id).decrypt(nonce, data, resource_id.bytes)
        except (InvalidTag, ValueError) as error:
            raise SealBroken("what was sealed was changed, or sealed with another key of this id") from error
        content, values = json.loads(plain)
        return Original(content, values)

    def _made_cipher(self, key_id: str, tenant_id: UUID) -> AESGCM:
        # A key for each tenant keeps the number of random nonces under one key far below what GCM allows.
        derived = HKDF(SHA256(), VAULT_KEY_BYTES, salt=None, info=_PURPOSE + tenant_id.bytes)
        return AESGCM(derived.derive(self._keys[key_id]))
