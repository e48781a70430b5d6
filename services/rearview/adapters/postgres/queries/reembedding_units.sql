-- Units of one generation that a re-embedding left there.

-- name: clear_fresh
WITH gone AS (
  DELETE FROM search_unit_fresh_{generation} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM search_unit_fresh_{generation} WHERE tenant_id = %(tenant_id)s LIMIT %(limit)s)) RETURNING 1)
SELECT count(*) FROM gone

-- name: clear_main
WITH gone AS (
  DELETE FROM search_unit_{generation} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM search_unit_{generation} WHERE tenant_id = %(tenant_id)s LIMIT %(limit)s)) RETURNING 1)
SELECT count(*) FROM gone

-- name: clear_warm
WITH gone AS (
  DELETE FROM search_unit_warm_{generation} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM search_unit_warm_{generation} WHERE tenant_id = %(tenant_id)s LIMIT %(limit)s)) RETURNING 1)
SELECT count(*) FROM gone
