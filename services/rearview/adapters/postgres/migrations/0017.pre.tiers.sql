-- Tiers: what makes a memory warm or cold, who may move it, and where its cold bytes are.

-- NULL takes the platform's default, in a namespace the tenant's value.
ALTER TABLE tenant_policy
  ADD COLUMN warm_after         interval,
  ADD COLUMN cold_after         interval,
  ADD COLUMN max_hot_memories   bigint,
  ADD COLUMN hot_priority_floor real;

CREATE TABLE namespace_policy (
  tenant_id          uuid NOT NULL,
  namespace_id       uuid NOT NULL,
  warm_after         interval,
  cold_after         interval,
  max_hot_memories   bigint,
  hot_priority_floor real,
  version            bigint NOT NULL,
  updated_at         timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id)
);

-- Who moves memories of a namespace. The token grows with every holder; whoever comes with an old one changes nothing.
CREATE TABLE lifecycle_lease (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  holder       uuid,
  token        bigint NOT NULL DEFAULT 0,
  expires_at   timestamptz NOT NULL,
  swept_at     timestamptz,
  PRIMARY KEY (tenant_id, namespace_id)
);

-- Long work that an administrator asked for.
CREATE TABLE operation (
  tenant_id    uuid NOT NULL,
  operation_id uuid NOT NULL,
  kind         text NOT NULL,
  arguments    jsonb NOT NULL,             -- ids only
  completed    bigint NOT NULL DEFAULT 0,
  total        bigint NOT NULL DEFAULT 0,
  counts       jsonb NOT NULL DEFAULT '{}',
  error        text NOT NULL DEFAULT '',
  started_at   timestamptz NOT NULL,
  ended_at     timestamptz,
  PRIMARY KEY (tenant_id, operation_id)
);

-- The catalog of cold segments: an object without a row is an orphan.
CREATE TABLE cold_segment (
  tenant_id      uuid NOT NULL,
  namespace_id   uuid NOT NULL,
  segment_id     uuid NOT NULL,
  object_key     text NOT NULL,
  generation     smallint NOT NULL,        -- model_generation.ordinal of its vectors
  memories       int4 NOT NULL,
  units          int4 NOT NULL,
  index_bytes    bigint NOT NULL,          -- the object's front, which is searched
  total_bytes    bigint NOT NULL,
  block_offsets  int8[] NOT NULL,          -- where its payload blocks begin, and where the last one ends
  first_occurred timestamptz NOT NULL,
  last_occurred  timestamptz NOT NULL,
  created_at     timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, segment_id)
);

-- Rows of segments to which no memory points any more; their bytes go at the next compaction, or purge.
CREATE TABLE cold_dead (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  segment_id   uuid NOT NULL,
  segment_row  int4 NOT NULL,
  memory_id    uuid NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, segment_id, segment_row)
);
CREATE INDEX cold_dead_by_memory ON cold_dead (tenant_id, namespace_id, memory_id);

-- Objects that no catalog row names any more and whose versions are still to be deleted.
CREATE TABLE cold_garbage (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  object_key   text NOT NULL,
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, object_key)
);

ALTER TABLE memory
  ADD COLUMN tiered_at   timestamptz,      -- when it came to its tier; NULL for what was always hot
  ADD COLUMN segment_id  uuid,             -- of a cold memory
  ADD COLUMN segment_row int4,
  ADD COLUMN cold_bytes  int4;             -- of its text
-- A pointer row takes as little as it can: cold memories need no place in the order of ages, and a segment's share one key.
CREATE INDEX memory_by_tier ON memory (tenant_id, namespace_id, tier, updated_at) WHERE tier < 3;
CREATE INDEX memory_by_segment ON memory (tenant_id, namespace_id, segment_id) WHERE segment_id IS NOT NULL;

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['namespace_policy', 'lifecycle_lease', 'operation', 'cold_segment', 'cold_dead', 'cold_garbage'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO rearview_service USING (tenant_id = (SELECT rearview_tenant()))', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO rearview_service', t);
  END LOOP;
END $$;

-- The warm search table of a generation: the units of warm memories without a vector index, which is half the bytes of
-- a hot unit and 300 times the work of storing one. Its vectors are compared exactly, one namespace at a time.
CREATE FUNCTION rearview_create_warm_tables(p_ordinal smallint, p_dimension int) RETURNS void LANGUAGE plpgsql AS $create$
DECLARE t text := 'search_unit_warm_' || p_ordinal;
BEGIN
  EXECUTE format($ddl$
    CREATE TABLE %1$I (
      tenant_id    uuid NOT NULL,
      namespace_id uuid NOT NULL,
      unit_id      uuid NOT NULL,
      memory_id    uuid NOT NULL,
      occurred_at  timestamptz NOT NULL,
      speaker      int4 NOT NULL DEFAULT 0,
      flags        int2 NOT NULL DEFAULT 0,
      state        int2 NOT NULL DEFAULT 0,
      type         int2 NOT NULL,
      created_at   timestamptz NOT NULL,
      embedding    halfvec(%2$s) NOT NULL,
      sv           sparsevec(1000000000) NOT NULL,
      PRIMARY KEY (tenant_id, namespace_id, unit_id)
    ) WITH (toast_tuple_target = 8160)$ddl$, t, p_dimension);
  EXECUTE format('CREATE INDEX ON %I (tenant_id, namespace_id, occurred_at)', t);
  EXECUTE format('CREATE INDEX ON %I (tenant_id, namespace_id, memory_id)', t);
  EXECUTE format('CREATE INDEX ON %I USING gin (sv_keys(sv))', t);
  EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
  EXECUTE format('CREATE POLICY own_tenant ON %I TO rearview_service USING (tenant_id = (SELECT rearview_tenant()))', t);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO rearview_service', t);
END $create$;

-- The warm part of the vector, keyword, entity and time routes. Definer because && is not leak-proof, as the hot
-- keyword route; it therefore checks the tenant itself. A namespace without warm units costs one look at an index.
CREATE FUNCTION rearview_create_warm_functions(p_ordinal smallint) RETURNS void LANGUAGE plpgsql AS $create$
DECLARE
  signature text := format('rearview_warm_routes_%s(uuid, uuid, halfvec, sparsevec, int4[], int2[], uuid[], uuid[], timestamptz[], timestamptz[], int, int)', p_ordinal);
BEGIN
  EXECUTE format($ddl$
    CREATE OR REPLACE FUNCTION rearview_warm_routes_%1$s(
      p_tenant uuid, p_namespace uuid, p_vector halfvec, p_weights sparsevec, p_terms int4[], p_states int2[],
      p_memories uuid[], p_entity_memories uuid[], p_starts timestamptz[], p_ends timestamptz[], p_scan int, p_limit int)
    RETURNS TABLE (unit_id uuid, routes int) LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = public, pg_temp SET plan_cache_mode = force_custom_plan AS $body$
    DECLARE v_languages int2[];
    BEGIN
      IF rearview_tenant() IS NULL OR p_tenant IS DISTINCT FROM rearview_tenant() THEN RAISE insufficient_privilege; END IF;
      IF NOT EXISTS (SELECT FROM search_unit_warm_%1$s u WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace) THEN
        RETURN;
      END IF;
      SELECT CASE WHEN s.chinese_units > 0 AND s.english_units > 0 THEN '{4,8}'::int2[] END INTO v_languages
      FROM namespace_statistics s WHERE s.tenant_id = p_tenant AND s.namespace_id = p_namespace;
      RETURN QUERY
        SELECT x.unit_id, bit_or(x.route)::int FROM (
          SELECT v.unit_id, 1 AS route
          FROM unnest(coalesce(v_languages, '{0}')) AS l (language)
          CROSS JOIN LATERAL (
            SELECT u.unit_id FROM search_unit_warm_%1$s u
            WHERE p_vector IS NOT NULL AND u.tenant_id = p_tenant AND u.namespace_id = p_namespace
              AND u.state = ANY (p_states) AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))
              AND (l.language = 0 OR u.flags & l.language <> 0 OR u.flags & 12::int2 = 0)
            ORDER BY u.embedding <=> p_vector LIMIT p_limit) v
          UNION ALL
          (SELECT u.unit_id, 2 FROM search_unit_warm_%1$s u
           WHERE sv_keys(u.sv) && p_terms AND u.tenant_id IS NOT DISTINCT FROM p_tenant
             AND u.namespace_id IS NOT DISTINCT FROM p_namespace AND u.state = ANY (p_states)
             AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))
           ORDER BY u.sv <#> p_weights LIMIT p_limit)
          UNION ALL
          (SELECT u.unit_id, 4 FROM search_unit_warm_%1$s u
           WHERE u.tenant_id = p_tenant AND u.namespace_id = p_namespace AND u.memory_id = ANY (p_entity_memories)
             AND u.state = ANY (p_states) AND (p_memories IS NULL OR u.memory_id = ANY (p_memories))
           ORDER BY u.embedding <=> p_vector LIMIT p_limit)
          UNION ALL
          (SELECT t.unit_id, 8 FROM (
             SELECT u.unit_id, u.embedding FROM unnest(p_starts, p_ends) AS r (starts, ends)
             CROSS JOIN LATERAL (
               SELECT w.unit_id, w.embedding FROM search_unit_warm_%1$s w
               WHERE w.tenant_id = p_tenant AND w.namespace_id = p_namespace AND w.occurred_at >= r.starts
                 AND w.occurred_at < r.ends AND w.state = ANY (p_states)
                 AND (p_memories IS NULL OR w.memory_id = ANY (p_memories))
               ORDER BY w.occurred_at DESC LIMIT p_scan) u) t
           ORDER BY t.embedding <=> p_vector LIMIT p_limit)) x
        GROUP BY x.unit_id;
    END $body$ $ddl$, p_ordinal);
  EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', signature);
  EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO rearview_service', signature);
END $create$;
REVOKE ALL ON FUNCTION rearview_create_warm_tables(smallint, int), rearview_create_warm_functions(smallint) FROM PUBLIC;

-- Each generation has them, whoever registers it.
CREATE FUNCTION rearview_prepare_warm() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM rearview_create_warm_tables(NEW.ordinal, NEW.dimension);
  PERFORM rearview_create_warm_functions(NEW.ordinal);
  RETURN NULL;
END $$;
CREATE TRIGGER prepare_warm AFTER INSERT ON model_generation FOR EACH ROW EXECUTE FUNCTION rearview_prepare_warm();

DO $$
DECLARE g record;
BEGIN
  FOR g IN SELECT ordinal, dimension FROM model_generation LOOP
    PERFORM rearview_create_warm_tables(g.ordinal, g.dimension);
    PERFORM rearview_create_warm_functions(g.ordinal);
  END LOOP;
END $$;

-- Namespaces that hold memories and were not swept for a while and have no sweep waiting. Runs as the owner, since a
-- round knows no tenant; returns ids only.
CREATE FUNCTION rearview_unswept_namespaces(p_age interval, p_limit int)
RETURNS TABLE (tenant_id uuid, namespace_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT n.tenant_id, n.namespace_id FROM namespace n
  LEFT JOIN lifecycle_lease l ON l.tenant_id = n.tenant_id AND l.namespace_id = n.namespace_id
  WHERE n.deleted_at IS NULL AND coalesce(l.swept_at, '-infinity') < now() - p_age
    AND EXISTS (SELECT FROM memory m WHERE m.tenant_id = n.tenant_id AND m.namespace_id = n.namespace_id)
    AND NOT EXISTS (SELECT FROM procrastinate_jobs j
                    WHERE j.lock = format('sweep:%s:%s', n.tenant_id, n.namespace_id) AND j.status IN ('todo', 'doing'))
  ORDER BY l.swept_at NULLS FIRST LIMIT p_limit
$$;

-- Which of these segments no catalog holds any more: what a reader has of them must go.
CREATE FUNCTION rearview_gone_segments(p_segments uuid[]) RETURNS TABLE (segment_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT s FROM unnest(p_segments) AS s WHERE NOT EXISTS (SELECT FROM cold_segment c WHERE c.segment_id = s)
$$;
CREATE INDEX cold_segment_by_id ON cold_segment (segment_id);

DO $$
DECLARE f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['rearview_unswept_namespaces(interval, int)', 'rearview_gone_segments(uuid[])'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO rearview_service', f);
  END LOOP;
END $$;
