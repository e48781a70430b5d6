"""Channels to a service: message limits, keepalive, round robin over all addresses behind a name."""

from collections.abc import Sequence

import grpc
import grpc.aio

MAX_REQUEST_BYTES = 16 * 1024 * 1024
MAX_RESPONSE_BYTES = 64 * 1024 * 1024

_Options = tuple[tuple[str, int | str], ...]


def channel_options(
    *, max_request_bytes: int = MAX_REQUEST_BYTES, max_response_bytes: int = MAX_RESPONSE_BYTES
) -> _Options:
    """Return grpc's options for a channel of Rearview."""
    return (
        ("grpc.max_send_message_length", max_request_bytes),
        ("grpc.max_receive_message_length", max_response_bytes),
        ("grpc.lb_policy_name", "round_robin"),
        # A peer that vanished without a FIN is noticed within 30 s; servers here allow a ping every 10 s.
        ("grpc.keepalive_time_ms", 20_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.http2.max_pings_without_data", 0),
        # A restarted service is found again quickly; the defaults wait 1 s to 2 min.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 2_000),
        # Despite its name, how long an attempt may take: a peer that is there but busy is waited for.
        ("grpc.min_reconnect_backoff_ms", 5_000),
        # With the shared pool a new channel would inherit the back-off of an older one to the same address.
        ("grpc.use_local_subchannel_pool", 1),
        # Retries are decided where it is known what is safe to repeat.
        ("grpc.enable_retries", 0),
        ("grpc.primary_user_agent", "rearview-python"),
    )


def open_channel(
    address: str,
    *,
    credentials: grpc.ChannelCredentials | None = None,
    interceptors: Sequence[grpc.aio.ClientInterceptor] = (),
    max_request_bytes: int = MAX_REQUEST_BYTES,
    max_response_bytes: int = MAX_RESPONSE_BYTES,
) -> grpc.aio.Channel:
    """Return a channel to `host:port`, plain unless credentials are given; connecting waits for the first call."""
    options = channel_options(max_request_bytes=max_request_bytes, max_response_bytes=max_response_bytes)
    if credentials is None:
        return grpc.aio.insecure_channel(address, options=options, interceptors=list(interceptors))
    return grpc.aio.secure_channel(address, credentials, options=options, interceptors=list(interceptors))


def open_blocking_channel(address: str, *, credentials: grpc.ChannelCredentials | None = None) -> grpc.Channel:
    """Return the same kind of channel for code that blocks."""
    options = channel_options()
    if credentials is None:
        return grpc.insecure_channel(address, options=options)
    return grpc.secure_channel(address, credentials, options=options)
