-- Services of before ask by these.
CREATE OR REPLACE FUNCTION rearview_drop_replaced_routes(p_ordinal smallint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('DROP FUNCTION IF EXISTS rearview_nearest_of_%s(uuid, uuid, halfvec, int2[], uuid[], boolean, int)', p_ordinal);
  EXECUTE format('DROP FUNCTION IF EXISTS rearview_warm_routes_%s(uuid, uuid, halfvec, sparsevec, int4[], int2[], uuid[], uuid[],'
                 ' timestamptz[], timestamptz[], int, int)', p_ordinal);
END $$;
REVOKE ALL ON FUNCTION rearview_drop_replaced_routes(smallint) FROM PUBLIC, rearview_service;

-- As in 0046, and without them.
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
    PERFORM rearview_drop_replaced_routes(n);
  END IF;
  RETURN n;
END $$;

DO $$
DECLARE n smallint;
BEGIN
  FOR n IN SELECT ordinal FROM model_generation ORDER BY ordinal LOOP
    PERFORM rearview_drop_replaced_routes(n);
  END LOOP;
END $$;
