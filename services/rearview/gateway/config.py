"""The gateway's configuration, from the environment."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, SecretStr

from rearview.gateway.api_key import parse_key
from rearview.gateway.services_tls_config import ServicesTlsConfig
from rearview.gateway.tokens.config import TokenConfig
from rearview.rpc.service_config import EmbedderConfig, ServiceConfig, VaultConfig
from rearview.rpc.settings import Listen, Target


def _operator_key(key: SecretStr) -> SecretStr:
    if parse_key(key.get_secret_value()) is None:
        raise ValueError("must have the form rv_<8 to 16 of a-z, 0-9>_<43 to 128 of A-Z, a-z, 0-9, _ and ->")
    return key


class GatewayConfig(TokenConfig, ServicesTlsConfig, EmbedderConfig, VaultConfig, ServiceConfig):
    """Read once; the variables carry the prefix `REARVIEW_`.

    Attributes:
        operator_database_url: PostgreSQL as the role rearview_operator.
        operator_key: the operator's API key; without it nobody is the operator.
        embed_budget_seconds: how long a recall waits for its query's vector at most; then it goes on without.
        embed_max_pending: how many queries may wait for the embedder; further ones go on without a vector.
        redis_url: where answers are cached and rates are kept for all replicas; without it no answer is cached, and
            each replica keeps rates of its own.
        default_requests_per_second: the limit of tenants that have none of their own; 0 is none.
        rate_burst_seconds: the requests of so many seconds may come at once.
        cache_seconds: how long an answer may be used again at most; 0 turns the cache off.
        cache_max_entries: how many answers are kept for one tenant, of at most 64 KiB each.
        cache_cosine: the similarity of the centred vectors from which on two queries may share an answer; unless given,
            the one that the model was calibrated to.
    """

    mutual: ClassVar[bool] = False

    listen: Listen = "127.0.0.1:50051"
    # What they take together is what each of them takes longer.
    max_running_calls: int = Field(default=16, ge=1, le=10_000)
    operator_database_url: SecretStr
    operator_key: Annotated[SecretStr, AfterValidator(_operator_key)] | None = None
    writer_address: Target
    retriever_address: Target
    lifecycle_address: Target
    embed_budget_seconds: float = Field(default=1.0, gt=0, le=60)
    embed_max_pending: int = Field(default=64, ge=1, le=10_000)
    redis_url: SecretStr | None = None
    default_requests_per_second: int = Field(default=0, ge=0, le=1_000_000)
    rate_burst_seconds: float = Field(default=1.0, gt=0, le=60)
    cache_seconds: int = Field(default=300, ge=0, le=3_600)
    cache_max_entries: int = Field(default=1_000, ge=1, le=100_000)
    cache_cosine: float | None = Field(default=None, ge=0, le=1)
