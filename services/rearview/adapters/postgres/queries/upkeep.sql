-- Rounds over all tenants: functions of the owner, which delete by their own rules and return ids only.

-- name: expire_requests
SELECT rearview_expire_requests(%(limit)s::int)

-- name: expire_recall_traces
SELECT rearview_expire_recall_traces(%(limit)s::int)

-- name: expire_unit_changes
SELECT rearview_expire_unit_changes(%(limit)s::int)

-- name: drop_generations
SELECT rearview_drop_generations(%(age)s::interval)

-- name: silent_sessions
SELECT tenant_id, namespace_id, session_id FROM rearview_silent_sessions(%(age)s::interval, %(limit)s::int)

-- name: unmerged_namespaces
SELECT tenant_id, namespace_id FROM rearview_unmerged_namespaces(%(age)s::interval, %(limit)s::int)

-- name: overdue_purges
SELECT tenant_id, receipt_id FROM rearview_overdue_purges(%(age)s::interval, %(limit)s::int)
