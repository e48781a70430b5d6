-- pg_dump names an operator with its schema, but cannot do so inside IS DISTINCT FROM: these triggers could be dumped and
-- not loaded again, by pg_restore as by pg_upgrade. Neither vector is ever NULL, so <> says the same.

CREATE OR REPLACE FUNCTION rearview_watch_units(p_ordinal smallint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE t text;
BEGIN
  EXECUTE format('CREATE OR REPLACE TRIGGER unit_added AFTER INSERT ON search_unit_fresh_%1$s FOR EACH ROW'
                 ' EXECUTE FUNCTION rearview_unit_written(%1$s)', p_ordinal);
  FOREACH t IN ARRAY ARRAY['search_unit_', 'search_unit_fresh_', 'search_unit_warm_'] LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER unit_changed AFTER UPDATE OF embedding, state ON %1$I FOR EACH ROW'
                   ' WHEN (OLD.embedding <> NEW.embedding OR OLD.state = 2 AND NEW.state <> 2)'
                   ' EXECUTE FUNCTION rearview_unit_written(%2$s)', t || p_ordinal, p_ordinal);
  END LOOP;
END $$;

DO $$
DECLARE n smallint;
BEGIN
  FOR n IN SELECT ordinal FROM model_generation ORDER BY ordinal LOOP
    PERFORM rearview_watch_units(n);
  END LOOP;
END $$;
