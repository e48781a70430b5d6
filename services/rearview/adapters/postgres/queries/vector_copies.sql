-- Copies of vectors: what they are made of, and what has changed since. Units come as three values, each that of all units
-- behind one another as the server sends them: a row for each would take most of the time.

-- name: moment
-- What transactions from this one on write, who reads now may not see.
SELECT pg_snapshot_xmin(pg_current_snapshot())::text;

-- name: page
-- A unit that moves on between two pages is in one of the tables, or in none that a copy holds.
SELECT string_agg(uuid_send(u.unit_id), ''), string_agg(int2send(u.flags), ''), string_agg(halfvec_send(u.embedding), '')
FROM (
  (SELECT h.unit_id, h.flags, h.embedding FROM search_unit_{generation} h
   WHERE h.tenant_id = %(tenant)s AND h.namespace_id = %(namespace)s AND h.unit_id > %(after)s AND h.state = 0
   ORDER BY h.unit_id LIMIT %(limit)s::int)
  UNION ALL
  (SELECT w.unit_id, w.flags, w.embedding FROM search_unit_warm_{generation} w
   WHERE w.tenant_id = %(tenant)s AND w.namespace_id = %(namespace)s AND w.unit_id > %(after)s AND w.state = 0
   ORDER BY w.unit_id LIMIT %(limit)s::int)
  ORDER BY unit_id LIMIT %(limit)s::int) u;

-- name: changed
SELECT DISTINCT u.unit_id FROM unit_change c CROSS JOIN LATERAL unnest(c.unit_ids) AS u (unit_id)
WHERE c.tenant_id = %(tenant)s AND c.namespace_id = %(namespace)s AND c.ordinal = {generation}
  AND c.change >= %(since)s::text::xid8 LIMIT %(limit)s::int;

-- name: units
SELECT string_agg(uuid_send(u.unit_id), ''), string_agg(int2send(u.flags), ''), string_agg(halfvec_send(u.embedding), '')
FROM (
  SELECT h.unit_id, h.flags, h.embedding FROM search_unit_{generation} h
  WHERE h.tenant_id = %(tenant)s AND h.namespace_id = %(namespace)s AND h.unit_id = ANY (%(units)s) AND h.state = 0
  UNION ALL
  SELECT w.unit_id, w.flags, w.embedding FROM search_unit_warm_{generation} w
  WHERE w.tenant_id = %(tenant)s AND w.namespace_id = %(namespace)s AND w.unit_id = ANY (%(units)s) AND w.state = 0) u;
