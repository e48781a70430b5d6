-- Units near each of several vectors, as before; the units that no index holds yet are read once instead of once a vector,
-- and of the others half as many are looked at: what is wanted is the nearest few, not a hundred.
CREATE OR REPLACE FUNCTION rearview_near_units_of(p_ordinal smallint, p_tenant uuid, p_namespace uuid, p_vectors halfvec[],
                                                  p_limit int)
RETURNS TABLE (place bigint, unit_id uuid) LANGUAGE plpgsql STABLE
SET hnsw.ef_search = 40 SET hnsw.iterative_scan = relaxed_order AS $$
DECLARE v_units bigint; v_chinese bigint; v_english bigint; v_list record;
BEGIN
  IF cardinality(p_vectors) = 0 OR p_limit <= 0 THEN RETURN; END IF;
  SELECT s.units, s.chinese_units, s.english_units INTO v_units, v_chinese, v_english
  FROM namespace_statistics s WHERE s.tenant_id = p_tenant AND s.namespace_id = p_namespace;
  v_units := coalesce(v_units, 0);
  v_chinese := coalesce(v_chinese, 0);
  FOR v_list IN
    SELECT l.language, l.rows, l.units FROM (VALUES
      ('zh', '(u.flags & 4::int2) <> 0', v_chinese),
      ('other', '((u.flags & 4::int2) = 0 OR (u.flags & 8::int2) <> 0)', greatest(coalesce(v_english, 0), v_units - v_chinese))
    ) AS l (language, rows, units)
  LOOP
    -- Exact where that is quicker: in a small namespace, and where it has a small share of the table, since the index would
    -- mostly lead to others' units.
    IF v_list.units <= 1000 OR v_list.units <= 50000 AND v_list.units < 0.02 * (
      SELECT c.reltuples FROM pg_class c WHERE c.oid = format('search_unit_%s_place_%s', p_ordinal, v_list.language)::regclass)
    THEN
      RETURN QUERY EXECUTE format($sql$
        WITH here AS MATERIALIZED (
          SELECT u.unit_id, u.embedding, u.occurred_at FROM search_unit_%1$s u
          WHERE u.tenant_id = $1 AND u.namespace_id = $2 AND u.state = 0 AND %2$s
          UNION ALL
          SELECT u.unit_id, u.embedding, u.occurred_at FROM search_unit_fresh_%1$s u
          WHERE u.tenant_id = $1 AND u.namespace_id = $2 AND u.state = 0 AND %2$s)
        SELECT a.place, n.unit_id
        FROM unnest($3) WITH ORDINALITY AS a (vector, place)
        CROSS JOIN LATERAL (
          SELECT h.unit_id FROM here h ORDER BY h.embedding <=> a.vector, h.occurred_at DESC LIMIT $4) n
        WHERE a.vector IS NOT NULL$sql$, p_ordinal, v_list.rows) USING p_tenant, p_namespace, p_vectors, p_limit;
    ELSE
      RETURN QUERY EXECUTE format($sql$
        WITH fresh AS MATERIALIZED (
          SELECT u.unit_id, u.embedding, u.occurred_at FROM search_unit_fresh_%1$s u
          WHERE u.tenant_id = $1 AND u.namespace_id = $2 AND u.state = 0 AND %2$s)
        SELECT a.place, n.unit_id
        FROM unnest($3) WITH ORDINALITY AS a (vector, place)
        CROSS JOIN LATERAL (
          SELECT x.unit_id FROM (
            (SELECT u.unit_id, u.embedding <=> a.vector AS distance, u.occurred_at FROM search_unit_%1$s u
             WHERE u.tenant_id = $1 AND u.namespace_id = $2 AND u.state = 0 AND %2$s
             ORDER BY u.embedding <=> a.vector LIMIT $4)
            UNION ALL
            SELECT f.unit_id, f.embedding <=> a.vector, f.occurred_at FROM fresh f) x
          ORDER BY x.distance, x.occurred_at DESC LIMIT $4) n
        WHERE a.vector IS NOT NULL$sql$, p_ordinal, v_list.rows) USING p_tenant, p_namespace, p_vectors, p_limit;
    END IF;
  END LOOP;
END $$;
