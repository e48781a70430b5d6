-- Seals over the audit log. A place is a record's time and id.

-- name: unsealed_tenants
SELECT tenant_id FROM rearview_unsealed_tenants(%(until)s::timestamptz, %(limit)s::int)

-- name: last_seal
SELECT number, first_sequence, record_count, after_at, after_id, upto_at, upto_id, leaves, root, previous, key_id,
       sealed_at, code
FROM audit_seal WHERE tenant_id = %(tenant_id)s ORDER BY number DESC LIMIT 1

-- The seal that covers a sequence, or the last one before it where seals are missing.
-- name: seal_at
SELECT number, first_sequence, record_count, after_at, after_id, upto_at, upto_id, leaves, root, previous, key_id,
       sealed_at, code
FROM audit_seal WHERE tenant_id = %(tenant_id)s AND first_sequence <= %(sequence)s ORDER BY number DESC LIMIT 1

-- name: seal_after
SELECT number, first_sequence, record_count, after_at, after_id, upto_at, upto_id, leaves, root, previous, key_id,
       sealed_at, code
FROM audit_seal WHERE tenant_id = %(tenant_id)s AND number > %(number)s ORDER BY number LIMIT 1

-- name: seal_numbered
SELECT number, first_sequence, record_count, after_at, after_id, upto_at, upto_id, leaves, root, previous, key_id,
       sealed_at, code
FROM audit_seal WHERE tenant_id = %(tenant_id)s AND number = %(number)s

-- name: entries
SELECT record_id, recorded_at, principal, action, resource_names, detail, request_id, trace_id FROM audit_record
WHERE tenant_id = %(tenant_id)s AND (recorded_at, record_id) > (%(after_at)s, %(after_id)s)
  AND (recorded_at, record_id) <= (%(upto_at)s, %(upto_id)s)
ORDER BY recorded_at, record_id LIMIT %(limit)s

-- A second worker that seals the same records finds the number taken.
-- name: add_seal
INSERT INTO audit_seal (tenant_id, number, first_sequence, record_count, after_at, after_id, upto_at, upto_id, leaves,
                        root, previous, key_id, sealed_at, code)
VALUES (%(tenant_id)s, %(number)s, %(first_sequence)s, %(record_count)s, %(after_at)s, %(after_id)s, %(upto_at)s,
        %(upto_id)s, %(leaves)s, %(root)s, %(previous)s, %(key_id)s, %(sealed_at)s, %(code)s)
ON CONFLICT (tenant_id, number) DO NOTHING
RETURNING number
