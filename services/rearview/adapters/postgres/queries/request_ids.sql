-- Answers of requests that carried a request id. Two calls with one id come one after the other.

-- name: lock
SELECT pg_advisory_xact_lock(hashtextextended(%(key)s, 0))

-- name: find
SELECT method, fingerprint, result FROM request WHERE tenant_id = %(tenant_id)s AND request_id = %(request_id)s

-- name: keep
INSERT INTO request (tenant_id, request_id, method, fingerprint, result, created_at)
VALUES (%(tenant_id)s, %(request_id)s, %(method)s, %(fingerprint)s, %(result)s, %(now)s)
