"""The configuration of migrations, from the environment."""

from pydantic import Field, SecretStr

from rearview.rpc.settings import Settings


class MigrateConfig(Settings):
    """Read once; a bad value is reported by its variable's name, without the value."""

    database_owner_url: SecretStr
    migrate_wait_seconds: float = Field(default=60.0, ge=0, le=3600)
    migrate_lock_timeout_seconds: float = Field(default=600.0, gt=0, le=86_400)
