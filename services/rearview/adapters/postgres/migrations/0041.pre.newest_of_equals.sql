-- Of what is equally near, the newest comes first. It had been chance, or ids, which decided where a route's list ended, so
-- that a namespace and its copy answered differently.

-- As in 0005, but terms that occur in equally many units are all taken, or none: their order was that of their hashes, which
-- are others in each namespace.
CREATE OR REPLACE FUNCTION rearview_rarest_terms(p_tenant uuid, p_namespace uuid, p_keywords int4[], p_budget bigint)
RETURNS int4[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(r.keyword), '{}') FROM (
    SELECT t.keyword, sum(t.units) OVER (ORDER BY t.units RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP)
             AS units_before
    FROM rearview_query_terms(p_tenant, p_namespace, p_keywords, array_fill(1::float8, ARRAY[cardinality(p_keywords)])) t) r
  WHERE coalesce(r.units_before, 0) < p_budget
$$;

-- The keyword route as in 0005, the nearest units as in 0015 and 0040. The last digits of a keyword score hang on the order
-- of the hashes, too, so they do not count.
CREATE FUNCTION rearview_newest_of_equals(p_ordinal smallint) RETURNS void LANGUAGE plpgsql AS $create$
DECLARE v_language text; v_rows text;
BEGIN
  EXECUTE format($ddl$
    CREATE OR REPLACE FUNCTION rearview_keyword_route_%1$s(p_tenant uuid, p_namespace uuid, p_weights sparsevec, p_terms int4[],
                                                           p_states int2[], p_memories uuid[], p_limit int)
    RETURNS TABLE (unit_id uuid) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $body$
    BEGIN
      IF rearview_tenant() IS NULL OR p_tenant IS DISTINCT FROM rearview_tenant() THEN RAISE insufficient_privilege; END IF;
      RETURN QUERY
        SELECT x.unit_id FROM (
          SELECT u.unit_id, u.sv <#> p_weights AS distance, u.occurred_at FROM search_unit_%1$s u
          WHERE sv_keys(u.sv) && p_terms AND u.tenant_id IS NOT DISTINCT FROM p_tenant
            AND u.namespace_id IS NOT DISTINCT FROM p_namespace AND u.state = ANY (p_states)
            AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))
          UNION ALL
          SELECT u.unit_id, u.sv <#> p_weights, u.occurred_at FROM search_unit_fresh_%1$s u
          WHERE sv_keys(u.sv) && p_terms AND u.tenant_id IS NOT DISTINCT FROM p_tenant
            AND u.namespace_id IS NOT DISTINCT FROM p_namespace AND u.state = ANY (p_states)
            AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))) x
        ORDER BY round(x.distance * 10000), x.occurred_at DESC LIMIT p_limit;
    END $body$ $ddl$, p_ordinal);
  FOR v_language, v_rows IN
    VALUES ('zh', '(u.flags & 4::int2) <> 0'), ('other', '((u.flags & 4::int2) = 0 OR (u.flags & 8::int2) <> 0)')
  LOOP
    EXECUTE format($ddl$
      CREATE OR REPLACE FUNCTION rearview_nearest_%2$s_%1$s(p_tenant uuid, p_namespace uuid, p_vector halfvec, p_states int2[],
                                                 p_memories uuid[], p_limit int, p_exact boolean)
      RETURNS TABLE (unit_id uuid, distance float8) LANGUAGE plpgsql STABLE AS $body$
      BEGIN
        IF p_exact THEN
          RETURN QUERY
            SELECT x.unit_id, x.distance FROM (
              SELECT u.unit_id, u.embedding <=> p_vector AS distance, u.occurred_at FROM search_unit_%1$s u
              WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states) AND %3$s
                AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))
              UNION ALL
              SELECT u.unit_id, u.embedding <=> p_vector, u.occurred_at FROM search_unit_fresh_%1$s u
              WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states) AND %3$s
                AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))
              OFFSET 0) x
            ORDER BY x.distance, x.occurred_at DESC LIMIT p_limit;
        ELSE
          RETURN QUERY
            SELECT x.unit_id, x.distance FROM (
              (SELECT u.unit_id, u.embedding <=> p_vector AS distance, u.occurred_at FROM search_unit_%1$s u
               WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states) AND %3$s
               ORDER BY u.embedding <=> p_vector LIMIT p_limit)
              UNION ALL
              SELECT u.unit_id, u.embedding <=> p_vector, u.occurred_at FROM search_unit_fresh_%1$s u
              WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states) AND %3$s) x
            ORDER BY x.distance, x.occurred_at DESC LIMIT p_limit;
        END IF;
      END $body$ $ddl$, p_ordinal, v_language, v_rows);
  END LOOP;
  EXECUTE format($ddl$
    CREATE OR REPLACE FUNCTION rearview_nearest_of_%1$s(p_tenant uuid, p_namespace uuid, p_vector halfvec, p_states int2[],
                                                        p_units uuid[], p_chinese boolean, p_limit int)
    RETURNS TABLE (unit_id uuid, distance float8) LANGUAGE sql STABLE AS $body$
      SELECT x.unit_id, x.distance FROM (
        SELECT u.unit_id, u.embedding <=> p_vector AS distance, u.occurred_at FROM search_unit_%1$s u
        WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.unit_id = ANY (p_units)
          AND u.state = ANY (p_states)
          AND CASE WHEN p_chinese THEN (u.flags & 4::int2) <> 0 ELSE (u.flags & 4::int2) = 0 OR (u.flags & 8::int2) <> 0 END
        UNION ALL
        SELECT u.unit_id, u.embedding <=> p_vector, u.occurred_at FROM search_unit_fresh_%1$s u
        WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states)
          AND CASE WHEN p_chinese THEN (u.flags & 4::int2) <> 0 ELSE (u.flags & 4::int2) = 0 OR (u.flags & 8::int2) <> 0 END
        OFFSET 0) x
      ORDER BY x.distance, x.occurred_at DESC LIMIT p_limit
    $body$ $ddl$, p_ordinal);
END $create$;
REVOKE ALL ON FUNCTION rearview_newest_of_equals(smallint) FROM PUBLIC, rearview_service;

-- As in 0040, and so that the newest of equals comes first.
CREATE OR REPLACE FUNCTION rearview_register_generation(p_generation_id text, p_model text, p_dimension int, p_card jsonb)
RETURNS smallint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE n smallint;
BEGIN
  SELECT g.ordinal INTO n FROM model_generation g WHERE g.generation_id = p_generation_id;
  IF FOUND THEN RETURN n; END IF;
  n := rearview_create_generation_indexed(p_generation_id, p_model, p_dimension, p_card);
  IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = ('search_unit_fresh_' || n)::regclass AND tgname = 'unit_added') THEN
    PERFORM rearview_watch_units(n);
    PERFORM rearview_index_keywords_at_once(n);
    PERFORM rearview_route_by_copies(n);
    PERFORM rearview_newest_of_equals(n);
  END IF;
  RETURN n;
END $$;

DO $$
DECLARE n smallint;
BEGIN
  FOR n IN SELECT ordinal FROM model_generation ORDER BY ordinal LOOP
    PERFORM rearview_newest_of_equals(n);
  END LOOP;
END $$;
