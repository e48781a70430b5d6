-- Operations.

-- name: begin
INSERT INTO operation (tenant_id, operation_id, kind, arguments, started_at)
VALUES (%(tenant_id)s, %(operation_id)s, %(kind)s, %(arguments)s, %(now)s)

-- name: get
SELECT operation_id, kind, started_at, arguments, completed, total, counts, error, ended_at FROM operation
WHERE tenant_id = %(tenant_id)s AND operation_id = %(operation_id)s

-- name: expect
UPDATE operation SET total = %(total)s WHERE tenant_id = %(tenant_id)s AND operation_id = %(operation_id)s

-- name: progress
UPDATE operation
SET completed = completed + %(completed)s,
    counts = counts || (SELECT coalesce(jsonb_object_agg(c.key, c.value::bigint + coalesce((counts ->> c.key)::bigint, 0)), '{}')
                        FROM jsonb_each_text(%(counts)s::jsonb) c)
WHERE tenant_id = %(tenant_id)s AND operation_id = %(operation_id)s

-- name: end
UPDATE operation SET ended_at = %(now)s, error = %(error)s
WHERE tenant_id = %(tenant_id)s AND operation_id = %(operation_id)s AND ended_at IS NULL
