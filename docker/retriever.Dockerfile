# Finds and explains. `--build-arg EXTRAS="server language models"` adds torch, for cross-encoders.
ARG PYTHON=docker.io/library/python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b

# hadolint ignore=DL3006
FROM ${PYTHON} AS build
WORKDIR /source
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/rearview
COPY pyproject.toml constraints.txt docker/requirements.py docker/sbom.py ./
ARG EXTRAS="server language"
# hadolint ignore=SC2086
RUN python requirements.py ${EXTRAS} > requirements.txt \
 && /opt/rearview/bin/pip install --constraint constraints.txt --requirement requirements.txt \
 && /opt/rearview/bin/pip uninstall --yes pip setuptools \
 && mkdir /opt/sbom \
 && /opt/rearview/bin/python sbom.py > /opt/sbom/rearview-retriever.cdx.json
COPY services/rearview /opt/app/rearview
COPY docker/health.py /opt/app/health.py
RUN python -m compileall -q /opt/app

# hadolint ignore=DL3006
FROM ${PYTHON}
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG BASE=docker.io/library/python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b
LABEL org.opencontainers.image.title="rearview-retriever" \
      org.opencontainers.image.description="Finds and explains." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${BASE}" \
      io.rearview.sbom="/opt/sbom/rearview-retriever.cdx.json"
RUN groupadd --gid 10001 rearview \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin rearview
COPY --from=build /opt/rearview /opt/rearview
COPY --from=build /opt/sbom /opt/sbom
COPY --from=build /opt/app /opt/app
ENV PATH=/opt/rearview/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONPATH=/opt/app \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /tmp
EXPOSE 50053 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=6 CMD ["python", "/opt/app/health.py", "127.0.0.1:50053"]
ENTRYPOINT ["python", "-m", "rearview.retriever"]
