-- Tokens of an issuer name their tenant; before it is known no policy lets the services read it.

-- What a token's tenant is. Runs as the owner, since no tenant is known before it; returns one tenant only, and
-- nothing that it holds.
CREATE FUNCTION rearview_find_tenant(p_name text)
RETURNS TABLE (tenant_id uuid, disabled boolean, requests_per_second bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT t.tenant_id, t.disabled, t.requests_per_second FROM tenant t WHERE t.name = p_name
$$;
REVOKE ALL ON FUNCTION rearview_find_tenant(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_find_tenant(text) TO rearview_service;
