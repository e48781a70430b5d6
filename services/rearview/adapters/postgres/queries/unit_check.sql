-- Looking for search units of one model generation.

-- name: units_of
SELECT (SELECT count(*) FROM search_unit_fresh_{generation}
        WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
          AND (memory_id = ANY (%(ids)s) OR unit_id = ANY (%(ids)s)))
     + (SELECT count(*) FROM search_unit_{generation}
        WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
          AND (memory_id = ANY (%(ids)s) OR unit_id = ANY (%(ids)s)))
     + (SELECT count(*) FROM search_unit_warm_{generation}
        WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
          AND (memory_id = ANY (%(ids)s) OR unit_id = ANY (%(ids)s))) AS found
