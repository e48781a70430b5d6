#!/bin/sh
# `server FOLDER` as MinIO takes it.
set -eu
export AWS_ACCESS_KEY_ID="$MINIO_ROOT_USER" AWS_SECRET_ACCESS_KEY="$MINIO_ROOT_PASSWORD" HOME=/tmp
exec weed -logtostderr=true mini -dir="$2" -ip=127.0.0.1 -ip.bind=0.0.0.0 -s3.port=9000 -master.telemetry=false \
  -webdav=false -admin.ui=false -s3.port.iceberg=0 -s3.port.lance=0 -volume.preStopSeconds=0
