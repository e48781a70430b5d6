-- What lapses by itself: memories with an end, memories of a type that nobody uses, events, recall traces.

-- NULL takes the level above, as everywhere in policies; `expire_after` holds seconds by a type's number.
ALTER TABLE tenant_policy
  ADD COLUMN expire_after    jsonb,
  ADD COLUMN event_retention interval,
  ADD COLUMN trace_retention interval;
ALTER TABLE namespace_policy
  ADD COLUMN expire_after    jsonb,
  ADD COLUMN event_retention interval,
  ADD COLUMN trace_retention interval;

CREATE INDEX memory_by_expiry ON memory (tenant_id, namespace_id, expires_at) WHERE expires_at IS NOT NULL AND state <> 4;
CREATE INDEX event_by_age ON event (tenant_id, namespace_id, created_at);
CREATE INDEX recall_trace_by_tenant_age ON recall_trace (tenant_id, created_at);
DROP INDEX recall_trace_by_age;

-- A trace lapses with the shortest retention of the namespaces that it is of; a namespace without one of its own has
-- the tenant's.
CREATE OR REPLACE FUNCTION rearview_expire_recall_traces(p_limit int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE t record; deleted bigint := 0; gone_rows bigint;
BEGIN
  FOR t IN
    SELECT n.tenant_id, coalesce(p.trace_retention, interval '7 days') AS retention,
           (SELECT min(o.trace_retention) FROM namespace_policy o WHERE o.tenant_id = n.tenant_id) AS shortest
    FROM tenant n LEFT JOIN tenant_policy p ON p.tenant_id = n.tenant_id ORDER BY n.tenant_id
  LOOP
    WITH old AS (
      SELECT r.tenant_id, r.trace_id FROM recall_trace r
      WHERE r.tenant_id = t.tenant_id AND r.created_at < now() - least(t.retention, t.shortest)
        AND r.created_at < now() - coalesce(
          (SELECT min(coalesce(o.trace_retention, t.retention)) FROM unnest(r.namespaces) AS x (namespace_id)
           LEFT JOIN namespace_policy o ON o.tenant_id = t.tenant_id AND o.namespace_id = x.namespace_id), t.retention)
      ORDER BY r.created_at LIMIT p_limit - deleted FOR UPDATE SKIP LOCKED),
    gone AS (
      DELETE FROM recall_trace r USING old WHERE r.tenant_id = old.tenant_id AND r.trace_id = old.trace_id RETURNING 1)
    SELECT count(*) INTO gone_rows FROM gone;
    deleted := deleted + gone_rows;
    EXIT WHEN deleted >= p_limit;
  END LOOP;
  RETURN deleted;
END $$;

-- Whether a cold memory's type lapses when nobody uses it for so long, and nobody did: recall does not wait for the sweep.
CREATE FUNCTION rearview_lapsed(p_tenant uuid, p_namespace uuid, p_type smallint, p_used timestamptz, p_now timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce((
    SELECT p_used <= p_now - make_interval(secs => (coalesce(n.expire_after, t.expire_after) ->> p_type::text)::float8)
    FROM (SELECT p_tenant AS tenant_id) x
    LEFT JOIN tenant_policy t ON t.tenant_id = x.tenant_id
    LEFT JOIN namespace_policy n ON n.tenant_id = x.tenant_id AND n.namespace_id = p_namespace), false)
$$;
