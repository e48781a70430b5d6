-- What made reads slow beside writes, and reads of a namespace that the statistics do not know yet.

-- New entries of these indexes went to a list that every search read from end to end until a vacuum sorted them in.
ALTER INDEX event_raw_keywords SET (fastupdate = off);
ALTER INDEX event_by_band SET (fastupdate = off);
ALTER INDEX memory_by_entity SET (fastupdate = off);
SELECT gin_clean_pending_list(i) FROM unnest(ARRAY['event_raw_keywords', 'event_by_band', 'memory_by_entity']::regclass[]) AS i;

CREATE FUNCTION rearview_index_keywords_at_once(p_ordinal smallint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
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
