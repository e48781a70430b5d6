-- Operations.

-- name: begin
INSERT INTO operation (tenant_id, operation_id, kind, arguments, started_at)
VALUES (%(tenant_id)s, %(operation_id)s, %(kind)s, %(arguments)s, %(now)s)

-- name: get
SELECT o.operation_id, o.kind, o.started_at, o.arguments, o.completed, o.total, o.counts, o.error, o.ended_at,
       r.policy_version, r.categories, r.counts, r.verified_at
FROM operation o LEFT JOIN rescan_receipt r ON r.tenant_id = o.tenant_id AND r.operation_id = o.operation_id
WHERE o.tenant_id = %(tenant_id)s AND o.operation_id = %(operation_id)s

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
