-- name: units
SELECT (SELECT count(*) FROM search_unit_{generation} WHERE tenant_id = %(tenant_id)s)
     + (SELECT count(*) FROM search_unit_fresh_{generation} WHERE tenant_id = %(tenant_id)s)
