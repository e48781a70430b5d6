-- What recall computes inside the database: the query's side of BM25, the keyword and the vector route of each model
-- generation, and the raw turns, so that all routes take one round trip.

-- The terms of a query with their inverse document frequencies ln(1 + (N - df + .5) / (df + .5)) times their counts.
-- N and df lag behind until context windows close, so df is held to N.
CREATE FUNCTION rearview_query_terms(p_tenant uuid, p_namespace uuid, p_keywords int4[], p_counts float8[])
RETURNS TABLE (keyword int4, weight float8, units bigint) LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT q.keyword, q.count * ln(1 + (n.units - d.units + 0.5) / (d.units + 0.5)), d.units
  FROM unnest(p_keywords, p_counts) AS q (keyword, count)
  CROSS JOIN (SELECT coalesce(max(s.units), 0) AS units FROM namespace_statistics s
              WHERE s.tenant_id = p_tenant AND s.namespace_id = p_namespace) n
  LEFT JOIN keyword_frequency f ON f.tenant_id = p_tenant AND f.namespace_id = p_namespace AND f.keyword = q.keyword
  CROSS JOIN LATERAL (SELECT least(greatest(coalesce(f.units, 0), 0), n.units) AS units) d
$$;

-- The same as a sparse vector, whose inner product with a unit's is the unit's BM25 score.
CREATE FUNCTION rearview_query_weights(p_tenant uuid, p_namespace uuid, p_keywords int4[], p_counts float8[])
RETURNS sparsevec LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT ('{' || coalesce(string_agg(t.keyword || ':' || t.weight::float4, ',' ORDER BY t.keyword), '') || '}/1000000000')::sparsevec
  FROM rearview_query_terms(p_tenant, p_namespace, p_keywords, p_counts) t
$$;

-- The query's rarest terms, until they occur in p_budget units together: who shares none of them is hardly ever among
-- the best, and common words would make every unit a candidate.
CREATE FUNCTION rearview_rarest_terms(p_tenant uuid, p_namespace uuid, p_keywords int4[], p_budget bigint)
RETURNS int4[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(r.keyword), '{}') FROM (
    SELECT t.keyword, sum(t.units) OVER (ORDER BY t.units, t.keyword) - t.units AS units_before
    FROM rearview_query_terms(p_tenant, p_namespace, p_keywords, array_fill(1::float8, ARRAY[cardinality(p_keywords)])) t) r
  WHERE r.units_before < p_budget
$$;

-- Turns that no memory holds (not indexed yet, or dropped), by their BM25 score; without query terms the newest. A
-- condition that is NULL holds always. Runs as the owner because && is not leak-proof: under row-level security the
-- index would not be used. It therefore checks the tenant itself.
CREATE FUNCTION rearview_ranked_raw_turns(p_tenant uuid, p_namespace uuid, p_keywords int4[], p_counts float8[], p_session text,
                                          p_roles int2[], p_start timestamptz, p_end timestamptz, p_as_of timestamptz, p_limit int)
RETURNS TABLE (event_id uuid, session_id text, role int2, speaker text, occurred_at timestamptz, score float8)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE v_average float8;
BEGIN
  IF rearview_tenant() IS NULL OR p_tenant IS DISTINCT FROM rearview_tenant() THEN RAISE insufficient_privilege; END IF;
  IF cardinality(p_keywords) = 0 THEN
    RETURN QUERY
      SELECT e.event_id, e.session_id, e.role, e.speaker, e.occurred_at, 0::float8
      FROM event e
      WHERE e.tenant_id = p_tenant AND e.namespace_id = p_namespace AND e.outcome = 1 AND NOT e.tombstoned
        AND (p_session IS NULL OR e.session_id = p_session) AND (p_roles IS NULL OR e.role = ANY (p_roles))
        AND (p_start IS NULL OR e.occurred_at >= p_start) AND (p_end IS NULL OR e.occurred_at < p_end)
        AND (p_as_of IS NULL OR least(e.occurred_at, e.created_at) <= p_as_of)
      ORDER BY e.created_at DESC LIMIT p_limit;
    RETURN;
  END IF;
  SELECT s.keyword_total / nullif(s.units, 0) INTO v_average
  FROM namespace_statistics s WHERE s.tenant_id = p_tenant AND s.namespace_id = p_namespace;
  RETURN QUERY
    WITH term AS MATERIALIZED (
      SELECT t.keyword, t.weight FROM rearview_query_terms(p_tenant, p_namespace, p_keywords, p_counts) t),
    found AS MATERIALIZED (
      SELECT e.event_id, e.session_id, e.role, e.speaker, e.occurred_at, e.keywords
      FROM event e
      WHERE e.tenant_id = p_tenant AND e.namespace_id = p_namespace AND e.keywords && p_keywords
        AND e.outcome IN (1, 3) AND NOT e.tombstoned
        AND (p_session IS NULL OR e.session_id = p_session) AND (p_roles IS NULL OR e.role = ANY (p_roles))
        AND (p_start IS NULL OR e.occurred_at >= p_start) AND (p_end IS NULL OR e.occurred_at < p_end)
        AND (p_as_of IS NULL OR least(e.occurred_at, e.created_at) <= p_as_of))
    SELECT f.event_id, f.session_id, f.role, f.speaker, f.occurred_at,
           (SELECT sum(t.weight * c.tf * 2.2 / (c.tf + 1.2 * (0.25 + 0.75 * coalesce(cardinality(f.keywords) / v_average, 1))))
            FROM (SELECT k, count(*)::float8 AS tf FROM unnest(f.keywords) AS k GROUP BY k) c JOIN term t ON t.keyword = c.k) AS bm25
    FROM found f ORDER BY bm25 DESC NULLS LAST, f.occurred_at DESC LIMIT p_limit;
END $$;

-- Makes the route functions of one generation. `rearview_register_generation` calls it, and so does every migration
-- that changes them, for each generation there is.
CREATE FUNCTION rearview_create_search_functions(p_ordinal smallint) RETURNS void LANGUAGE plpgsql AS $create$
BEGIN
  -- Definer for the same reason as above. IS NOT DISTINCT FROM keeps the planner from joining the keyword bitmap
  -- with the primary key's, which takes fourteen times as long.
  EXECUTE format($ddl$
    CREATE OR REPLACE FUNCTION rearview_keyword_route_%1$s(p_tenant uuid, p_namespace uuid, p_weights sparsevec, p_terms int4[],
                                                           p_states int2[], p_memories uuid[], p_limit int)
    RETURNS TABLE (unit_id uuid) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $body$
    BEGIN
      IF rearview_tenant() IS NULL OR p_tenant IS DISTINCT FROM rearview_tenant() THEN RAISE insufficient_privilege; END IF;
      RETURN QUERY
        SELECT x.unit_id FROM (
          SELECT u.unit_id, u.sv <#> p_weights AS distance FROM search_unit_%1$s u
          WHERE sv_keys(u.sv) && p_terms AND u.tenant_id IS NOT DISTINCT FROM p_tenant
            AND u.namespace_id IS NOT DISTINCT FROM p_namespace AND u.state = ANY (p_states)
            AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))
          UNION ALL
          SELECT u.unit_id, u.sv <#> p_weights FROM search_unit_fresh_%1$s u
          WHERE sv_keys(u.sv) && p_terms AND u.tenant_id IS NOT DISTINCT FROM p_tenant
            AND u.namespace_id IS NOT DISTINCT FROM p_namespace AND u.state = ANY (p_states)
            AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))) x
        ORDER BY x.distance LIMIT p_limit;
    END $body$ $ddl$, p_ordinal);
  EXECUTE format('REVOKE ALL ON FUNCTION rearview_keyword_route_%s(uuid, uuid, sparsevec, int4[], int2[], uuid[], int) FROM PUBLIC', p_ordinal);
  EXECUTE format('GRANT EXECUTE ON FUNCTION rearview_keyword_route_%s(uuid, uuid, sparsevec, int4[], int2[], uuid[], int) TO rearview_service', p_ordinal);

  -- Works under row-level security. One list of p_limit for each language of a namespace that holds both (language 0:
  -- the namespace as a whole). Exact where that is quicker or the index would find too little: small namespaces, a
  -- small share of the table, a filter, a rare language. OFFSET 0 keeps the vector index out of the exact scan, since
  -- the planner rates it too cheap.
  EXECUTE format($ddl$
    CREATE OR REPLACE FUNCTION rearview_vector_route_%1$s(p_tenant uuid, p_namespace uuid, p_vector halfvec, p_states int2[],
                                                          p_memories uuid[], p_limit int)
    RETURNS TABLE (unit_id uuid, exact boolean) LANGUAGE plpgsql STABLE
    SET hnsw.ef_search = 400 SET hnsw.iterative_scan = relaxed_order SET plan_cache_mode = force_custom_plan AS $body$
    DECLARE
      v_units bigint; v_chinese bigint; v_english bigint; v_table float8; v_all_exact boolean; v_exact boolean;
      v_language int2; v_of_language bigint;
    BEGIN
      IF p_vector IS NULL OR p_limit <= 0 THEN RETURN; END IF;
      SELECT s.units, s.chinese_units, s.english_units INTO v_units, v_chinese, v_english
      FROM namespace_statistics s WHERE s.tenant_id = p_tenant AND s.namespace_id = p_namespace;
      v_units := coalesce(v_units, 0);
      SELECT greatest(c.reltuples, 0) INTO v_table FROM pg_class c WHERE c.oid = 'search_unit_%1$s'::regclass;
      v_all_exact := p_memories IS NOT NULL OR v_units <= 10000 OR (v_units <= 50000 AND v_units < 0.02 * v_table);
      FOREACH v_language IN ARRAY CASE WHEN v_chinese > 0 AND v_english > 0 THEN '{4,8}'::int2[] ELSE '{0}'::int2[] END LOOP
        v_of_language := CASE v_language WHEN 4 THEN v_chinese WHEN 8 THEN v_english ELSE v_units END;
        v_exact := v_all_exact OR (v_units <= 50000 AND v_of_language < 0.05 * v_units);
        IF v_exact THEN
          RETURN QUERY
            SELECT x.unit_id, true FROM (
              SELECT u.unit_id, u.embedding <=> p_vector AS distance FROM search_unit_%1$s u
              WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states)
                AND (v_language = 0 OR u.flags & v_language <> 0 OR u.flags & 12::int2 = 0)
                AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))
              UNION ALL
              SELECT u.unit_id, u.embedding <=> p_vector FROM search_unit_fresh_%1$s u
              WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states)
                AND (v_language = 0 OR u.flags & v_language <> 0 OR u.flags & 12::int2 = 0)
                AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))
              OFFSET 0) x
            ORDER BY x.distance LIMIT p_limit;
        ELSE
          RETURN QUERY
            SELECT x.unit_id, false FROM (
              (SELECT u.unit_id, u.embedding <=> p_vector AS distance FROM search_unit_%1$s u
               WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states)
                 AND (v_language = 0 OR u.flags & v_language <> 0 OR u.flags & 12::int2 = 0)
               ORDER BY u.embedding <=> p_vector LIMIT p_limit)
              UNION ALL
              SELECT u.unit_id, u.embedding <=> p_vector FROM search_unit_fresh_%1$s u
              WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states)
                AND (v_language = 0 OR u.flags & v_language <> 0 OR u.flags & 12::int2 = 0)) x
            ORDER BY x.distance LIMIT p_limit;
        END IF;
      END LOOP;
    END $body$ $ddl$, p_ordinal);
  EXECUTE format('GRANT EXECUTE ON FUNCTION rearview_vector_route_%s(uuid, uuid, halfvec, int2[], uuid[], int) TO rearview_service', p_ordinal);
END $create$;
REVOKE ALL ON FUNCTION rearview_create_search_functions(smallint),
  rearview_ranked_raw_turns(uuid, uuid, int4[], float8[], text, int2[], timestamptz, timestamptz, timestamptz, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
  rearview_ranked_raw_turns(uuid, uuid, int4[], float8[], text, int2[], timestamptz, timestamptz, timestamptz, int),
  rearview_query_terms(uuid, uuid, int4[], float8[]), rearview_query_weights(uuid, uuid, int4[], float8[]),
  rearview_rarest_terms(uuid, uuid, int4[], bigint) TO rearview_service;

DO $$
DECLARE n smallint;
BEGIN
  FOR n IN SELECT ordinal FROM model_generation LOOP
    PERFORM rearview_create_search_functions(n);
  END LOOP;
END $$;

-- As in 0003, and with the functions.
CREATE OR REPLACE FUNCTION rearview_register_generation(p_generation_id text, p_model text, p_dimension int, p_card jsonb)
RETURNS smallint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE n smallint; t text;
BEGIN
  SELECT ordinal INTO n FROM model_generation WHERE generation_id = p_generation_id;
  IF FOUND THEN RETURN n; END IF;
  PERFORM pg_advisory_xact_lock(hashtext('rearview_register_generation'));
  SELECT ordinal INTO n FROM model_generation WHERE generation_id = p_generation_id;
  IF FOUND THEN RETURN n; END IF;
  INSERT INTO model_generation (generation_id, model, dimension, card, current)
  VALUES (p_generation_id, p_model, p_dimension, p_card, NOT EXISTS (SELECT FROM model_generation WHERE current))
  RETURNING ordinal INTO n;
  FOREACH t IN ARRAY ARRAY['search_unit_' || n, 'search_unit_fresh_' || n] LOOP
    EXECUTE format($ddl$
      CREATE TABLE %1$I (
        tenant_id    uuid NOT NULL,
        namespace_id uuid NOT NULL,
        unit_id      uuid NOT NULL,               -- the event's id, or the memory's where it has no turns
        memory_id    uuid NOT NULL,
        occurred_at  timestamptz NOT NULL,
        speaker      int4 NOT NULL DEFAULT 0,     -- hash of the speaker's canonical name; 0 for none
        flags        int2 NOT NULL DEFAULT 0,     -- 1 resolvable time, 2 role user, 4 Chinese, 8 English
        state        int2 NOT NULL DEFAULT 0,     -- 0 active, 1 superseded or inactive, 2 tombstoned
        type         int2 NOT NULL,               -- of its memory
        closed       boolean NOT NULL,            -- its context window will not change any more
        created_at   timestamptz NOT NULL,
        embedding    halfvec(%2$s) NOT NULL,      -- centred; smoothed over the window for turns
        sv           sparsevec(1000000000) NOT NULL,  -- BM25 weights by keyword hash, at most 48
        PRIMARY KEY (tenant_id, namespace_id, unit_id)
      ) WITH (toast_tuple_target = 8160, fillfactor = 90)$ddl$, t, p_dimension);
    EXECUTE format('CREATE INDEX ON %I (tenant_id, namespace_id, occurred_at)', t);
    EXECUTE format('CREATE INDEX ON %I (tenant_id, namespace_id, memory_id)', t);
    EXECUTE format('CREATE INDEX ON %I USING gin (sv_keys(sv))', t);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO rearview_service USING (tenant_id = (SELECT rearview_tenant()))', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO rearview_service', t);
  END LOOP;
  EXECUTE format('CREATE INDEX ON %I USING hnsw (embedding halfvec_cosine_ops) WITH (m = 32, ef_construction = 128)', 'search_unit_' || n);
  PERFORM rearview_create_search_functions(n);
  RETURN n;
END $$;

-- A memory's history runs backwards over what it superseded.
CREATE INDEX memory_by_successor ON memory (tenant_id, namespace_id, superseded_by) WHERE superseded_by IS NOT NULL;
