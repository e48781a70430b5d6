"""The gateway's configuration, from the environment. All bad values are reported at once, none is printed."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from rearview.gateway.api_key import parse_key
from rearview.rpc.identity import MIN_KEY_BYTES

_ADDRESS = re.compile(r"(?:[a-z0-9+]+:///?)?(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9_.*-]+):[0-9]{1,5}", re.ASCII)


def _address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise ValueError("must have the form host:port")
    return text


def _internal_key(key: SecretStr) -> SecretStr:
    if len(key.get_secret_value().encode()) < MIN_KEY_BYTES:
        raise ValueError(f"must have at least {MIN_KEY_BYTES} bytes")
    return key


def _operator_key(key: SecretStr) -> SecretStr:
    if parse_key(key.get_secret_value()) is None:
        raise ValueError("must have the form rv_<8 to 16 of a-z, 0-9>_<43 to 128 of A-Z, a-z, 0-9, _ and ->")
    return key


Address = Annotated[str, AfterValidator(_address)]


class GatewayConfig(BaseSettings):
    """Read once; the variables carry the prefix `REARVIEW_`.

    Attributes:
        listen: where the public API is served.
        metrics_port: where Prometheus metrics are served, on the interface of `listen`; None serves none.
        database_url: PostgreSQL as the role rearview_service.
        operator_database_url: PostgreSQL as the role rearview_operator.
        internal_key: signs the identities that the services behind check, and page tokens.
        operator_key: the operator's API key; without it nobody is the operator.
        embedder: kind and model, as `onnx:multilingual-e5-small`.
        embed_budget_seconds: how long a recall waits for its query's vector at most; then it goes on without.
        embed_max_pending: how many queries may wait for the embedder; further ones go on without a vector.
    """

    model_config = SettingsConfigDict(env_prefix="REARVIEW_", frozen=True, hide_input_in_errors=True)

    listen: Address = "127.0.0.1:50051"
    metrics_port: int | None = Field(default=None, ge=0, le=65_535)
    database_url: SecretStr
    operator_database_url: SecretStr
    max_connections: int = Field(default=10, ge=1, le=1_000)
    internal_key: Annotated[SecretStr, AfterValidator(_internal_key)]
    operator_key: Annotated[SecretStr, AfterValidator(_operator_key)] | None = None
    writer_address: Address
    retriever_address: Address
    lifecycle_address: Address
    model_dir: Path = Path("~/.cache/rearview/models")
    embedder: str = Field(
        default="onnx:multilingual-e5-small", pattern=r"^(onnx|sentence-transformers|flag|http):[^\s]+$"
    )
    embedder_url: str | None = None
    embedder_api_key: SecretStr | None = None
    embed_budget_seconds: float = Field(default=1.0, gt=0, le=60)
    embed_max_pending: int = Field(default=64, ge=1, le=10_000)
    max_concurrent_calls: int = Field(default=1_000, ge=1, le=100_000)
    drain_seconds: float = Field(default=10.0, ge=0, le=600)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"
