"""The gRPC side of the services: servers, channels, interceptors, errors on the wire, and conversion to the domain."""
