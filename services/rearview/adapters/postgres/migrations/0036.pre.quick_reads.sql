-- What made reads slow beside writes, and reads of a namespace that the statistics do not know yet.

-- New entries of these indexes went to a list that every search read from end to end until a vacuum sorted them in.
ALTER INDEX event_raw_keywords SET (fastupdate = off);
ALTER INDEX event_by_band SET (fastupdate = off);
ALTER INDEX memory_by_entity SET (fastupdate = off);
SELECT gin_clean_pending_list(i) FROM unnest(ARRAY['event_raw_keywords', 'event_by_band', 'memory_by_entity']::regclass[]) AS i;

CREATE FUNCTION rearview_index_keywords_at_once(p_ordinal smallint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_index regclass;
BEGIN
  FOR v_index IN
    SELECT i.indexrelid::regclass FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
    WHERE a.amname = 'gin' AND i.indrelid IN (('search_unit_' || p_ordinal)::regclass, ('search_unit_fresh_' || p_ordinal)::regclass,
                                              ('search_unit_warm_' || p_ordinal)::regclass)
  LOOP
    EXECUTE format('ALTER INDEX %s SET (fastupdate = off)', v_index);
    PERFORM gin_clean_pending_list(v_index);
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION rearview_index_keywords_at_once(smallint) FROM PUBLIC, rearview_service;

-- As in 0031, and with its keywords indexed at once.
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
  END IF;
  RETURN n;
END $$;

DO $$
DECLARE n smallint;
BEGIN
  FOR n IN SELECT ordinal FROM model_generation LOOP
    PERFORM rearview_index_keywords_at_once(n);
  END LOOP;
END $$;

-- Over an expression of its own: as a small index that begins with the namespace it was taken, and read from end to end,
-- to find events by their ids wherever a namespace was thought to be small.
CREATE INDEX event_by_time_stored ON event (uuid_hash(namespace_id), created_at);

-- A namespace has one tenant, so the two conditions say no more than one.
CREATE STATISTICS event_place (dependencies) ON tenant_id, namespace_id FROM event;
CREATE STATISTICS memory_place (dependencies) ON tenant_id, namespace_id FROM memory;

-- As in 0015; which of many keys a memory shares is counted over the question's few, not over the memory's many.
CREATE OR REPLACE FUNCTION rearview_memories_by_entity(p_tenant uuid, p_namespace uuid, p_keys text[], p_states int2[], p_limit int)
RETURNS TABLE (memory_id uuid, shared int, occurred_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF p_tenant IS DISTINCT FROM rearview_tenant() THEN RAISE insufficient_privilege; END IF;
  RETURN QUERY
    SELECT x.memory_id,
           CASE WHEN cardinality(p_keys) = 1 THEN 1
                ELSE (SELECT count(*)::int FROM unnest(p_keys) k WHERE k = ANY (x.entity_keys)) END,
           x.occurred_at
    FROM (SELECT m.memory_id, m.entity_keys, m.occurred_at FROM memory m
          WHERE m.tenant_id = p_tenant AND m.namespace_id = p_namespace AND m.entity_keys && p_keys AND m.state = ANY (p_states)
          LIMIT greatest(1000, p_limit)) x
    ORDER BY 2 DESC, 3 DESC LIMIT p_limit;
END $$;

-- Loads the library whose settings the function has.
SELECT '[1]'::halfvec;

-- Units near a vector, for the writer to compare with what was just said: what says the same lies close enough for a short
-- walk through the index to find, with a fifth of recall's ef_search. Exact where that is quicker: in a small namespace,
-- and where it has a small share of the table, since the index would mostly lead to others' units.
CREATE FUNCTION rearview_near_units(p_ordinal smallint, p_tenant uuid, p_namespace uuid, p_vector halfvec, p_limit int)
RETURNS TABLE (unit_id uuid) LANGUAGE plpgsql STABLE
SET hnsw.ef_search = 80 SET hnsw.iterative_scan = relaxed_order SET plan_cache_mode = force_custom_plan AS $$
DECLARE v_units bigint; v_chinese bigint; v_english bigint; v_list record; v_exact boolean;
BEGIN
  IF p_vector IS NULL OR p_limit <= 0 THEN RETURN; END IF;
  SELECT s.units, s.chinese_units, s.english_units INTO v_units, v_chinese, v_english
  FROM namespace_statistics s WHERE s.tenant_id = p_tenant AND s.namespace_id = p_namespace;
  v_units := coalesce(v_units, 0);
  v_chinese := coalesce(v_chinese, 0);
  FOR v_list IN
    SELECT l.language, l.units FROM (VALUES
      ('zh', v_chinese), ('other', greatest(coalesce(v_english, 0), v_units - v_chinese))) AS l (language, units)
  LOOP
    v_exact := v_list.units <= 1000 OR v_list.units <= 50000 AND v_list.units < 0.02 * (
      SELECT c.reltuples FROM pg_class c WHERE c.oid = format('search_unit_%s_place_%s', p_ordinal, v_list.language)::regclass);
    RETURN QUERY EXECUTE format(
      'SELECT n.unit_id FROM rearview_nearest_%s_%s($1, $2, $3, ''{0}''::int2[], NULL::uuid[], $4, $5) n',
      v_list.language, p_ordinal)
      USING p_tenant, p_namespace, p_vector, p_limit, v_exact;
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION rearview_near_units(smallint, uuid, uuid, halfvec, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_near_units(smallint, uuid, uuid, halfvec, int) TO rearview_service;
