"""The passwords and keys of a stack: made once, kept in `secrets.json` (0600), never printed."""

from __future__ import annotations

import secrets
from dataclasses import MISSING, asdict, dataclass, fields, replace
from pathlib import Path

from rearview.embedded.errors import SecretsInvalid
from rearview.embedded.private_files import read_json, write_private_json


@dataclass(frozen=True, slots=True, repr=False)
class StackSecrets:
    """Everything a stack must keep to itself; URL-safe text throughout."""

    postgres_superuser_password: str
    postgres_owner_password: str
    postgres_service_password: str
    postgres_operator_password: str
    valkey_password: str
    s3_access_key: str
    s3_secret_key: str
    internal_key: str
    operator_key: str
    audit_key: str = ""  # stacks of earlier versions lack it until they are started again

    def __repr__(self) -> str:
        return "StackSecrets(...)"

    @classmethod
    def generate(cls) -> StackSecrets:
        """Return new secrets, 256 bits each (the S3 access key is a name, not a secret)."""
        return cls(
            postgres_superuser_password=secrets.token_urlsafe(32),
            postgres_owner_password=secrets.token_urlsafe(32),
            postgres_service_password=secrets.token_urlsafe(32),
            postgres_operator_password=secrets.token_urlsafe(32),
            valkey_password=secrets.token_urlsafe(32),
            s3_access_key=secrets.token_hex(10),
            s3_secret_key=secrets.token_urlsafe(32),
            internal_key=secrets.token_urlsafe(32),
            operator_key=f"rv_operator_{secrets.token_urlsafe(32)}",
            audit_key=secrets.token_urlsafe(32),
        )


@dataclass(frozen=True, slots=True, repr=False)
class TenantKeys:
    """The first tenant and its keys' secrets, which the API shows only once."""

    tenant_id: str
    admin_key: str
    api_key: str

    def __repr__(self) -> str:
        return f"TenantKeys(tenant_id={self.tenant_id!r}, ...)"


class SecretsFile:
    """`secrets.json`. Only the process that holds the data folder's lock may write it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> StackSecrets | None:
        """Return the stack's secrets, None when there are none yet.

        Raises:
            SecretsInvalid: the file is there but not what this program wrote.
        """
        content = self._content()
        if content is None:
            return None
        names = [field.name for field in fields(StackSecrets)]
        needed = [field.name for field in fields(StackSecrets) if field.default is MISSING]
        missing = [name for name in needed if not isinstance(content.get(name), str) or not content[name]]
        if missing:
            raise SecretsInvalid(
                f"{self._path} lacks {', '.join(missing)}; restore the file from a backup: the data was made with it"
            )
        return StackSecrets(**{name: str(content[name]) for name in names if name in content})

    def load_or_create(self) -> StackSecrets:
        """Return the stack's secrets, made and written first when there are none."""
        found = self.load()
        if found is not None:
            self._path.chmod(0o600)
            if not found.audit_key:
                found = replace(found, audit_key=StackSecrets.generate().audit_key)
                write_private_json(self._path, {**(self._content() or {}), **asdict(found)})
            return found
        made = StackSecrets.generate()
        write_private_json(self._path, asdict(made))
        return made

    def tenant_keys(self) -> TenantKeys | None:
        """Return the first tenant's keys, None before they were made."""
        kept = (self._content() or {}).get("tenant")
        if not isinstance(kept, dict):
            return None
        return TenantKeys(**{field.name: str(kept[field.name]) for field in fields(TenantKeys)})

    def keep_tenant_keys(self, keys: TenantKeys) -> None:
        """Add the first tenant's keys to the file."""
        write_private_json(self._path, {**(self._content() or {}), "tenant": asdict(keys)})

    def _content(self) -> dict[str, object] | None:
        content = read_json(self._path)
        if content is None and self._path.exists():
            raise SecretsInvalid(f"{self._path} is not a JSON object; restore it from a backup")
        return content
