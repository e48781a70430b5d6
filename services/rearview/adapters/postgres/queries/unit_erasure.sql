-- Erasing search units, and taking them out of the counts of BM25. 1024 in flags: never counted (UnitFlag.UNCOUNTED).

-- Fresh before main before warm, always: a unit that moves meanwhile is then found in one of them.
-- name: erase_fresh_units
DELETE FROM search_unit_fresh_{generation}
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
  AND (memory_id = ANY (%(memory_ids)s) OR unit_id = ANY (%(event_ids)s))
RETURNING unit_id, sv_keys(sv), closed AND flags & 1024 = 0, flags

-- name: erase_main_units
DELETE FROM search_unit_{generation}
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
  AND (memory_id = ANY (%(memory_ids)s) OR unit_id = ANY (%(event_ids)s))
RETURNING unit_id, sv_keys(sv), closed AND flags & 1024 = 0, flags

-- name: erase_warm_units
DELETE FROM search_unit_warm_{generation}
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
  AND (memory_id = ANY (%(memory_ids)s) OR unit_id = ANY (%(event_ids)s))
RETURNING unit_id, sv_keys(sv), flags & 1024 = 0, flags

-- Keywords are locked in ascending order, as by those who count them up.
-- name: lock_keywords
SELECT keyword FROM keyword_frequency
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND keyword = ANY (%(keywords)s)
ORDER BY keyword FOR UPDATE

-- name: lower_keywords
UPDATE keyword_frequency f SET units = f.units - k.units
FROM unnest(%(keywords)s::int4[], %(counts)s::int4[]) AS k (keyword, units)
WHERE f.tenant_id = %(tenant_id)s AND f.namespace_id = %(namespace_id)s AND f.keyword = k.keyword

-- name: drop_keywords
DELETE FROM keyword_frequency
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND keyword = ANY (%(keywords)s) AND units <= 0

-- The length of a bag cannot be told from its best terms: the average stays what it is.
-- name: lower_statistics
UPDATE namespace_statistics
SET keyword_total = CASE WHEN units > %(units)s THEN keyword_total * (units - %(units)s) / units ELSE 0 END,
    units = greatest(0, units - %(units)s),
    chinese_units = greatest(0, chinese_units - %(chinese_units)s),
    english_units = greatest(0, english_units - %(english_units)s)
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
