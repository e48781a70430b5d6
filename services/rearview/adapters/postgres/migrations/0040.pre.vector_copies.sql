-- Copies of a namespace's vectors in the memory of those who search them: what changed in the table since a copy was made,
-- and the vector route by what a copy found.

-- Which units were written to, or deleted from, the table of a generation that carries the vector index; kept for half an
-- hour. New units are in the fresh table first, which every search reads.
CREATE TABLE unit_change (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  ordinal      int2 NOT NULL,
  change       xid8 NOT NULL DEFAULT pg_current_xact_id(),
  change_id    uuid NOT NULL DEFAULT gen_random_uuid(),
  unit_ids     uuid[] NOT NULL,
  changed_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, namespace_id, ordinal, change, change_id)
);
CREATE INDEX unit_change_by_age ON unit_change (changed_at);
ALTER TABLE unit_change ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON unit_change TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
GRANT SELECT ON unit_change TO rearview_service;

-- Runs as the owner, so that nobody can write past it.
CREATE FUNCTION rearview_units_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO unit_change (tenant_id, namespace_id, ordinal, unit_ids)
  SELECT c.tenant_id, c.namespace_id, TG_ARGV[0]::int2, array_agg(c.unit_id) FROM changed c GROUP BY c.tenant_id, c.namespace_id;
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION rearview_units_changed() FROM PUBLIC;

CREATE FUNCTION rearview_expire_unit_changes(p_limit int) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH old AS (
    SELECT tenant_id, namespace_id, ordinal, change, change_id FROM unit_change
    WHERE changed_at < now() - interval '30 minutes' ORDER BY changed_at LIMIT p_limit FOR UPDATE SKIP LOCKED),
  gone AS (
    DELETE FROM unit_change c USING old o
    WHERE c.tenant_id = o.tenant_id AND c.namespace_id = o.namespace_id AND c.ordinal = o.ordinal AND c.change = o.change
      AND c.change_id = o.change_id RETURNING 1)
  SELECT count(*) FROM gone
$$;
REVOKE ALL ON FUNCTION rearview_expire_unit_changes(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_expire_unit_changes(int) TO rearview_service;

CREATE FUNCTION rearview_route_by_copies(p_ordinal smallint) RETURNS void LANGUAGE plpgsql AS $create$
BEGIN
  EXECUTE format('CREATE OR REPLACE TRIGGER units_inserted AFTER INSERT ON search_unit_%1$s REFERENCING NEW TABLE AS changed'
                 ' FOR EACH STATEMENT EXECUTE FUNCTION rearview_units_changed(%1$s)', p_ordinal);
  EXECUTE format('CREATE OR REPLACE TRIGGER units_updated AFTER UPDATE ON search_unit_%1$s REFERENCING NEW TABLE AS changed'
                 ' FOR EACH STATEMENT EXECUTE FUNCTION rearview_units_changed(%1$s)', p_ordinal);
  EXECUTE format('CREATE OR REPLACE TRIGGER units_deleted AFTER DELETE ON search_unit_%1$s REFERENCING OLD TABLE AS changed'
                 ' FOR EACH STATEMENT EXECUTE FUNCTION rearview_units_changed(%1$s)', p_ordinal);

  -- The nearest of the units given, of the fresh table, and of one language.
  EXECUTE format($ddl$
    CREATE OR REPLACE FUNCTION rearview_nearest_of_%1$s(p_tenant uuid, p_namespace uuid, p_vector halfvec, p_states int2[],
                                                        p_units uuid[], p_chinese boolean, p_limit int)
    RETURNS TABLE (unit_id uuid, distance float8) LANGUAGE sql STABLE AS $body$
      SELECT x.unit_id, x.distance FROM (
        SELECT u.unit_id, u.embedding <=> p_vector AS distance FROM search_unit_%1$s u
        WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.unit_id = ANY (p_units)
          AND u.state = ANY (p_states)
          AND CASE WHEN p_chinese THEN (u.flags & 4::int2) <> 0 ELSE (u.flags & 4::int2) = 0 OR (u.flags & 8::int2) <> 0 END
        UNION ALL
        SELECT u.unit_id, u.embedding <=> p_vector FROM search_unit_fresh_%1$s u
        WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.state = ANY (p_states)
          AND CASE WHEN p_chinese THEN (u.flags & 4::int2) <> 0 ELSE (u.flags & 4::int2) = 0 OR (u.flags & 8::int2) <> 0 END
        OFFSET 0) x
      ORDER BY x.distance LIMIT p_limit
    $body$ $ddl$, p_ordinal);

  -- As the route without the last three arguments, by what a copy found: the nearest units of each language in the table as
  -- it was at p_since, more than p_limit, so that some may have gone since. What changed later is compared with them. The
  -- index is asked where there is no copy, where too much has changed or gone, and where p_since is of another database.
  EXECUTE format($ddl$
    CREATE OR REPLACE FUNCTION rearview_vector_route_%1$s(
      p_tenant uuid, p_namespace uuid, p_vector halfvec, p_states int2[], p_memories uuid[], p_limit int, p_exact boolean,
      p_chinese uuid[], p_other uuid[], p_since xid8)
    RETURNS TABLE (unit_id uuid, exact boolean, distance float8, list int2) LANGUAGE plpgsql STABLE AS $body$
    DECLARE
      v_changed uuid[] := '{}'; v_chinese_units bigint; v_english_units bigint;
      v_zh uuid[]; v_zh_distances float8[]; v_other uuid[]; v_other_distances float8[];
    BEGIN
      IF p_vector IS NULL OR p_limit <= 0 THEN RETURN; END IF;
      IF p_since IS NOT NULL AND NOT p_exact AND p_memories IS NULL AND p_since <= pg_snapshot_xmax(pg_current_snapshot()) THEN
        SELECT coalesce(array_agg(x.unit_id), '{}') INTO v_changed FROM (
          SELECT DISTINCT u.unit_id FROM unit_change c CROSS JOIN LATERAL unnest(c.unit_ids) AS u (unit_id)
          WHERE c.tenant_id = p_tenant AND c.namespace_id = p_namespace AND c.ordinal = %1$s AND c.change >= p_since
          LIMIT 1001) x;
        IF cardinality(v_changed) <= 1000 THEN
          SELECT coalesce(array_agg(n.unit_id), '{}'), coalesce(array_agg(n.distance), '{}') INTO v_zh, v_zh_distances
          FROM rearview_nearest_of_%1$s(p_tenant, p_namespace, p_vector, p_states, p_chinese || v_changed, true, p_limit) n;
          SELECT coalesce(array_agg(n.unit_id), '{}'), coalesce(array_agg(n.distance), '{}') INTO v_other, v_other_distances
          FROM rearview_nearest_of_%1$s(p_tenant, p_namespace, p_vector, p_states, p_other || v_changed, false, p_limit) n;
        END IF;
      END IF;
      IF v_zh IS NULL OR cardinality(v_zh) < p_limit AND cardinality(p_chinese) >= p_limit
         OR cardinality(v_other) < p_limit AND cardinality(p_other) >= p_limit THEN
        RETURN QUERY SELECT r.unit_id, r.exact, r.distance, r.list
          FROM rearview_vector_route_%1$s(p_tenant, p_namespace, p_vector, p_states, p_memories, p_limit, p_exact) r;
        RETURN;
      END IF;
      SELECT s.chinese_units, s.english_units INTO v_chinese_units, v_english_units
      FROM namespace_statistics s WHERE s.tenant_id = p_tenant AND s.namespace_id = p_namespace;
      IF v_chinese_units > 0 AND v_english_units > 0 THEN
        RETURN QUERY SELECT n.id, false, n.away, 4::int2 FROM unnest(v_zh, v_zh_distances) AS n (id, away);
        RETURN QUERY SELECT n.id, false, n.away, 8::int2 FROM unnest(v_other, v_other_distances) AS n (id, away);
        RETURN;
      END IF;
      RETURN QUERY SELECT n.id, false, n.away, 0::int2
        FROM unnest(v_zh || v_other, v_zh_distances || v_other_distances) AS n (id, away) ORDER BY n.away LIMIT p_limit;
    END $body$ $ddl$, p_ordinal);
END $create$;
REVOKE ALL ON FUNCTION rearview_route_by_copies(smallint) FROM PUBLIC, rearview_service;

-- As in 0036, and with its copies' route.
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
  END IF;
  RETURN n;
END $$;

DO $$
DECLARE n smallint;
BEGIN
  FOR n IN SELECT ordinal FROM model_generation ORDER BY ordinal LOOP
    PERFORM rearview_route_by_copies(n);
  END LOOP;
END $$;
