#!/bin/sh
# Prints the Secret `rearview` for rendered.yaml, with new passwords and keys:
#   k8s/make-secret.sh NAMESPACE | kubectl apply -f -
set -eu
namespace="${1:?usage: make-secret.sh NAMESPACE}"
secret() { od -An -tx1 -N24 /dev/urandom | tr -d ' \n'; }
owner=$(secret) service=$(secret) operator=$(secret) redis=$(secret)
database="rv-rearview-postgresql.$namespace.svc.cluster.local:5432/rearview"
cat <<EOF
apiVersion: v1
kind: Secret
metadata:
  name: rearview
  namespace: $namespace
type: Opaque
stringData:
  postgres-password: $(secret)
  postgres-owner-password: $owner
  postgres-service-password: $service
  postgres-operator-password: $operator
  redis-password: $redis
  database-owner-url: postgresql://rearview_owner:$owner@$database
  database-url: postgresql://rearview_service:$service@$database
  operator-database-url: postgresql://rearview_operator:$operator@$database
  redis-url: redis://:$redis@rv-rearview-redis.$namespace.svc.cluster.local:6379/0
  internal-key: $(secret)
  audit-key: $(secret)
  operator-key: rv_operator_$(secret)
  s3-access-key: rearview
  s3-secret-key: $(secret)
EOF
