-- What was written to namespaces since.

-- name: read
SELECT e.namespace_id, e.slot, e.breaking, e.additive
FROM namespace_epoch e
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = ANY (%(namespace_ids)s::uuid[])

-- name: additions
SELECT a.namespace_id, a.session_id, a.keywords, a.entities, a.vectors, a.languages, a.pending_to, a.indexed_to
FROM unnest(%(namespace_ids)s::uuid[], %(slots)s::int2[], %(since)s::int8[], %(until)s::int8[])
       AS asked (namespace_id, slot, since, until)
JOIN namespace_addition a
  ON a.tenant_id = %(tenant_id)s AND a.namespace_id = asked.namespace_id AND a.slot = asked.slot
WHERE a.number > asked.since AND a.number <= asked.until

-- name: note_addition
SELECT rearview_note_addition(%(tenant_id)s::uuid, %(namespace_id)s::uuid, %(session_id)s::text, %(keywords)s::int4[],
                              %(entities)s::int4[], %(vectors)s::bytea, %(languages)s::int2[], %(pending_to)s::int8, %(indexed_to)s::int8)
