-- Writing the search projection and the counts of BM25. New and growing units stand in the fresh table, which no
-- vector index slows down; closed ones move to the main table in batches.

-- name: insert_units
INSERT INTO search_unit_fresh_{generation} (tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags, type,
                                            closed, created_at, embedding, sv)
SELECT %(tenant_id)s, %(namespace_id)s, r.unit_id, r.memory_id, r.occurred_at, r.speaker, r.flags, r.type, r.closed, %(now)s,
       r.embedding, r.sv
FROM json_to_recordset(%(units)s::json) AS r (unit_id uuid, memory_id uuid, occurred_at timestamptz, speaker int4, flags int2,
  type int2, closed boolean, embedding halfvec, sv sparsevec)

-- name: grow_units
UPDATE search_unit_fresh_{generation} u SET embedding = r.embedding, sv = r.sv, closed = r.closed
FROM json_to_recordset(%(units)s::json) AS r (unit_id uuid, closed boolean, embedding halfvec, sv sparsevec)
WHERE u.tenant_id = %(tenant_id)s AND u.namespace_id = %(namespace_id)s AND u.unit_id = r.unit_id

-- name: delete_fresh_units
DELETE FROM search_unit_fresh_{generation}
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)

-- name: delete_units
DELETE FROM search_unit_{generation}
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)

-- name: delete_warm_units
DELETE FROM search_unit_warm_{generation}
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)

-- name: move_fresh_unit_times
UPDATE search_unit_fresh_{generation} SET occurred_at = %(occurred_at)s
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND unit_id = %(unit_id)s

-- name: move_unit_times
UPDATE search_unit_{generation} SET occurred_at = %(occurred_at)s
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND unit_id = %(unit_id)s

-- Fresh before main before warm, always: a unit that moves meanwhile is then found in one of them.
-- name: tombstone_fresh_units
UPDATE search_unit_fresh_{generation} SET state = 2
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
  AND (memory_id = ANY (%(memory_ids)s) OR unit_id = ANY (%(unit_ids)s))

-- name: tombstone_units
UPDATE search_unit_{generation} SET state = 2
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
  AND (memory_id = ANY (%(memory_ids)s) OR unit_id = ANY (%(unit_ids)s))

-- name: tombstone_warm_units
UPDATE search_unit_warm_{generation} SET state = 2
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
  AND (memory_id = ANY (%(memory_ids)s) OR unit_id = ANY (%(unit_ids)s))

-- name: restore_fresh_units
UPDATE search_unit_fresh_{generation} u SET state = CASE m.state WHEN 1 THEN 0 WHEN 4 THEN 2 ELSE 1 END
FROM memory m
WHERE u.tenant_id = %(tenant_id)s AND u.namespace_id = %(namespace_id)s
  AND (u.memory_id = ANY (%(memory_ids)s) OR u.unit_id = ANY (%(unit_ids)s))
  AND m.tenant_id = u.tenant_id AND m.namespace_id = u.namespace_id AND m.memory_id = u.memory_id

-- name: restore_units
UPDATE search_unit_{generation} u SET state = CASE m.state WHEN 1 THEN 0 WHEN 4 THEN 2 ELSE 1 END
FROM memory m
WHERE u.tenant_id = %(tenant_id)s AND u.namespace_id = %(namespace_id)s
  AND (u.memory_id = ANY (%(memory_ids)s) OR u.unit_id = ANY (%(unit_ids)s))
  AND m.tenant_id = u.tenant_id AND m.namespace_id = u.namespace_id AND m.memory_id = u.memory_id

-- name: restore_warm_units
UPDATE search_unit_warm_{generation} u SET state = CASE m.state WHEN 1 THEN 0 WHEN 4 THEN 2 ELSE 1 END
FROM memory m
WHERE u.tenant_id = %(tenant_id)s AND u.namespace_id = %(namespace_id)s
  AND (u.memory_id = ANY (%(memory_ids)s) OR u.unit_id = ANY (%(unit_ids)s))
  AND m.tenant_id = u.tenant_id AND m.namespace_id = u.namespace_id AND m.memory_id = u.memory_id

-- Units whose window was open when they were forgotten will not grow again, and were never counted (flag 1024).
-- name: close_fresh_units
UPDATE search_unit_fresh_{generation} SET closed = true, flags = flags | 1024::int2
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND unit_id = ANY (%(unit_ids)s)

-- name: move_warm_unit_times
UPDATE search_unit_warm_{generation} SET occurred_at = %(occurred_at)s
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND unit_id = %(unit_id)s

-- name: merge
WITH chosen AS (
  SELECT unit_id FROM search_unit_fresh_{generation}
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND closed
  ORDER BY created_at, unit_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED),
moved AS (
  DELETE FROM search_unit_fresh_{generation} f USING chosen c
  WHERE f.tenant_id = %(tenant_id)s AND f.namespace_id = %(namespace_id)s AND f.unit_id = c.unit_id
  RETURNING f.tenant_id, f.namespace_id, f.unit_id, f.memory_id, f.occurred_at, f.speaker, f.flags, f.state, f.type, f.closed,
            f.created_at, f.embedding, f.sv),
stored AS (
  INSERT INTO search_unit_{generation} (tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags, state, type,
                                        closed, created_at, embedding, sv)
  SELECT tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags, state, type, closed, created_at, embedding, sv
  FROM moved RETURNING unit_id)
SELECT count(*) FROM stored

-- Keywords come in ascending order, so that two transactions never wait for each other.
-- name: count_keywords
INSERT INTO keyword_frequency AS f (tenant_id, namespace_id, keyword, units)
SELECT %(tenant_id)s, %(namespace_id)s, k.keyword, k.units
FROM unnest(%(keywords)s::int4[], %(counts)s::int4[]) WITH ORDINALITY AS k (keyword, units, position) ORDER BY k.position
ON CONFLICT (tenant_id, namespace_id, keyword) DO UPDATE SET units = f.units + excluded.units

-- name: count_units
INSERT INTO namespace_statistics AS s (tenant_id, namespace_id, units, keyword_total, chinese_units, english_units, memories,
                                       bytes, writes)
VALUES (%(tenant_id)s, %(namespace_id)s, %(units)s, %(keyword_total)s, %(chinese_units)s, %(english_units)s, %(memories)s,
        %(bytes)s, 1)
ON CONFLICT (tenant_id, namespace_id) DO UPDATE
SET units = s.units + excluded.units, keyword_total = s.keyword_total + excluded.keyword_total,
    chinese_units = s.chinese_units + excluded.chinese_units, english_units = s.english_units + excluded.english_units,
    memories = s.memories + excluded.memories, bytes = s.bytes + excluded.bytes, writes = s.writes + 1

-- name: statistics
SELECT units, keyword_total FROM namespace_statistics WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s

-- name: frequencies
SELECT keyword, units FROM keyword_frequency
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND keyword = ANY (%(terms)s)

-- A projection made anew: its old keywords come back, with whether they were counted.
-- name: lock_fresh_projections
SELECT unit_id, sv_keys(sv), closed AND flags & 1024 = 0 FROM search_unit_fresh_{generation}
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND unit_id = ANY (%(unit_ids)s) FOR UPDATE

-- name: lock_projections
SELECT unit_id, sv_keys(sv), flags & 1024 = 0 FROM search_unit_{generation}
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND unit_id = ANY (%(unit_ids)s) FOR UPDATE

-- name: lock_warm_projections
SELECT unit_id, sv_keys(sv), flags & 1024 = 0 FROM search_unit_warm_{generation}
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND unit_id = ANY (%(unit_ids)s) FOR UPDATE

-- name: replace_fresh_projections
UPDATE search_unit_fresh_{generation} u SET embedding = r.embedding, sv = r.sv, closed = true, flags = u.flags & ~1024::int2
FROM json_to_recordset(%(units)s::json) AS r (unit_id uuid, embedding halfvec, sv sparsevec)
WHERE u.tenant_id = %(tenant_id)s AND u.namespace_id = %(namespace_id)s AND u.unit_id = r.unit_id

-- name: replace_projections
UPDATE search_unit_{generation} u SET embedding = r.embedding, sv = r.sv, flags = u.flags & ~1024::int2
FROM json_to_recordset(%(units)s::json) AS r (unit_id uuid, embedding halfvec, sv sparsevec)
WHERE u.tenant_id = %(tenant_id)s AND u.namespace_id = %(namespace_id)s AND u.unit_id = r.unit_id

-- name: replace_warm_projections
UPDATE search_unit_warm_{generation} u SET embedding = r.embedding, sv = r.sv, flags = u.flags & ~1024::int2
FROM json_to_recordset(%(units)s::json) AS r (unit_id uuid, embedding halfvec, sv sparsevec)
WHERE u.tenant_id = %(tenant_id)s AND u.namespace_id = %(namespace_id)s AND u.unit_id = r.unit_id

-- The words change at once, the vector goes: it may carry what was taken out.
-- name: blank_fresh_projections
UPDATE search_unit_fresh_{generation} u SET embedding = rearview_no_vector(vector_dims(u.embedding)), sv = r.sv
FROM json_to_recordset(%(units)s::json) AS r (unit_id uuid, embedding text, sv sparsevec)
WHERE u.tenant_id = %(tenant_id)s AND u.namespace_id = %(namespace_id)s AND u.unit_id = r.unit_id

-- name: blank_projections
UPDATE search_unit_{generation} u SET embedding = rearview_no_vector(vector_dims(u.embedding)), sv = r.sv
FROM json_to_recordset(%(units)s::json) AS r (unit_id uuid, embedding text, sv sparsevec)
WHERE u.tenant_id = %(tenant_id)s AND u.namespace_id = %(namespace_id)s AND u.unit_id = r.unit_id

-- name: blank_warm_projections
UPDATE search_unit_warm_{generation} u SET embedding = rearview_no_vector(vector_dims(u.embedding)), sv = r.sv
FROM json_to_recordset(%(units)s::json) AS r (unit_id uuid, embedding text, sv sparsevec)
WHERE u.tenant_id = %(tenant_id)s AND u.namespace_id = %(namespace_id)s AND u.unit_id = r.unit_id

-- What follows need not be embedded again: it is a copy.
-- name: unwatched
SELECT set_config('app.embedding', 'on', true)

-- name: watched
SELECT set_config('app.embedding', '', true)
