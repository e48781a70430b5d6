-- Who may do what in a tenant, as one value: another one after every transaction that changes a key, a namespace, a grant, a
-- subscription or the tenant itself. Whoever remembers what he read of these, with the value that he read before it, may go
-- by it for as long as the value is the same. Values never come back, not even after a restore: a counter's would.
CREATE TABLE tenant_access (
  tenant_id uuid PRIMARY KEY,
  version   uuid NOT NULL DEFAULT gen_random_uuid()
) WITH (fillfactor = 50);

ALTER TABLE tenant_access ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON tenant_access TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
GRANT SELECT ON tenant_access TO rearview_service;

CREATE FUNCTION rearview_begin_access() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO tenant_access (tenant_id) VALUES (NEW.tenant_id);
  RETURN NULL;
END $$;

-- One new value a transaction is enough: others see only how it ended. A tenant without a row (it is being erased) gets
-- none, and nobody remembers anything of it.
CREATE FUNCTION rearview_change_access() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  v_tenant uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.tenant_id ELSE NEW.tenant_id END;
  v_done text := v_tenant || '/' || pg_current_xact_id();
BEGIN
  IF current_setting('app.access_changed', true) IS DISTINCT FROM v_done THEN
    UPDATE tenant_access SET version = gen_random_uuid() WHERE tenant_id = v_tenant;
    PERFORM set_config('app.access_changed', v_done, true);
  END IF;
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION rearview_begin_access(), rearview_change_access() FROM PUBLIC;

CREATE TRIGGER access_begun AFTER INSERT ON tenant FOR EACH ROW EXECUTE FUNCTION rearview_begin_access();

-- Deferred: the row of a tenant is locked as the last thing before the commit, by whoever waits for nothing any more.
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['api_key', 'namespace', 'namespace_grant', 'namespace_subscription'] LOOP
    EXECUTE format('CREATE CONSTRAINT TRIGGER access_changed AFTER INSERT OR UPDATE OR DELETE ON %I'
                   ' DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION rearview_change_access()', t);
  END LOOP;
END $$;
CREATE CONSTRAINT TRIGGER access_changed AFTER UPDATE OR DELETE ON tenant
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION rearview_change_access();

-- Tables are locked by now, so no transaction without the triggers is under way.
INSERT INTO tenant_access (tenant_id) SELECT tenant_id FROM tenant;

DROP FUNCTION rearview_find_key(text);
CREATE FUNCTION rearview_find_key(p_key_id text)
RETURNS TABLE (tenant_id uuid, tenant_name text, disabled boolean, requests_per_second bigint, secret_hash bytea,
               principal text, role text, namespaces text[], expires_at timestamptz, revoked_at timestamptz,
               key_requests_per_second bigint, access_version uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT t.tenant_id, t.name, t.disabled, t.requests_per_second, k.secret_hash,
         k.principal, k.role, k.namespaces, k.expires_at, k.revoked_at, k.requests_per_second, a.version
  FROM api_key k JOIN tenant t ON t.tenant_id = k.tenant_id
  LEFT JOIN tenant_access a ON a.tenant_id = k.tenant_id
  WHERE k.key_id = p_key_id
$$;

DROP FUNCTION rearview_find_tenant(text);
CREATE FUNCTION rearview_find_tenant(p_name text)
RETURNS TABLE (tenant_id uuid, disabled boolean, requests_per_second bigint, access_version uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT t.tenant_id, t.disabled, t.requests_per_second, a.version
  FROM tenant t LEFT JOIN tenant_access a ON a.tenant_id = t.tenant_id
  WHERE t.name = p_name
$$;
REVOKE ALL ON FUNCTION rearview_find_key(text), rearview_find_tenant(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_find_key(text), rearview_find_tenant(text) TO rearview_service;
