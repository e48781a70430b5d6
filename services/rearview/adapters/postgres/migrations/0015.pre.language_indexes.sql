-- One vector index for each language instead of one for all. A multilingual model rates every text in the query's own
-- language above the others, so the list of the other language lay behind tens of thousands of rows of the one index:
-- ninety milliseconds at 100,000 units. Text of both languages is in both indexes, text of neither in the second one.

-- Memories that mention one of the entities. A name that stands in thousands of memories tells little, so no more than
-- a thousand of them are looked at.
CREATE OR REPLACE FUNCTION rearview_memories_by_entity(p_tenant uuid, p_namespace uuid, p_keys text[], p_states int2[], p_limit int)
RETURNS TABLE (memory_id uuid, shared int, occurred_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF p_tenant IS DISTINCT FROM rearview_tenant() THEN RAISE insufficient_privilege; END IF;
  RETURN QUERY
    SELECT x.memory_id, (SELECT count(*)::int FROM unnest(x.entity_keys) k WHERE k = ANY (p_keys)), x.occurred_at
    FROM (SELECT m.memory_id, m.entity_keys, m.occurred_at FROM memory m
          WHERE m.tenant_id = p_tenant AND m.namespace_id = p_namespace AND m.entity_keys && p_keys AND m.state = ANY (p_states)
          LIMIT greatest(1000, p_limit)) x
    ORDER BY 2 DESC, 3 DESC LIMIT p_limit;
END $$;

-- Makes the language indexes and the vector route of a generation. `rearview_register_generation` calls it, and so does
-- this file for each generation there is; calling it again changes nothing.
CREATE FUNCTION rearview_index_by_language(p_ordinal smallint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $create$
DECLARE v_language text; v_rows text; v_index regclass;
BEGIN
  IF to_regprocedure(format('rearview_vector_route_%s(uuid, uuid, halfvec, int2[], uuid[], int, boolean)', p_ordinal)) IS NOT NULL
  THEN RETURN; END IF;
  FOR v_language, v_rows IN
    VALUES ('zh', '(flags & 4::int2) <> 0'), ('other', '((flags & 4::int2) = 0 OR (flags & 8::int2) <> 0)')
  LOOP
    EXECUTE format('CREATE INDEX IF NOT EXISTS search_unit_%1$s_vector_%2$s ON search_unit_%1$s USING hnsw (embedding halfvec_cosine_ops)'
                   ' WITH (m = 32, ef_construction = 128) WHERE %3$s', p_ordinal, v_language, v_rows);
    -- For exact scans of small namespaces, and to know how many rows of the table are of the language.
    EXECUTE format('CREATE INDEX IF NOT EXISTS search_unit_%1$s_place_%2$s ON search_unit_%1$s (tenant_id, namespace_id) WHERE %3$s',
                   p_ordinal, v_language, v_rows);
  END LOOP;
  FOR v_index IN
    SELECT i.indexrelid::regclass FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
    WHERE i.indrelid = format('search_unit_%s', p_ordinal)::regclass AND a.amname = 'hnsw' AND i.indpred IS NULL
  LOOP
    EXECUTE format('DROP INDEX %s', v_index);
  END LOOP;

  -- One list of p_limit nearest units for each language of a namespace that holds both, else one list of all. Exact where
  -- that is quicker or the index would find too little: small namespaces, a small share of the table, a filter; and where
  -- p_exact asks for it. OFFSET 0 keeps the vector index out of the exact scan, since the planner rates it too cheap.
  EXECUTE format($ddl$
    CREATE FUNCTION rearview_vector_route_%1$s(p_tenant uuid, p_namespace uuid, p_vector halfvec, p_states int2[],
                                               p_memories uuid[], p_limit int, p_exact boolean)
    RETURNS TABLE (unit_id uuid, exact boolean, distance float8, list int2) LANGUAGE plpgsql STABLE
    SET hnsw.ef_search = 400 SET hnsw.iterative_scan = relaxed_order SET plan_cache_mode = force_custom_plan AS $body$
    DECLARE
      v_units bigint; v_chinese bigint; v_english bigint; v_other bigint; v_exact_zh boolean; v_exact_other boolean;
    BEGIN
      IF p_vector IS NULL OR p_limit <= 0 THEN RETURN; END IF;
      SELECT s.units, s.chinese_units, s.english_units INTO v_units, v_chinese, v_english
      FROM namespace_statistics s WHERE s.tenant_id = p_tenant AND s.namespace_id = p_namespace;
      v_chinese := coalesce(v_chinese, 0);
      v_english := coalesce(v_english, 0);
      v_other := greatest(v_english, coalesce(v_units, 0) - v_chinese);
      v_exact_zh := p_exact OR p_memories IS NOT NULL OR rearview_exact_is_quicker('search_unit_%1$s_place_zh', v_chinese);
      v_exact_other := p_exact OR p_memories IS NOT NULL OR rearview_exact_is_quicker('search_unit_%1$s_place_other', v_other);
      IF v_chinese > 0 AND v_english > 0 THEN
        RETURN QUERY SELECT n.unit_id, v_exact_zh, n.distance, 4::int2
          FROM rearview_nearest_zh_%1$s(p_tenant, p_namespace, p_vector, p_states, p_memories, p_limit, v_exact_zh) n;
        RETURN QUERY SELECT n.unit_id, v_exact_other, n.distance, 8::int2
          FROM rearview_nearest_other_%1$s(p_tenant, p_namespace, p_vector, p_states, p_memories, p_limit, v_exact_other) n;
        RETURN;
      END IF;
      RETURN QUERY
        SELECT x.unit_id, x.is_exact, x.distance, 0::int2 FROM (
          SELECT n.unit_id, n.distance, v_exact_zh AS is_exact
          FROM rearview_nearest_zh_%1$s(p_tenant, p_namespace, p_vector, p_states, p_memories, p_limit, v_exact_zh) n
          UNION ALL
          SELECT n.unit_id, n.distance, v_exact_other
          FROM rearview_nearest_other_%1$s(p_tenant, p_namespace, p_vector, p_states, p_memories, p_limit, v_exact_other) n) x
        ORDER BY x.distance LIMIT p_limit;
    END $body$ $ddl$, p_ordinal);
  FOR v_language, v_rows IN
    VALUES ('zh', '(u.flags & 4::int2) <> 0'), ('other', '((u.flags & 4::int2) = 0 OR (u.flags & 8::int2) <> 0)')
  LOOP
    EXECUTE format($ddl$
      CREATE FUNCTION rearview_nearest_%2$s_%1$s(p_tenant uuid, p_namespace uuid, p_vector halfvec, p_states int2[],
                                                 p_memories uuid[], p_limit int, p_exact boolean)
      RETURNS TABLE (unit_id uuid, distance float8) LANGUAGE plpgsql STABLE AS $body$
      BEGIN
        IF p_exact THEN
          RETURN QUERY
            SELECT x.unit_id, x.distance FROM (
              SELECT u.unit_id, u.embedding <=> p_vector AS distance FROM search_unit_%1$s u
              WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states) AND %3$s
                AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))
              UNION ALL
              SELECT u.unit_id, u.embedding <=> p_vector FROM search_unit_fresh_%1$s u
              WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states) AND %3$s
                AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))
              OFFSET 0) x
            ORDER BY x.distance LIMIT p_limit;
        ELSE
          RETURN QUERY
            SELECT x.unit_id, x.distance FROM (
              (SELECT u.unit_id, u.embedding <=> p_vector AS distance FROM search_unit_%1$s u
               WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states) AND %3$s
               ORDER BY u.embedding <=> p_vector LIMIT p_limit)
              UNION ALL
              SELECT u.unit_id, u.embedding <=> p_vector FROM search_unit_fresh_%1$s u
              WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states) AND %3$s) x
            ORDER BY x.distance LIMIT p_limit;
        END IF;
      END $body$ $ddl$, p_ordinal, v_language, v_rows);
  END LOOP;
  -- What ran before asks without the last argument.
  EXECUTE format($ddl$
    CREATE OR REPLACE FUNCTION rearview_vector_route_%1$s(p_tenant uuid, p_namespace uuid, p_vector halfvec, p_states int2[],
                                                          p_memories uuid[], p_limit int)
    RETURNS TABLE (unit_id uuid, exact boolean) LANGUAGE sql STABLE AS $body$
      SELECT r.unit_id, r.exact
      FROM rearview_vector_route_%1$s(p_tenant, p_namespace, p_vector, p_states, p_memories, p_limit, false) r
    $body$ $ddl$, p_ordinal);
END $create$;

-- Whether scanning a namespace's rows of a language takes less than asking their vector index.
CREATE FUNCTION rearview_exact_is_quicker(p_index text, p_rows bigint) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p_rows <= 10000
      OR p_rows <= 50000 AND p_rows < 0.02 * (SELECT c.reltuples FROM pg_class c WHERE c.oid = p_index::regclass)
$$;
GRANT EXECUTE ON FUNCTION rearview_exact_is_quicker(text, bigint) TO rearview_service;

ALTER FUNCTION rearview_register_generation(text, text, int, jsonb) RENAME TO rearview_create_generation;
REVOKE ALL ON FUNCTION rearview_index_by_language(smallint), rearview_create_generation(text, text, int, jsonb)
  FROM PUBLIC, rearview_service;

-- As before, and with its indexes by language.
CREATE FUNCTION rearview_register_generation(p_generation_id text, p_model text, p_dimension int, p_card jsonb)
RETURNS smallint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE n smallint := rearview_create_generation(p_generation_id, p_model, p_dimension, p_card);
BEGIN
  PERFORM rearview_index_by_language(n);
  RETURN n;
END $$;
REVOKE ALL ON FUNCTION rearview_register_generation(text, text, int, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_register_generation(text, text, int, jsonb) TO rearview_service;

DO $$
DECLARE n smallint;
BEGIN
  FOR n IN SELECT ordinal FROM model_generation LOOP
    PERFORM rearview_index_by_language(n);
  END LOOP;
END $$;
