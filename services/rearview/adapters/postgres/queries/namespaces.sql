-- Namespaces, grants and subscriptions of one tenant, and who reaches what.

-- Of the namespaces that a request is about, those that a principal may at least read: its own, those with a grant,
-- public ones; an admin all of its tenant. A token may bring grants of its own. A credential's own list of namespaces,
-- where it has one, narrows all that. A request is about the namespaces it names, those of the receipt or trace it
-- names, and its principal's subscriptions where it recalls.
-- name: reach
WITH concerned AS (
  SELECT n.namespace_id FROM namespace n
  WHERE n.tenant_id = %(tenant_id)s AND n.name = ANY (%(names)s) AND n.deleted_at IS NULL
  UNION
  SELECT s.namespace_id FROM namespace_subscription s
  WHERE %(subscribed)s AND s.tenant_id = %(tenant_id)s AND s.principal = %(principal)s
  UNION
  SELECT r.namespace_id FROM forget_receipt r
  WHERE r.tenant_id = %(tenant_id)s AND r.receipt_id = %(receipt_id)s::uuid
  UNION
  SELECT unnest(t.namespaces) FROM recall_trace t
  WHERE t.tenant_id = %(tenant_id)s AND t.trace_id = %(trace_id)s::uuid
)
SELECT n.name, n.namespace_id,
       %(admin)s OR n.owner = %(principal)s AS owned,
       %(admin)s OR n.owner = %(principal)s OR coalesce(g.access = 'write', false)
         OR n.name = ANY (%(granted_write)s::text[]) AS writable
FROM concerned c
JOIN namespace n ON n.tenant_id = %(tenant_id)s AND n.namespace_id = c.namespace_id AND n.deleted_at IS NULL
LEFT JOIN namespace_grant g
  ON g.tenant_id = n.tenant_id AND g.namespace_id = n.namespace_id AND g.principal = %(principal)s
WHERE (cardinality(%(only)s::text[]) = 0 OR n.name = ANY (%(only)s))
  AND (%(admin)s OR n.owner = %(principal)s OR n.visibility = 2 OR g.access IS NOT NULL
       OR n.name = ANY (%(granted)s::text[]))
ORDER BY n.name

-- How many namespaces a receipt or trace is about; no row when there is none such.
-- name: count_of_receipt
SELECT 1 FROM forget_receipt WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s

-- name: count_of_trace
SELECT cardinality(namespaces) FROM recall_trace WHERE tenant_id = %(tenant_id)s AND trace_id = %(trace_id)s

-- name: insert
INSERT INTO namespace (tenant_id, namespace_id, name, display_name, visibility, owner, forget_grace_period,
                       created_at, updated_at)
VALUES (%(tenant_id)s, %(namespace_id)s, %(name)s, %(display_name)s, %(visibility)s, %(owner)s,
        %(forget_grace_period)s, %(created_at)s, %(created_at)s)

-- name: get
SELECT n.namespace_id, n.name, n.owner, n.created_at, n.updated_at, n.display_name, n.visibility,
       n.forget_grace_period, coalesce(s.memories, 0), n.version
FROM namespace n
LEFT JOIN namespace_statistics s ON s.tenant_id = n.tenant_id AND s.namespace_id = n.namespace_id
WHERE n.tenant_id = %(tenant_id)s AND n.namespace_id = %(namespace_id)s AND n.deleted_at IS NULL

-- name: page_of_readable
SELECT n.namespace_id, n.name, n.owner, n.created_at, n.updated_at, n.display_name, n.visibility,
       n.forget_grace_period, coalesce(s.memories, 0), n.version
FROM namespace n
LEFT JOIN namespace_grant g
  ON g.tenant_id = n.tenant_id AND g.namespace_id = n.namespace_id AND g.principal = %(principal)s
LEFT JOIN namespace_statistics s ON s.tenant_id = n.tenant_id AND s.namespace_id = n.namespace_id
WHERE n.tenant_id = %(tenant_id)s AND n.deleted_at IS NULL AND n.name > %(after)s
  AND (cardinality(%(only)s::text[]) = 0 OR n.name = ANY (%(only)s))
  AND (%(admin)s OR n.owner = %(principal)s OR n.visibility = 2 OR g.access IS NOT NULL
       OR n.name = ANY (%(granted)s::text[]))
ORDER BY n.name
LIMIT %(limit)s

-- Locks the namespace, so that changes to it and to its grants come one after the other.
-- name: lock
SELECT version FROM namespace
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND deleted_at IS NULL
FOR UPDATE

-- name: update
UPDATE namespace
SET display_name = coalesce(%(display_name)s, display_name),
    visibility = coalesce(%(visibility)s, visibility),
    forget_grace_period = coalesce(%(forget_grace_period)s, forget_grace_period),
    updated_at = %(now)s,
    version = version + 1
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s

-- name: holds_anything
SELECT EXISTS (SELECT FROM memory
               WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND state <> 4)
    OR EXISTS (SELECT FROM event
               WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND NOT tombstoned)

-- name: mark_deleted
UPDATE namespace SET deleted_at = %(now)s, updated_at = %(now)s, version = version + 1
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s

-- name: delete_grants
DELETE FROM namespace_grant WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s

-- name: delete_subscriptions
DELETE FROM namespace_subscription WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s

-- name: grant
INSERT INTO namespace_grant (tenant_id, namespace_id, principal, access, created_at)
VALUES (%(tenant_id)s, %(namespace_id)s, %(principal)s, %(access)s, %(created_at)s)
ON CONFLICT (tenant_id, namespace_id, principal) DO UPDATE SET access = excluded.access
RETURNING created_at

-- name: revoke
DELETE FROM namespace_grant
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND principal = %(principal)s
RETURNING principal

-- name: subscribe
INSERT INTO namespace_subscription (tenant_id, namespace_id, principal, created_at)
VALUES (%(tenant_id)s, %(namespace_id)s, %(principal)s, %(now)s)
ON CONFLICT DO NOTHING
RETURNING principal

-- name: unsubscribe
DELETE FROM namespace_subscription
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND principal = %(principal)s
RETURNING principal

-- name: bump_breaking_epoch
SELECT rearview_bump_epoch(%(tenant_id)s, %(namespace_id)s, true)
