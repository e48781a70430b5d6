-- Finding what a namespace knows already: near duplicates by the bands of their signatures, repetitions by their links.

-- Bands of the MinHash signature of what was kept: two texts that share one may be near duplicates.
ALTER TABLE event ADD COLUMN bands int4[] NOT NULL DEFAULT '{}';
CREATE INDEX event_by_band ON event USING gin (tenant_id, namespace_id, bands)
  WHERE outcome = 2 AND NOT tombstoned AND bands <> '{}';

-- The unit of the memory that the event said again; NULL where the memory came from the event. A repetition supports the
-- memory, whose content is not its own: when that is forgotten, the event is looked at anew.
ALTER TABLE memory_event ADD COLUMN repeats uuid;
CREATE INDEX memory_event_repeating ON memory_event (tenant_id, namespace_id, repeats) WHERE repeats IS NOT NULL;

-- Kept turns that share a band, the earliest first among equals. Runs as the owner because && is not leak-proof: under
-- row-level security the index would not be used. It therefore checks the tenant itself.
CREATE FUNCTION rearview_events_by_bands(p_tenant uuid, p_namespace uuid, p_bands int4[], p_limit int)
RETURNS TABLE (event_id uuid) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF rearview_tenant() IS NULL OR p_tenant IS DISTINCT FROM rearview_tenant() THEN RAISE insufficient_privilege; END IF;
  RETURN QUERY
    SELECT e.event_id FROM event e
    WHERE e.tenant_id = p_tenant AND e.namespace_id = p_namespace AND e.bands && p_bands
      AND e.outcome = 2 AND NOT e.tombstoned AND e.bands <> '{}'
    ORDER BY (SELECT count(*) FROM unnest(e.bands) band WHERE band = ANY (p_bands)) DESC, e.event_id LIMIT p_limit;
END $$;
REVOKE ALL ON FUNCTION rearview_events_by_bands(uuid, uuid, int4[], int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_events_by_bands(uuid, uuid, int4[], int) TO rearview_service;
