"""What stands around every call. From the outside in: errors, refused streams, tracing, metrics, access log, then who
may call and whose turn it is (in the gateway the turn comes first), request size."""

from rearview.rpc.interceptors.access_log_interceptor import AccessLogInterceptor
from rearview.rpc.interceptors.call_interceptor import CallInterceptor, IncomingCall
from rearview.rpc.interceptors.error_interceptor import ErrorInterceptor
from rearview.rpc.interceptors.identity_interceptor import IdentityInterceptor
from rearview.rpc.interceptors.known_handlers import KnownHandlers
from rearview.rpc.interceptors.load_shedding_interceptor import LoadSheddingInterceptor
from rearview.rpc.interceptors.metrics_interceptor import MetricsInterceptor
from rearview.rpc.interceptors.refused_stream_interceptor import RefusedStreamInterceptor
from rearview.rpc.interceptors.request_size_interceptor import RequestSizeInterceptor
from rearview.rpc.interceptors.tracing_interceptor import TracingInterceptor

__all__ = [
    "AccessLogInterceptor",
    "CallInterceptor",
    "ErrorInterceptor",
    "IdentityInterceptor",
    "IncomingCall",
    "KnownHandlers",
    "LoadSheddingInterceptor",
    "MetricsInterceptor",
    "RefusedStreamInterceptor",
    "RequestSizeInterceptor",
    "TracingInterceptor",
]
