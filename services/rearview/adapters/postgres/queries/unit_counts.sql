-- name: units
SELECT (SELECT count(*) FROM search_unit_{generation} WHERE tenant_id = %(tenant_id)s)
     + (SELECT count(*) FROM search_unit_fresh_{generation} WHERE tenant_id = %(tenant_id)s)
     + (SELECT count(*) FROM search_unit_warm_{generation} WHERE tenant_id = %(tenant_id)s)
     + (SELECT coalesce(sum(units), 0) FROM cold_segment WHERE tenant_id = %(tenant_id)s AND generation = {generation})
