-- The tombstone ledger, read and replayed across tenants: as the owner, whom row-level security does not bind.

-- name: receipt_states
SELECT receipt_id, state FROM forget_receipt

-- name: receipts
SELECT tenant_id, namespace_id, receipt_id, state, memory_ids, event_ids, session_id, tombstoned_at, purge_after
FROM forget_receipt WHERE receipt_id = ANY (%(ids)s)
ORDER BY tombstoned_at, receipt_id

-- name: deletions
SELECT tenant_id, namespace_id, deleted_at FROM namespace WHERE deleted_at IS NOT NULL
UNION ALL
SELECT tenant_id, NULL, deleted_at FROM tenant WHERE deleted_at IS NOT NULL

-- name: namespace
SELECT name FROM namespace
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND deleted_at IS NULL

-- name: current_generation
SELECT ordinal FROM model_generation WHERE current

-- What the ledger proves to be deleted was held by nobody any more.
-- name: drop_namespace_holds
DELETE FROM legal_hold WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s

-- name: drop_tenant_holds
DELETE FROM legal_hold WHERE tenant_id = %(tenant_id)s

-- name: tenant_name
SELECT name FROM tenant WHERE tenant_id = %(tenant_id)s AND deleted_at IS NULL

-- name: delete_tenant
SELECT rearview_delete_tenant(%(name)s, %(now)s)

-- name: receipt_state
SELECT state, purge_started_at IS NOT NULL AS started FROM forget_receipt
WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s
FOR UPDATE

-- name: hasten
UPDATE forget_receipt SET purge_after = least(purge_after, %(now)s)
WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s AND state = 1

-- Long enough for the restore that follows.
-- name: put_off
UPDATE forget_receipt SET purge_after = greatest(purge_after, %(now)s + interval '1 hour')
WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s AND state = 1 AND purge_started_at IS NULL

-- name: hasten_job
UPDATE procrastinate_jobs SET scheduled_at = %(now)s
WHERE lock = format('purge:%%s:%%s', %(tenant_id)s::uuid, %(receipt_id)s::uuid) AND status = 'todo'
RETURNING id

-- What is still to be erased: forgets whose time has come and that no hold stops, namespaces, tenants.
-- name: unfinished
SELECT (SELECT count(*) FROM forget_receipt r
        WHERE r.state = 2 OR (r.state = 1 AND r.purge_after <= now()
                              AND (r.purge_started_at IS NOT NULL OR NOT rearview_receipt_held(r.tenant_id, r.receipt_id))))
     + (SELECT count(*) FROM operation o WHERE o.kind = 'erase_namespace' AND o.ended_at IS NULL)
     + (SELECT count(*) FROM tenant t WHERE t.deleted_at IS NOT NULL AND t.erased_at IS NULL)

-- name: held
SELECT count(*) FROM forget_receipt r
WHERE r.state = 1 AND r.purge_after <= now() AND r.purge_started_at IS NULL AND rearview_receipt_held(r.tenant_id, r.receipt_id)
