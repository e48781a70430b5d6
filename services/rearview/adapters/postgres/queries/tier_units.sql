-- Search units on their way between the tables of one generation. Fresh before main before warm, always: a unit that
-- moves on meanwhile is then found in one of them.

-- name: warm_from_fresh
WITH gone AS (
  DELETE FROM search_unit_fresh_{generation} f
  WHERE f.tenant_id = %(tenant_id)s AND f.namespace_id = %(namespace_id)s AND f.memory_id = ANY (%(memory_ids)s)
  RETURNING f.tenant_id, f.namespace_id, f.unit_id, f.memory_id, f.occurred_at, f.speaker, f.flags, f.state, f.type,
            f.created_at, f.embedding, f.sv)
INSERT INTO search_unit_warm_{generation} (tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags, state,
                                           type, created_at, embedding, sv)
SELECT tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags, state, type, created_at, embedding, sv FROM gone

-- What moves from one table that copies hold to the other changes no copy.
-- name: copied
SELECT set_config('app.moving_units', 'on', true)

-- name: warm_from_main
WITH gone AS (
  DELETE FROM search_unit_{generation} f
  WHERE f.tenant_id = %(tenant_id)s AND f.namespace_id = %(namespace_id)s AND f.memory_id = ANY (%(memory_ids)s)
  RETURNING f.tenant_id, f.namespace_id, f.unit_id, f.memory_id, f.occurred_at, f.speaker, f.flags, f.state, f.type,
            f.created_at, f.embedding, f.sv)
INSERT INTO search_unit_warm_{generation} (tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags, state,
                                           type, created_at, embedding, sv)
SELECT tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags, state, type, created_at, embedding, sv FROM gone

-- name: not_copied
SELECT set_config('app.moving_units', '', true)

-- name: analyze_warm
SELECT rearview_analyze_grown('search_unit_warm_{generation}')

-- name: fresh_from_warm
WITH gone AS (
  DELETE FROM search_unit_warm_{generation} f
  WHERE f.tenant_id = %(tenant_id)s AND f.namespace_id = %(namespace_id)s AND f.memory_id = ANY (%(memory_ids)s)
  RETURNING f.tenant_id, f.namespace_id, f.unit_id, f.memory_id, f.occurred_at, f.speaker, f.flags, f.state, f.type,
            f.created_at, f.embedding, f.sv)
INSERT INTO search_unit_fresh_{generation} (tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags, state,
                                            type, closed, created_at, embedding, sv)
SELECT tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags, state, type, true, created_at, embedding, sv
FROM gone

-- The vectors' and weights' own bytes, as the wire has them.
-- name: read_warm
SELECT memory_id, unit_id, occurred_at, speaker, flags, type, halfvec_send(embedding), sparsevec_send(sv)
FROM search_unit_warm_{generation}
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)
ORDER BY memory_id, occurred_at, unit_id

-- name: delete_warm
DELETE FROM search_unit_warm_{generation}
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)

-- name: insert_fresh
INSERT INTO search_unit_fresh_{generation} (tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags, state,
                                            type, closed, created_at, embedding, sv)
SELECT %(tenant_id)s, %(namespace_id)s, r.unit_id, r.memory_id, r.occurred_at, r.speaker, r.flags, r.state, r.type, true,
       r.created_at, r.embedding, r.sv
FROM json_to_recordset(%(units)s::json) AS r (unit_id uuid, memory_id uuid, occurred_at timestamptz, speaker int4, flags int2,
  state int2, type int2, created_at timestamptz, embedding halfvec, sv sparsevec)
