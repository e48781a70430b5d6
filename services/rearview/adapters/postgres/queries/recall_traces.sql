-- Traces of recalls.

-- A trace comes after its answer. One of something that was purged meanwhile would outlive the purge: it is not kept.
-- name: insert_trace
INSERT INTO recall_trace (tenant_id, trace_id, principal, namespaces, trace, created_at)
SELECT %(tenant)s, %(trace_id)s, %(principal)s, %(namespaces)s::uuid[], %(trace)s, %(created_at)s
WHERE NOT EXISTS (SELECT FROM tombstone t WHERE t.tenant_id = %(tenant)s
                  AND t.namespace_id = ANY (%(namespaces)s::uuid[]) AND t.resource_id = ANY (%(resources)s::uuid[]))
ON CONFLICT (tenant_id, trace_id) DO NOTHING;

-- name: get_trace
SELECT t.principal, t.namespaces, t.trace FROM recall_trace t WHERE t.tenant_id = %(tenant)s AND t.trace_id = %(trace_id)s;
