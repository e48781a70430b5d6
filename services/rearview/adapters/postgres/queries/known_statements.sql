-- What a namespace may know already of what a batch of turns says.

-- How often the namespace was written to: whoever has counted its own write holds the row, and is told of all others'.
-- name: writes
SELECT writes FROM namespace_statistics WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s

-- name: candidates
-- Vector candidates come from the search tables, whose vectors are smoothed: they propose, and are compared afresh.
-- What is proposed is few, and looked up by its ids, whatever the statistics know of the namespace.
WITH asked AS (
  SELECT r.number, r.embedding, r.bands
  FROM json_to_recordset(%(turns)s::json) AS r (number int, embedding halfvec, bands int4[])),
proposed AS (
  SELECT a.number, v.unit_id
  FROM rearview_near_units_of({generation}::int2, %(tenant_id)s, %(namespace_id)s,
                              ARRAY(SELECT a.embedding FROM asked a ORDER BY a.number), %(near)s::int) AS v
  JOIN (SELECT a.number, row_number() OVER (ORDER BY a.number) AS place FROM asked a) a ON a.place = v.place
  UNION
  SELECT a.number, b.event_id FROM asked a
  CROSS JOIN LATERAL rearview_events_by_bands(%(tenant_id)s, %(namespace_id)s, a.bands, %(alike)s::int) AS b),
units AS (
  SELECT u.* FROM (SELECT DISTINCT p.unit_id FROM proposed p) p
  CROSS JOIN LATERAL (
    SELECT u.unit_id, u.memory_id, u.flags, u.embedding FROM search_unit_fresh_{generation} u
    WHERE u.tenant_id = %(tenant_id)s AND u.namespace_id = %(namespace_id)s AND u.unit_id = p.unit_id AND u.state = 0
    UNION ALL
    SELECT u.unit_id, u.memory_id, u.flags, u.embedding FROM search_unit_{generation} u
    WHERE u.tenant_id = %(tenant_id)s AND u.namespace_id = %(namespace_id)s AND u.unit_id = p.unit_id AND u.state = 0
    LIMIT 1) u)
SELECT DISTINCT ON (p.number, u.unit_id)
       p.number, u.unit_id, u.memory_id, u.flags, m.type, m.occurred_at AS memory_occurred_at,
       coalesce(1 - (u.embedding <=> a.embedding), 0) AS cosine,
       CASE WHEN e.event_id IS NULL THEN m.content END AS memory_content,
       e.event_id, e.sequence, e.role, e.speaker, e.content, e.tool_call, e.image_caption, e.redactions, e.occurred_at,
       e.created_at
FROM proposed p
JOIN asked a ON a.number = p.number
JOIN units u ON u.unit_id = p.unit_id
JOIN memory m ON m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = u.memory_id
  AND m.memory_id = ANY (ARRAY(SELECT memory_id FROM units)) AND m.state = 1 AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
LEFT JOIN event e ON e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.event_id = u.unit_id
WHERE (e.event_id IS NOT NULL AND NOT e.tombstoned) OR (e.event_id IS NULL AND m.type NOT IN (1, 7) AND m.origin = 1 AND NOT m.derived)
ORDER BY p.number, u.unit_id
