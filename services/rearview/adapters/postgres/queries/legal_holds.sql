-- Legal holds.

-- name: set
INSERT INTO legal_hold (tenant_id, hold_id, namespace_id, scope, target, names, patterns, principal, created_at)
VALUES (%(tenant_id)s, %(hold_id)s, %(namespace_id)s, %(scope)s, %(target)s, %(names)s, %(patterns)s, %(principal)s, %(now)s)
ON CONFLICT (tenant_id, namespace_id, scope, target) DO NOTHING
RETURNING hold_id

-- name: lift
DELETE FROM legal_hold
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND scope = %(scope)s AND target = %(target)s
RETURNING hold_id

-- What is forgotten and not purged yet can still be held.
-- name: memory_exists
SELECT FROM memory WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = %(target)s::uuid

-- name: session_exists
SELECT FROM session WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(target)s

-- The first of these memories and events on which a hold stands.
-- name: first_held
SELECT x.kind, x.id, x.session_id, x.hold_id FROM (
  SELECT 'memory' AS kind, i AS id, '' AS session_id, rearview_memory_hold(%(tenant_id)s, %(namespace_id)s, i) AS hold_id
  FROM unnest(%(memory_ids)s::uuid[]) AS i
  UNION ALL
  SELECT 'event', e.event_id, e.session_id, rearview_event_hold(%(tenant_id)s, %(namespace_id)s, e.event_id)
  FROM event e
  WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.event_id = ANY (%(event_ids)s::uuid[])) x
WHERE EXISTS (SELECT FROM legal_hold h WHERE h.tenant_id = %(tenant_id)s AND h.namespace_id = %(namespace_id)s)
  AND x.hold_id IS NOT NULL
LIMIT 1

-- name: hold_of_namespace
SELECT hold_id FROM legal_hold WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s ORDER BY hold_id LIMIT 1

-- name: standing
SELECT h.hold_id, n.name, h.scope, h.target, h.principal, h.created_at
FROM legal_hold h JOIN namespace n ON n.tenant_id = h.tenant_id AND n.namespace_id = h.namespace_id
WHERE h.tenant_id = %(tenant_id)s AND (%(namespace_id)s::uuid IS NULL OR h.namespace_id = %(namespace_id)s::uuid)
  AND (%(after_time)s::timestamptz IS NULL OR (h.created_at, h.hold_id) < (%(after_time)s::timestamptz, %(after_id)s::uuid))
ORDER BY h.created_at DESC, h.hold_id DESC LIMIT %(limit)s::int
