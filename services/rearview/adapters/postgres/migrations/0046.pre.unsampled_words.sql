-- The database samples columns for its planner and keeps the values that it saw (pg_statistic) until it samples again, so
-- that words outlived their forgetting there, and came back with a backup, whose tables are sampled before its ledger is
-- replayed. What people said, its vectors and its sealed originals are no longer sampled. Plans do not depend on them:
-- these columns are returned, or compared with parameters that plans are not made for.
CREATE FUNCTION rearview_forgo_samples() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE v_column record;
BEGIN
  FOR v_column IN
    SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
      AND a.attstattarget IS DISTINCT FROM 0
      AND (c.relname ~ '^search_unit_(fresh_|warm_)?[0-9]+$' AND a.attname IN ('embedding', 'sv')
           OR (c.relname, a.attname) IN (
             ('event', 'speaker'), ('event', 'content'), ('event', 'tool_call'), ('event', 'image_caption'),
             ('event', 'metadata'), ('event', 'capture'), ('event_original', 'sealed'),
             ('memory', 'content'), ('memory', 'labels'), ('memory', 'metadata'), ('memory', 'entities'),
             ('memory', 'entity_keys'), ('memory', 'fact_subject'), ('memory', 'fact_attribute'), ('memory', 'fact_value'),
             ('memory', 'fact_unit'), ('memory', 'fact_value_key'), ('memory', 'fact_replaces'),
             ('memory', 'extraction_note'), ('memory_original', 'sealed'),
             ('namespace_addition', 'vectors'), ('open_window', 'plain'), ('open_window', 'weighted_sum'),
             ('recall_trace', 'trace'), ('request', 'result'), ('speaker', 'name'),
             ('legal_hold', 'target'), ('legal_hold', 'names'), ('legal_hold', 'patterns'),
             ('job_failure', 'error'), ('tenant', 'display_name')))
  LOOP
    EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET STATISTICS 0', v_column.relname, v_column.attname);
    -- Before 18 only a superuser can take back what was sampled before this; docs/lifecycle.md says how.
    IF current_setting('server_version_num')::int >= 180000 THEN
      EXECUTE format('SELECT pg_clear_attribute_stats(%L, %L, %L, false)', 'public', v_column.relname, v_column.attname);
    END IF;
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION rearview_forgo_samples() FROM PUBLIC, rearview_service;

-- As in 0043, and without samples.
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
    PERFORM rearview_forgo_samples();
  END IF;
  RETURN n;
END $$;

SELECT rearview_forgo_samples();
