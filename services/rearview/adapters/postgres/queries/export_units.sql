-- Reading search units for an export.

-- Fresh before main before warm, always: a unit that moves meanwhile is then found in one of them.
-- name: units
SELECT memory_id, unit_id, occurred_at, flags, halfvec_send(embedding), sparsevec_send(sv)
FROM search_unit_fresh_{generation}
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s) AND state <> 2
UNION ALL
SELECT memory_id, unit_id, occurred_at, flags, halfvec_send(embedding), sparsevec_send(sv)
FROM search_unit_{generation}
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s) AND state <> 2
UNION ALL
SELECT memory_id, unit_id, occurred_at, flags, halfvec_send(embedding), sparsevec_send(sv)
FROM search_unit_warm_{generation}
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s) AND state <> 2
