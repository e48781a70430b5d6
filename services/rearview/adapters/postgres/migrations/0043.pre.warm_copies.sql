-- Copies of vectors hold warm units, too. What moves from the indexed table to the warm one changes no copy, and what goes
-- need not be compared with what a copy found.

ALTER TABLE unit_change ADD COLUMN gone boolean NOT NULL DEFAULT false;

CREATE OR REPLACE FUNCTION rearview_units_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF current_setting('app.moving_units', true) = 'on' THEN RETURN NULL; END IF;
  INSERT INTO unit_change (tenant_id, namespace_id, ordinal, unit_ids, gone)
  SELECT c.tenant_id, c.namespace_id, TG_ARGV[0]::int2, array_agg(c.unit_id), TG_OP = 'DELETE'
  FROM changed c GROUP BY c.tenant_id, c.namespace_id;
  RETURN NULL;
END $$;

CREATE FUNCTION rearview_copy_warm_units(p_ordinal smallint) RETURNS void LANGUAGE plpgsql AS $create$
BEGIN
  EXECUTE format('CREATE OR REPLACE TRIGGER units_inserted AFTER INSERT ON search_unit_warm_%1$s REFERENCING NEW TABLE AS changed'
                 ' FOR EACH STATEMENT EXECUTE FUNCTION rearview_units_changed(%1$s)', p_ordinal);
  EXECUTE format('CREATE OR REPLACE TRIGGER units_updated AFTER UPDATE ON search_unit_warm_%1$s REFERENCING NEW TABLE AS changed'
                 ' FOR EACH STATEMENT EXECUTE FUNCTION rearview_units_changed(%1$s)', p_ordinal);
  EXECUTE format('CREATE OR REPLACE TRIGGER units_deleted AFTER DELETE ON search_unit_warm_%1$s REFERENCING OLD TABLE AS changed'
                 ' FOR EACH STATEMENT EXECUTE FUNCTION rearview_units_changed(%1$s)', p_ordinal);

  -- The nearest, of one language, of the units given, wherever they are, and of the fresh table.
  EXECUTE format($ddl$
    CREATE OR REPLACE FUNCTION rearview_nearest_anywhere_%1$s(p_tenant uuid, p_namespace uuid, p_vector halfvec, p_states int2[],
                                                   p_units uuid[], p_chinese boolean, p_limit int, p_with_warm boolean)
    RETURNS TABLE (unit_id uuid, distance float8, warm boolean) LANGUAGE sql STABLE AS $body$
      SELECT x.unit_id, x.distance, x.warm FROM (
        SELECT u.unit_id, u.embedding <=> p_vector AS distance, u.occurred_at, false AS warm FROM search_unit_%1$s u
        WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.unit_id = ANY (p_units)
          AND u.state = ANY (p_states)
          AND CASE WHEN p_chinese THEN (u.flags & 4::int2) <> 0 ELSE (u.flags & 4::int2) = 0 OR (u.flags & 8::int2) <> 0 END
        UNION ALL
        SELECT u.unit_id, u.embedding <=> p_vector, u.occurred_at, true FROM search_unit_warm_%1$s u
        WHERE p_with_warm AND u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.unit_id = ANY (p_units)
          AND u.state = ANY (p_states)
          AND CASE WHEN p_chinese THEN (u.flags & 4::int2) <> 0 ELSE (u.flags & 4::int2) = 0 OR (u.flags & 8::int2) <> 0 END
        UNION ALL
        SELECT u.unit_id, u.embedding <=> p_vector, u.occurred_at, false FROM search_unit_fresh_%1$s u
        WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states)
          AND CASE WHEN p_chinese THEN (u.flags & 4::int2) <> 0 ELSE (u.flags & 4::int2) = 0 OR (u.flags & 8::int2) <> 0 END
        OFFSET 0) x
      ORDER BY x.distance, x.occurred_at DESC LIMIT p_limit
    $body$ $ddl$, p_ordinal);

  -- The nearest units by what a copy found: those of each language as they were at p_since, more than p_limit, so that some
  -- may have gone since. What was written later is compared with them. One row without a unit says that the copy does not
  -- do: there is none, too much was written or has gone, or p_since is of another database.
  EXECUTE format($ddl$
    CREATE OR REPLACE FUNCTION rearview_near_by_copy_%1$s(
      p_tenant uuid, p_namespace uuid, p_vector halfvec, p_states int2[], p_limit int, p_chinese uuid[], p_other uuid[],
      p_since xid8)
    RETURNS TABLE (unit_id uuid, distance float8, list int2, warm boolean) LANGUAGE plpgsql STABLE AS $body$
    DECLARE
      v_written uuid[]; v_with_warm boolean; v_chinese_units bigint; v_english_units bigint;
      v_zh uuid[]; v_zh_distances float8[]; v_zh_warm boolean[];
      v_other uuid[]; v_other_distances float8[]; v_other_warm boolean[];
    BEGIN
      IF p_since IS NULL OR p_since > pg_snapshot_xmax(pg_current_snapshot()) THEN
        RETURN NEXT;
        RETURN;
      END IF;
      SELECT coalesce(array_agg(x.unit_id), '{}') INTO v_written FROM (
        SELECT DISTINCT u.unit_id FROM unit_change c CROSS JOIN LATERAL unnest(c.unit_ids) AS u (unit_id)
        WHERE c.tenant_id = p_tenant AND c.namespace_id = p_namespace AND c.ordinal = %1$s AND c.change >= p_since AND NOT c.gone
        LIMIT 1001) x;
      IF cardinality(v_written) > 1000 THEN
        RETURN NEXT;
        RETURN;
      END IF;
      v_with_warm := EXISTS (SELECT FROM search_unit_warm_%1$s w WHERE w.tenant_id = p_tenant AND w.namespace_id = p_namespace);
      SELECT coalesce(array_agg(n.unit_id), '{}'), coalesce(array_agg(n.distance), '{}'), coalesce(array_agg(n.warm), '{}')
      INTO v_zh, v_zh_distances, v_zh_warm
      FROM rearview_nearest_anywhere_%1$s(p_tenant, p_namespace, p_vector, p_states, p_chinese || v_written, true, p_limit,
                                          v_with_warm) n;
      SELECT coalesce(array_agg(n.unit_id), '{}'), coalesce(array_agg(n.distance), '{}'), coalesce(array_agg(n.warm), '{}')
      INTO v_other, v_other_distances, v_other_warm
      FROM rearview_nearest_anywhere_%1$s(p_tenant, p_namespace, p_vector, p_states, p_other || v_written, false, p_limit,
                                          v_with_warm) n;
      IF cardinality(v_zh) < p_limit AND cardinality(p_chinese) >= p_limit
         OR cardinality(v_other) < p_limit AND cardinality(p_other) >= p_limit THEN
        RETURN NEXT;
        RETURN;
      END IF;
      SELECT s.chinese_units, s.english_units INTO v_chinese_units, v_english_units
      FROM namespace_statistics s WHERE s.tenant_id = p_tenant AND s.namespace_id = p_namespace;
      IF v_chinese_units > 0 AND v_english_units > 0 THEN
        RETURN QUERY SELECT n.id, n.away, 4::int2, n.warm FROM unnest(v_zh, v_zh_distances, v_zh_warm) AS n (id, away, warm);
        RETURN QUERY
          SELECT n.id, n.away, 8::int2, n.warm FROM unnest(v_other, v_other_distances, v_other_warm) AS n (id, away, warm);
        RETURN;
      END IF;
      RETURN QUERY SELECT n.id, n.away, 0::int2, n.warm
        FROM unnest(v_zh || v_other, v_zh_distances || v_other_distances, v_zh_warm || v_other_warm) AS n (id, away, warm)
        ORDER BY n.away LIMIT p_limit;
    END $body$ $ddl$, p_ordinal);

  -- As the route without the last three arguments, by a copy where it does: of the nearest units those that are not warm.
  EXECUTE format($ddl$
    CREATE OR REPLACE FUNCTION rearview_vector_route_%1$s(
      p_tenant uuid, p_namespace uuid, p_vector halfvec, p_states int2[], p_memories uuid[], p_limit int, p_exact boolean,
      p_chinese uuid[], p_other uuid[], p_since xid8)
    RETURNS TABLE (unit_id uuid, exact boolean, distance float8, list int2) LANGUAGE plpgsql STABLE AS $body$
    DECLARE v_near record; v_by_copy boolean;
    BEGIN
      IF p_vector IS NULL OR p_limit <= 0 THEN RETURN; END IF;
      v_by_copy := NOT p_exact AND p_memories IS NULL AND p_since IS NOT NULL;
      IF v_by_copy THEN
        FOR v_near IN
          SELECT n.* FROM rearview_near_by_copy_%1$s(p_tenant, p_namespace, p_vector, p_states, p_limit, p_chinese, p_other, p_since) n
        LOOP
          v_by_copy := v_near.unit_id IS NOT NULL;
          IF NOT v_near.warm THEN
            unit_id := v_near.unit_id; exact := false; distance := v_near.distance; list := v_near.list;
            RETURN NEXT;
          END IF;
        END LOOP;
      END IF;
      IF NOT v_by_copy THEN
        RETURN QUERY SELECT r.unit_id, r.exact, r.distance, r.list
          FROM rearview_vector_route_%1$s(p_tenant, p_namespace, p_vector, p_states, p_memories, p_limit, p_exact) r;
      END IF;
    END $body$ $ddl$, p_ordinal);

  -- The same over warm units, which have no index: without a copy all of the namespace are compared.
  EXECUTE format($ddl$
    CREATE OR REPLACE FUNCTION rearview_warm_vector_route_%1$s(
      p_tenant uuid, p_namespace uuid, p_vector halfvec, p_states int2[], p_memories uuid[], p_limit int, p_exact boolean,
      p_chinese uuid[], p_other uuid[], p_since xid8)
    RETURNS TABLE (unit_id uuid, exact boolean, distance float8, list int2) LANGUAGE plpgsql STABLE AS $body$
    DECLARE v_near record; v_by_copy boolean; v_languages int2[]; v_language int2;
    BEGIN
      IF p_vector IS NULL OR p_limit <= 0 THEN RETURN; END IF;
      v_by_copy := NOT p_exact AND p_memories IS NULL AND p_since IS NOT NULL;
      IF v_by_copy THEN
        FOR v_near IN
          SELECT n.* FROM rearview_near_by_copy_%1$s(p_tenant, p_namespace, p_vector, p_states, p_limit, p_chinese, p_other, p_since) n
        LOOP
          v_by_copy := v_near.unit_id IS NOT NULL;
          IF v_near.warm THEN
            unit_id := v_near.unit_id; exact := false; distance := v_near.distance; list := v_near.list;
            RETURN NEXT;
          END IF;
        END LOOP;
      END IF;
      IF v_by_copy THEN RETURN; END IF;
      SELECT CASE WHEN s.chinese_units > 0 AND s.english_units > 0 THEN '{4,8}'::int2[] END INTO v_languages
      FROM namespace_statistics s WHERE s.tenant_id = p_tenant AND s.namespace_id = p_namespace;
      FOREACH v_language IN ARRAY coalesce(v_languages, '{0}') LOOP
        RETURN QUERY
          SELECT u.unit_id, true, u.embedding <=> p_vector, v_language FROM search_unit_warm_%1$s u
          WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states)
            AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))
            AND CASE v_language WHEN 0 THEN true WHEN 4 THEN (u.flags & 4::int2) <> 0
                     ELSE (u.flags & 4::int2) = 0 OR (u.flags & 8::int2) <> 0 END
          ORDER BY u.embedding <=> p_vector, u.occurred_at DESC LIMIT p_limit;
      END LOOP;
    END $body$ $ddl$, p_ordinal);

  -- Definer because && is not leak-proof, as the hot keyword route; it therefore checks the tenant itself.
  EXECUTE format($ddl$
    CREATE OR REPLACE FUNCTION rearview_warm_keyword_route_%1$s(p_tenant uuid, p_namespace uuid, p_weights sparsevec, p_terms int4[],
                                                     p_states int2[], p_memories uuid[], p_limit int)
    RETURNS TABLE (unit_id uuid) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $body$
    BEGIN
      IF rearview_tenant() IS NULL OR p_tenant IS DISTINCT FROM rearview_tenant() THEN RAISE insufficient_privilege; END IF;
      RETURN QUERY
        SELECT u.unit_id FROM search_unit_warm_%1$s u
        WHERE sv_keys(u.sv) && p_terms AND u.tenant_id IS NOT DISTINCT FROM p_tenant
          AND u.namespace_id IS NOT DISTINCT FROM p_namespace AND u.state = ANY (p_states)
          AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))
        ORDER BY round((u.sv <#> p_weights) * 10000), u.occurred_at DESC LIMIT p_limit;
    END $body$ $ddl$, p_ordinal);
  EXECUTE format('REVOKE ALL ON FUNCTION rearview_warm_keyword_route_%s(uuid, uuid, sparsevec, int4[], int2[], uuid[], int) FROM PUBLIC',
                 p_ordinal);
  EXECUTE format('GRANT EXECUTE ON FUNCTION rearview_warm_keyword_route_%s(uuid, uuid, sparsevec, int4[], int2[], uuid[], int)'
                 ' TO rearview_service', p_ordinal);
END $create$;
REVOKE ALL ON FUNCTION rearview_copy_warm_units(smallint) FROM PUBLIC, rearview_service;

-- Plans are kept while their tables grow. One that was made for a table of a few rows reads a whole namespace for each row
-- that it joins; new statistics have it made again, and the database's own rounds look for what lacks them once a minute.
CREATE FUNCTION rearview_analyze_grown(p_table text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE v_table regclass; v_pages int;
BEGIN
  SELECT c.oid::regclass, c.relpages INTO v_table, v_pages FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname = p_table
    AND (c.relname = 'memory_stats' OR c.relname ~ '^search_unit_warm_[0-9]+$');
  IF v_table IS NULL OR pg_relation_size(v_table) <= (2 * greatest(v_pages, 0) + 8) * current_setting('block_size')::bigint THEN
    RETURN false;
  END IF;
  EXECUTE format('ANALYZE (SKIP_LOCKED) %s', v_table);
  RETURN true;
END $$;
REVOKE ALL ON FUNCTION rearview_analyze_grown(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_analyze_grown(text) TO rearview_service;

-- As in 0041, and with copies of warm units.
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
    PERFORM rearview_copy_warm_units(n);
  END IF;
  RETURN n;
END $$;

DO $$
DECLARE n smallint;
BEGIN
  FOR n IN SELECT ordinal FROM model_generation ORDER BY ordinal LOOP
    PERFORM rearview_copy_warm_units(n);
  END LOOP;
END $$;
