#!/bin/sh
# Writes docker/.env with new passwords and keys for compose.yaml, unless it is there.
set -eu
cd "$(dirname "$0")"
[ -e .env ] && { echo ".env is there already; nothing done"; exit 0; }
secret() { od -An -tx1 -N24 /dev/urandom | tr -d ' \n'; }
umask 077
{
  for name in POSTGRES_PASSWORD POSTGRES_OWNER_PASSWORD POSTGRES_SERVICE_PASSWORD POSTGRES_OPERATOR_PASSWORD \
    REDIS_PASSWORD INTERNAL_KEY AUDIT_KEY S3_SECRET_KEY GRAFANA_PASSWORD; do
    echo "$name=$(secret)"
  done
  echo "S3_ACCESS_KEY=rearview"
  echo "OPERATOR_KEY=rv_operator_$(secret)"
} > .env
echo "wrote docker/.env"
