#!/bin/bash
# Builds every image, one after the other: docker/build.sh [--standin] [IMAGE...]
#
# --standin   for machines that reach no container registry: the base image is made with debootstrap and the Python that
#             runs here (docker/standin-base.sh), and stand-ins of the stores come from wheels. For tests, not for use.
# TAG         of the images; default 0.1.0
# VOLUMES     further folders or files that builds see, read-only, such as a package mirror's; separated by spaces
set -euo pipefail
cd "$(dirname "$0")/.."
tag="${TAG:-0.1.0}"
limits=$(mktemp)
trap 'rm -f "$limits"' EXIT
printf '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n' > "$limits"
export CONTAINERS_CONF="${CONTAINERS_CONF:-$limits}"

options=(--format docker --layers --build-arg "VERSION=$tag" --build-arg "REVISION=$(git rev-parse HEAD)")
for path in /etc/ssl/certs /etc/pip.conf ${VOLUMES:-}; do
  [ -e "$path" ] && options+=(--volume "$path:$path:ro")
done
standins=()
if [ "${1:-}" = --standin ]; then
  shift
  base=localhost/rearview/standin-python:3.11
  buildah images "$base" > /dev/null 2>&1 || docker/standin-base.sh "$base"
  options+=(--isolation chroot --network host --build-arg "PYTHON=$base" --build-arg "BASE=$base")
  standins=(stores/postgresql stores/redis stores/minio)
fi
images=("$@")
[ ${#images[@]} -gt 0 ] || images=("${standins[@]}" migrate gateway writer retriever lifecycle mcp)
for image in "${images[@]}"; do
  name="${image/stores\//standin-}"
  nice buildah bud "${options[@]}" --tag "localhost/rearview/$name:$tag" --file "docker/$image.Dockerfile" .
done
buildah images --filter 'reference=localhost/rearview/*'
