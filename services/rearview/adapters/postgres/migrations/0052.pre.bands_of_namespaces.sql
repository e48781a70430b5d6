-- What is said often is said in many namespaces: an index of bands alone read what all of them hold of it. Its keys are now
-- of a band in a namespace.
CREATE FUNCTION rearview_band_keys(p_namespace uuid, p_bands int4[])
RETURNS int8[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(uuid_hash_extended(p_namespace, b)), '{}') FROM unnest(p_bands) b
$$;

-- The new one is built first, while others may read.
CREATE INDEX event_by_band_key ON event USING gin (rearview_band_keys(namespace_id, bands)) WITH (fastupdate = off)
  WHERE outcome = 2 AND NOT tombstoned AND bands <> '{}';

CREATE OR REPLACE FUNCTION rearview_events_by_bands(p_tenant uuid, p_namespace uuid, p_bands int4[], p_limit int)
RETURNS TABLE (event_id uuid) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF rearview_tenant() IS NULL OR p_tenant IS DISTINCT FROM rearview_tenant() THEN RAISE insufficient_privilege; END IF;
  RETURN QUERY
    SELECT e.event_id FROM event e
    WHERE rearview_band_keys(e.namespace_id, e.bands) && rearview_band_keys(p_namespace, p_bands)
      -- Not by =, lest all rows of the namespace are read as well.
      AND e.tenant_id IS NOT DISTINCT FROM p_tenant AND e.namespace_id IS NOT DISTINCT FROM p_namespace AND e.bands && p_bands
      AND e.outcome = 2 AND NOT e.tombstoned AND e.bands <> '{}'
    ORDER BY (SELECT count(*) FROM unnest(e.bands) band WHERE band = ANY (p_bands)) DESC, e.event_id LIMIT p_limit;
END $$;

DROP INDEX event_by_band;
