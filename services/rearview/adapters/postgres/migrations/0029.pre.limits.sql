-- Limits: requests a second of a key, and whether a tenant holds more than it may.

ALTER TABLE api_key ADD COLUMN requests_per_second bigint NOT NULL DEFAULT 0;

DROP FUNCTION rearview_find_key(text);
CREATE FUNCTION rearview_find_key(p_key_id text)
RETURNS TABLE (tenant_id uuid, tenant_name text, disabled boolean, requests_per_second bigint, secret_hash bytea,
               principal text, role text, namespaces text[], expires_at timestamptz, revoked_at timestamptz,
               key_requests_per_second bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT t.tenant_id, t.name, t.disabled, t.requests_per_second, k.secret_hash,
         k.principal, k.role, k.namespaces, k.expires_at, k.revoked_at, k.requests_per_second
  FROM api_key k JOIN tenant t ON t.tenant_id = k.tenant_id
  WHERE k.key_id = p_key_id
$$;
REVOKE ALL ON FUNCTION rearview_find_key(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_find_key(text) TO rearview_service;

-- Raises RVQ01 (constraint: the quota's name, detail: its value, hint: what is used) if a tenant has gone beyond a quota. One
-- that has none of its own (0) has those that are given, and 0 is none there either. Turns that no job has looked at yet
-- count as a memory each: they will be memories, and nothing asks again then.
--
-- Called in a transaction after what it writes. Transactions of one tenant take the lock in turn and commit while they hold
-- it, so each sees what those before it wrote, and together they cannot go beyond. Whoever holds it waits for nobody's row
-- any more, so it takes part in no deadlock.
CREATE FUNCTION rearview_refuse_excess(p_tenant uuid, p_max_memories bigint, p_max_bytes bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE v_memories bigint; v_bytes bigint; v_max_memories bigint; v_max_bytes bigint;
BEGIN
  SELECT coalesce(nullif(t.max_memories, 0), p_max_memories), coalesce(nullif(t.max_bytes, 0), p_max_bytes)
  INTO v_max_memories, v_max_bytes FROM tenant t WHERE t.tenant_id = p_tenant;
  IF coalesce(v_max_memories, 0) = 0 AND coalesce(v_max_bytes, 0) = 0 THEN RETURN true; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('quota/' || p_tenant, 1));
  SELECT coalesce(sum(s.memories), 0), coalesce(sum(s.bytes), 0) INTO v_memories, v_bytes
  FROM namespace_statistics s WHERE s.tenant_id = p_tenant;
  SELECT v_memories + count(*), v_bytes + coalesce(sum(octet_length(e.content)), 0) INTO v_memories, v_bytes
  FROM event e WHERE e.tenant_id = p_tenant AND e.outcome = 1 AND NOT e.tombstoned;
  IF v_max_memories > 0 AND v_memories > v_max_memories THEN
    RAISE SQLSTATE 'RVQ01' USING CONSTRAINT = 'max_memories', DETAIL = v_max_memories, HINT = v_memories;
  ELSIF v_max_bytes > 0 AND v_bytes > v_max_bytes THEN
    RAISE SQLSTATE 'RVQ01' USING CONSTRAINT = 'max_bytes', DETAIL = v_max_bytes, HINT = v_bytes;
  END IF;
  RETURN true;
END $$;
REVOKE ALL ON FUNCTION rearview_refuse_excess(uuid, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_refuse_excess(uuid, bigint, bigint) TO rearview_service;
