-- Re-embedding while recalls are answered. A tenant's memories get vectors of a second generation beside those of the
-- current one; then that generation answers the tenant, and when it answers all, writers make it the current one.

-- Which generation a tenant's memories are embedded for beside the current one, and whether it answers already.
CREATE TABLE tenant_generation (
  tenant_id    uuid PRIMARY KEY,
  ordinal      smallint NOT NULL,          -- model_generation.ordinal
  cleared      boolean NOT NULL,           -- nothing of an earlier time stands in its tables
  serving      boolean NOT NULL DEFAULT false,
  operation_id uuid NOT NULL,
  started_at   timestamptz NOT NULL
);

-- Units whose vectors of a generation are missing or older than the unit. `change` is the transaction that said so last.
CREATE TABLE unit_to_embed (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  ordinal      smallint NOT NULL,
  unit_id      uuid NOT NULL,
  memory_id    uuid NOT NULL,
  change       xid8 NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, ordinal, unit_id)
);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['tenant_generation', 'unit_to_embed'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO rearview_service USING (tenant_id = (SELECT rearview_tenant()))', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO rearview_service', t);
  END LOOP;
END $$;

-- When another one became the current generation in its place.
ALTER TABLE model_generation ADD COLUMN superseded_at timestamptz;

-- The generation that a session's open windows have their vectors of; NULL for what was written before there were two.
ALTER TABLE open_window ADD COLUMN generation smallint;

-- The generations that hold search units, the current one first. The lock is shared by all who write units and lasts as
-- long as their transactions: whoever takes it alone knows that every later transaction sees what it has committed.
CREATE FUNCTION rearview_search_generations() RETURNS TABLE (ordinal smallint) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtext('rearview_search_generations'));
  RETURN QUERY SELECT g.ordinal FROM model_generation g ORDER BY g.current DESC, g.ordinal;
END $$;

-- The generation that answers a tenant's recalls.
CREATE FUNCTION rearview_answering_generation(p_tenant uuid) RETURNS smallint LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT t.ordinal FROM tenant_generation t WHERE t.tenant_id = p_tenant AND t.serving),
                  (SELECT g.ordinal FROM model_generation g WHERE g.current))
$$;

-- A vector that is near nothing, for a unit that words and times are to find before the model has read it.
CREATE FUNCTION rearview_no_vector(p_dimension int) RETURNS halfvec LANGUAGE sql IMMUTABLE AS $$
  SELECT ('[1' || repeat(',0', p_dimension - 1) || ']')::halfvec
$$;

-- What is written to the tables of one generation is to be embedded for the others that the tenant uses; until then a
-- new unit is found there by its words. Runs as the owner, so that nobody can write past it.
CREATE FUNCTION rearview_unit_written() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE g record; v_own smallint := TG_ARGV[0]; v_there boolean := false;
BEGIN
  IF current_setting('app.embedding', true) = 'on' THEN RETURN NULL; END IF;
  PERFORM pg_advisory_xact_lock_shared(hashtext('rearview_search_generations'));
  FOR g IN
    SELECT m.ordinal, m.dimension FROM model_generation m
    WHERE m.ordinal <> v_own
      AND (m.current OR m.ordinal = (SELECT t.ordinal FROM tenant_generation t WHERE t.tenant_id = NEW.tenant_id))
  LOOP
    IF TG_OP = 'INSERT' THEN
      EXECUTE format('SELECT EXISTS (SELECT FROM search_unit_fresh_%1$s WHERE tenant_id = $1 AND namespace_id = $2 AND unit_id = $3)'
                     ' OR EXISTS (SELECT FROM search_unit_%1$s WHERE tenant_id = $1 AND namespace_id = $2 AND unit_id = $3)'
                     ' OR EXISTS (SELECT FROM search_unit_warm_%1$s WHERE tenant_id = $1 AND namespace_id = $2 AND unit_id = $3)',
                     g.ordinal) INTO v_there USING NEW.tenant_id, NEW.namespace_id, NEW.unit_id;
      CONTINUE WHEN v_there;
      EXECUTE format('INSERT INTO search_unit_fresh_%s (tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags,'
                     ' state, type, closed, created_at, embedding, sv)'
                     ' VALUES (($1).tenant_id, ($1).namespace_id, ($1).unit_id, ($1).memory_id, ($1).occurred_at, ($1).speaker, ($1).flags,'
                     ' ($1).state, ($1).type, ($1).closed, ($1).created_at, $2, ($1).sv) ON CONFLICT DO NOTHING', g.ordinal)
      USING NEW, rearview_no_vector(g.dimension);
    END IF;
    INSERT INTO unit_to_embed (tenant_id, namespace_id, ordinal, unit_id, memory_id, change)
    VALUES (NEW.tenant_id, NEW.namespace_id, g.ordinal, NEW.unit_id, NEW.memory_id, pg_current_xact_id())
    ON CONFLICT (tenant_id, namespace_id, ordinal, unit_id) DO UPDATE SET change = excluded.change;
  END LOOP;
  RETURN NULL;
END $$;

-- New units come to the fresh table only; what moves from there to another table has been there before. A unit that is
-- restored gets its vector back.
CREATE FUNCTION rearview_watch_units(p_ordinal smallint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE t text;
BEGIN
  EXECUTE format('CREATE TRIGGER unit_added AFTER INSERT ON search_unit_fresh_%1$s FOR EACH ROW'
                 ' EXECUTE FUNCTION rearview_unit_written(%1$s)', p_ordinal);
  FOREACH t IN ARRAY ARRAY['search_unit_', 'search_unit_fresh_', 'search_unit_warm_'] LOOP
    EXECUTE format('CREATE TRIGGER unit_changed AFTER UPDATE OF embedding, state ON %1$I FOR EACH ROW'
                   ' WHEN (OLD.embedding IS DISTINCT FROM NEW.embedding OR OLD.state = 2 AND NEW.state <> 2)'
                   ' EXECUTE FUNCTION rearview_unit_written(%2$s)', t || p_ordinal, p_ordinal);
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION rearview_watch_units(smallint) FROM PUBLIC;

ALTER FUNCTION rearview_register_generation(text, text, int, jsonb) RENAME TO rearview_create_generation_indexed;
REVOKE ALL ON FUNCTION rearview_create_generation_indexed(text, text, int, jsonb) FROM PUBLIC, rearview_service;

-- As before, and watched.
CREATE FUNCTION rearview_register_generation(p_generation_id text, p_model text, p_dimension int, p_card jsonb)
RETURNS smallint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE n smallint;
BEGIN
  SELECT g.ordinal INTO n FROM model_generation g WHERE g.generation_id = p_generation_id;
  IF FOUND THEN RETURN n; END IF;
  n := rearview_create_generation_indexed(p_generation_id, p_model, p_dimension, p_card);
  IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = ('search_unit_fresh_' || n)::regclass AND tgname = 'unit_added') THEN
    PERFORM rearview_watch_units(n);
  END IF;
  RETURN n;
END $$;
REVOKE ALL ON FUNCTION rearview_register_generation(text, text, int, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_register_generation(text, text, int, jsonb) TO rearview_service;

DO $$
DECLARE n smallint;
BEGIN
  FOR n IN SELECT ordinal FROM model_generation LOOP
    PERFORM rearview_watch_units(n);
  END LOOP;
END $$;

-- Waits until every transaction that writes units began after what was committed before this one.
CREATE FUNCTION rearview_await_writers() RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtext('rearview_search_generations'))
$$;

-- Units of a namespace that have a vector of one generation and not of another, in the order of their ids.
CREATE FUNCTION rearview_units_without(p_tenant uuid, p_namespace uuid, p_source smallint, p_target smallint, p_after uuid, p_limit int)
RETURNS TABLE (unit_id uuid, memory_id uuid) LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY EXECUTE format($q$
    SELECT s.unit_id, s.memory_id FROM (
      SELECT u.unit_id, u.memory_id FROM search_unit_fresh_%1$s u WHERE u.tenant_id = $1 AND u.namespace_id = $2 AND u.unit_id > $3
      UNION ALL
      SELECT u.unit_id, u.memory_id FROM search_unit_%1$s u WHERE u.tenant_id = $1 AND u.namespace_id = $2 AND u.unit_id > $3
      UNION ALL
      SELECT u.unit_id, u.memory_id FROM search_unit_warm_%1$s u WHERE u.tenant_id = $1 AND u.namespace_id = $2 AND u.unit_id > $3) s
    WHERE NOT EXISTS (SELECT FROM search_unit_fresh_%2$s t WHERE t.tenant_id = $1 AND t.namespace_id = $2 AND t.unit_id = s.unit_id)
      AND NOT EXISTS (SELECT FROM search_unit_%2$s t WHERE t.tenant_id = $1 AND t.namespace_id = $2 AND t.unit_id = s.unit_id)
      AND NOT EXISTS (SELECT FROM search_unit_warm_%2$s t WHERE t.tenant_id = $1 AND t.namespace_id = $2 AND t.unit_id = s.unit_id)
    ORDER BY s.unit_id LIMIT $4 $q$, p_source, p_target) USING p_tenant, p_namespace, p_after, p_limit;
END $$;

-- Stores vectors of a generation for units that another one holds, as these stand now: with their state, keywords, times
-- and tier. The memories are locked first and then their units, as by all who change them, so that a unit is neither
-- moved nor forgotten between being read there and written here. NULL stands for no vector. Takes off the list what has
-- not changed since `p_changes`; returns how many units were stored.
CREATE FUNCTION rearview_store_vectors(p_tenant uuid, p_namespace uuid, p_target smallint, p_units uuid[], p_memories uuid[],
                                       p_vectors halfvec[], p_changes xid8[])
RETURNS bigint LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE v_source smallint; v_vectors halfvec[]; v_stored bigint := 0; v_rows bigint; t text;
BEGIN
  PERFORM set_config('app.embedding', 'on', true);
  PERFORM rearview_search_generations();
  PERFORM FROM memory m
  WHERE m.tenant_id = p_tenant AND m.namespace_id = p_namespace AND m.memory_id = ANY (p_memories)
  ORDER BY m.memory_id FOR SHARE;
  SELECT array_agg(coalesce(v.vector, rearview_no_vector(g.dimension)) ORDER BY v.place) INTO v_vectors
  FROM model_generation g, unnest(p_vectors) WITH ORDINALITY AS v (vector, place) WHERE g.ordinal = p_target;

  FOR v_source IN
    SELECT g.ordinal FROM model_generation g
    WHERE g.ordinal <> p_target
      AND (g.current OR g.ordinal = (SELECT x.ordinal FROM tenant_generation x WHERE x.tenant_id = p_tenant))
  LOOP
    FOREACH t IN ARRAY ARRAY['search_unit_fresh_', 'search_unit_', 'search_unit_warm_'] LOOP
      EXECUTE format('SELECT FROM %I WHERE tenant_id = $1 AND namespace_id = $2 AND unit_id = ANY ($3) FOR SHARE', t || v_source)
      USING p_tenant, p_namespace, p_units;
    END LOOP;
    FOREACH t IN ARRAY ARRAY['search_unit_fresh_', 'search_unit_', 'search_unit_warm_'] LOOP
      EXECUTE format($q$
        UPDATE %1$I u SET embedding = s.vector, sv = s.sv, state = s.state, flags = s.flags, occurred_at = s.occurred_at
        FROM (SELECT x.*, v.vector FROM unnest($3, $4) AS v (unit_id, vector)
              JOIN (SELECT unit_id, sv, state, flags, occurred_at FROM search_unit_fresh_%2$s
                    WHERE tenant_id = $1 AND namespace_id = $2 AND unit_id = ANY ($3)
                    UNION ALL
                    SELECT unit_id, sv, state, flags, occurred_at FROM search_unit_%2$s
                    WHERE tenant_id = $1 AND namespace_id = $2 AND unit_id = ANY ($3)
                    UNION ALL
                    SELECT unit_id, sv, state, flags, occurred_at FROM search_unit_warm_%2$s
                    WHERE tenant_id = $1 AND namespace_id = $2 AND unit_id = ANY ($3)) x USING (unit_id)) s
        WHERE u.tenant_id = $1 AND u.namespace_id = $2 AND u.unit_id = s.unit_id $q$, t || p_target, v_source)
      USING p_tenant, p_namespace, p_units, v_vectors;
      GET DIAGNOSTICS v_rows = ROW_COUNT;
      v_stored := v_stored + v_rows;
    END LOOP;
    -- Whether a window is still open is told by the fresh table alone, and so is what has just been closed.
    EXECUTE format('UPDATE search_unit_fresh_%1$s u SET closed = s.closed FROM search_unit_fresh_%2$s s'
                   ' WHERE u.tenant_id = $1 AND u.namespace_id = $2 AND u.unit_id = ANY ($3)'
                   ' AND s.tenant_id = $1 AND s.namespace_id = $2 AND s.unit_id = u.unit_id AND s.closed <> u.closed',
                   p_target, v_source) USING p_tenant, p_namespace, p_units;
    EXECUTE format($q$
      INSERT INTO search_unit_fresh_%1$s (tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags, state, type,
                                          closed, created_at, embedding, sv)
      SELECT $1, $2, x.unit_id, x.memory_id, x.occurred_at, x.speaker, x.flags, x.state, x.type, x.closed, x.created_at, v.vector, x.sv
      FROM unnest($3, $4) AS v (unit_id, vector)
      JOIN (SELECT unit_id, memory_id, occurred_at, speaker, flags, state, type, closed, created_at, sv FROM search_unit_fresh_%2$s
            WHERE tenant_id = $1 AND namespace_id = $2 AND unit_id = ANY ($3)
            UNION ALL
            SELECT unit_id, memory_id, occurred_at, speaker, flags, state, type, closed, created_at, sv FROM search_unit_%2$s
            WHERE tenant_id = $1 AND namespace_id = $2 AND unit_id = ANY ($3)) x USING (unit_id)
      WHERE NOT EXISTS (SELECT FROM search_unit_%1$s m WHERE m.tenant_id = $1 AND m.namespace_id = $2 AND m.unit_id = x.unit_id)
        AND NOT EXISTS (SELECT FROM search_unit_warm_%1$s w WHERE w.tenant_id = $1 AND w.namespace_id = $2 AND w.unit_id = x.unit_id)
      ON CONFLICT DO NOTHING $q$, p_target, v_source) USING p_tenant, p_namespace, p_units, v_vectors;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_stored := v_stored + v_rows;
    EXECUTE format($q$
      INSERT INTO search_unit_warm_%1$s (tenant_id, namespace_id, unit_id, memory_id, occurred_at, speaker, flags, state, type,
                                         created_at, embedding, sv)
      SELECT $1, $2, x.unit_id, x.memory_id, x.occurred_at, x.speaker, x.flags, x.state, x.type, x.created_at, v.vector, x.sv
      FROM unnest($3, $4) AS v (unit_id, vector)
      JOIN search_unit_warm_%2$s x ON x.tenant_id = $1 AND x.namespace_id = $2 AND x.unit_id = v.unit_id
      WHERE NOT EXISTS (SELECT FROM search_unit_fresh_%1$s m WHERE m.tenant_id = $1 AND m.namespace_id = $2 AND m.unit_id = x.unit_id)
        AND NOT EXISTS (SELECT FROM search_unit_%1$s w WHERE w.tenant_id = $1 AND w.namespace_id = $2 AND w.unit_id = x.unit_id)
      ON CONFLICT DO NOTHING $q$, p_target, v_source) USING p_tenant, p_namespace, p_units, v_vectors;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_stored := v_stored + v_rows;
  END LOOP;

  DELETE FROM unit_to_embed q USING unnest(p_units, p_changes) AS c (unit_id, change)
  WHERE q.tenant_id = p_tenant AND q.namespace_id = p_namespace AND q.ordinal = p_target AND q.unit_id = c.unit_id
    AND q.change = c.change;
  RETURN v_stored;
END $$;

-- Has a generation answer a tenant, unless more than `p_most` units wait for its vectors; they are found by their words.
CREATE FUNCTION rearview_serve_generation(p_tenant uuid, p_ordinal smallint, p_most int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM rearview_await_writers();
  IF (SELECT count(*) FROM (SELECT FROM unit_to_embed q WHERE q.tenant_id = p_tenant AND q.ordinal = p_ordinal
                            LIMIT p_most + 1) x) > p_most THEN
    RETURN false;
  END IF;
  DELETE FROM tenant_generation t
  WHERE t.tenant_id = p_tenant AND EXISTS (SELECT FROM model_generation g WHERE g.ordinal = p_ordinal AND g.current);
  UPDATE tenant_generation t SET serving = true WHERE t.tenant_id = p_tenant AND t.ordinal = p_ordinal;
  PERFORM rearview_bump_epoch(n.tenant_id, n.namespace_id, true) FROM namespace n
  WHERE n.tenant_id = p_tenant AND n.deleted_at IS NULL;
  RETURN true;
END $$;

-- Makes a generation the current one if it answers every tenant that has memories; returns how many it does not answer.
-- Runs as the owner, since it looks at all tenants; it changes nothing of theirs that can be seen.
CREATE FUNCTION rearview_adopt_generation(p_ordinal smallint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE v_others bigint;
BEGIN
  PERFORM rearview_await_writers();
  IF EXISTS (SELECT FROM model_generation g WHERE g.ordinal = p_ordinal AND g.current) THEN RETURN 0; END IF;
  SELECT count(*) INTO v_others FROM tenant t
  WHERE EXISTS (SELECT FROM memory m WHERE m.tenant_id = t.tenant_id)
    AND NOT EXISTS (SELECT FROM tenant_generation g WHERE g.tenant_id = t.tenant_id AND g.ordinal = p_ordinal AND g.serving);
  IF v_others = 0 THEN
    UPDATE model_generation SET current = false, superseded_at = now() WHERE current;
    UPDATE model_generation SET current = true, superseded_at = NULL WHERE ordinal = p_ordinal;
    DELETE FROM tenant_generation WHERE ordinal = p_ordinal;
  END IF;
  RETURN v_others;
END $$;

-- Tenants with units that wait for vectors. Runs as the owner, since a round knows no tenant; returns ids only.
CREATE FUNCTION rearview_tenants_to_embed(p_limit int) RETURNS TABLE (tenant_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT q.tenant_id FROM unit_to_embed q LIMIT p_limit
$$;

-- Drops the tables and functions of generations that were superseded so long ago and that no tenant and no segment needs;
-- returns how many.
CREATE FUNCTION rearview_drop_generations(p_age interval) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE n smallint; f regprocedure; v_dropped int := 0;
BEGIN
  IF NOT EXISTS (SELECT FROM model_generation g WHERE g.superseded_at < now() - p_age) THEN RETURN 0; END IF;
  PERFORM rearview_await_writers();
  FOR n IN
    SELECT g.ordinal FROM model_generation g
    WHERE NOT g.current AND g.superseded_at < now() - p_age
      AND NOT EXISTS (SELECT FROM tenant_generation t WHERE t.ordinal = g.ordinal)
      AND NOT EXISTS (SELECT FROM cold_segment c WHERE c.generation = g.ordinal)
  LOOP
    FOR f IN
      SELECT p.oid::regprocedure FROM pg_proc p
      WHERE p.pronamespace = 'public'::regnamespace AND p.proname ~ ('^rearview_[a-z_]+_' || n || '$')
    LOOP
      EXECUTE format('DROP FUNCTION %s', f);
    END LOOP;
    EXECUTE format('DROP TABLE search_unit_%1$s, search_unit_fresh_%1$s, search_unit_warm_%1$s', n);
    DELETE FROM unit_to_embed q WHERE q.ordinal = n;
    DELETE FROM model_generation g WHERE g.ordinal = n;
    v_dropped := v_dropped + 1;
  END LOOP;
  RETURN v_dropped;
END $$;

DO $$
DECLARE f text;
BEGIN
  FOREACH f IN ARRAY ARRAY[
    'rearview_search_generations()', 'rearview_answering_generation(uuid)', 'rearview_no_vector(int)', 'rearview_await_writers()',
    'rearview_units_without(uuid, uuid, smallint, smallint, uuid, int)',
    'rearview_store_vectors(uuid, uuid, smallint, uuid[], uuid[], halfvec[], xid8[])',
    'rearview_serve_generation(uuid, smallint, int)', 'rearview_adopt_generation(smallint)', 'rearview_tenants_to_embed(int)',
    'rearview_drop_generations(interval)'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO rearview_service', f);
  END LOOP;
  REVOKE ALL ON FUNCTION rearview_unit_written() FROM PUBLIC;
END $$;
