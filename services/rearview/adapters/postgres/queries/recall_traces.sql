-- Traces of recalls.

-- name: insert_trace
INSERT INTO recall_trace (tenant_id, trace_id, principal, namespaces, trace, created_at)
VALUES (%(tenant)s, %(trace_id)s, %(principal)s, %(namespaces)s::uuid[], %(trace)s, %(created_at)s)
ON CONFLICT (tenant_id, trace_id) DO NOTHING;

-- name: get_trace
SELECT t.principal, t.namespaces, t.trace FROM recall_trace t WHERE t.tenant_id = %(tenant)s AND t.trace_id = %(trace_id)s;
