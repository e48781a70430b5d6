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

-- Legal holds: what one stands on is neither forgotten nor purged, and does not expire.
CREATE TABLE legal_hold (
  tenant_id    uuid NOT NULL,
  hold_id      uuid NOT NULL,
  namespace_id uuid NOT NULL,
  scope        text NOT NULL CHECK (scope IN ('namespace', 'session', 'memory', 'subject')),
  target       text NOT NULL,              -- the session's or the memory's id, the subject's canonical name; else empty
  names        text[] NOT NULL DEFAULT '{}',  -- of a subject: its spellings
  patterns     text[] NOT NULL DEFAULT '{}',  -- of a subject: regular expressions that find it in a text
  principal    text NOT NULL,
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, hold_id),
  UNIQUE (tenant_id, namespace_id, scope, target)
);
ALTER TABLE legal_hold ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON legal_hold TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
GRANT SELECT, INSERT, DELETE ON legal_hold TO rearview_service;

-- The first hold that stands on a memory, whatever its state, tier or source.
CREATE FUNCTION rearview_memory_hold(p_tenant uuid, p_namespace uuid, p_memory uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT h.hold_id FROM legal_hold h
  WHERE h.tenant_id = p_tenant AND h.namespace_id = p_namespace AND CASE h.scope
    WHEN 'namespace' THEN true
    WHEN 'memory' THEN h.target = p_memory::text
    WHEN 'session' THEN
      EXISTS (SELECT FROM memory m WHERE m.tenant_id = p_tenant AND m.namespace_id = p_namespace
                AND m.memory_id = p_memory AND m.session_id = h.target)
      OR EXISTS (SELECT FROM memory_event l WHERE l.tenant_id = p_tenant AND l.namespace_id = p_namespace
                   AND l.memory_id = p_memory AND l.session_id = h.target)
    ELSE
      EXISTS (SELECT FROM memory m WHERE m.tenant_id = p_tenant AND m.namespace_id = p_namespace AND m.memory_id = p_memory
                AND (m.entity_keys @> ARRAY[h.target] OR m.content ~* ANY (h.patterns)
                     OR m.fact_subject LIKE 'person/%' AND lower(split_part(m.fact_subject, '/', 2)) = ANY (h.names)))
      OR EXISTS (SELECT FROM memory_event l
                 JOIN event e ON e.tenant_id = l.tenant_id AND e.namespace_id = l.namespace_id AND e.event_id = l.event_id
                 WHERE l.tenant_id = p_tenant AND l.namespace_id = p_namespace AND l.memory_id = p_memory
                   AND (lower(e.speaker) = ANY (h.names) OR e.content ~* ANY (h.patterns)
                        OR e.image_caption ~* ANY (h.patterns) OR e.tool_call::text ~* ANY (h.patterns)))
    END
  ORDER BY h.hold_id LIMIT 1
$$;

-- The first hold that stands on an event: on its session, on what it says, or on a memory made of it.
CREATE FUNCTION rearview_event_hold(p_tenant uuid, p_namespace uuid, p_event uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT h.hold_id FROM legal_hold h
  WHERE h.tenant_id = p_tenant AND h.namespace_id = p_namespace AND CASE h.scope
    WHEN 'namespace' THEN true
    WHEN 'memory' THEN EXISTS (
      SELECT FROM memory_event l WHERE l.tenant_id = p_tenant AND l.namespace_id = p_namespace AND l.event_id = p_event
        AND l.memory_id::text = h.target)
    WHEN 'session' THEN EXISTS (
      SELECT FROM event e WHERE e.tenant_id = p_tenant AND e.namespace_id = p_namespace AND e.event_id = p_event
        AND e.session_id = h.target)
    ELSE
      EXISTS (SELECT FROM event e WHERE e.tenant_id = p_tenant AND e.namespace_id = p_namespace AND e.event_id = p_event
                AND (lower(e.speaker) = ANY (h.names) OR e.content ~* ANY (h.patterns)
                     OR e.image_caption ~* ANY (h.patterns) OR e.tool_call::text ~* ANY (h.patterns)))
      OR EXISTS (SELECT FROM memory_event l
                 JOIN memory m ON m.tenant_id = l.tenant_id AND m.namespace_id = l.namespace_id AND m.memory_id = l.memory_id
                 WHERE l.tenant_id = p_tenant AND l.namespace_id = p_namespace AND l.event_id = p_event
                   AND (m.entity_keys @> ARRAY[h.target] OR m.fact_subject LIKE 'person/%'
                        AND lower(split_part(m.fact_subject, '/', 2)) = ANY (h.names)))
    END
  ORDER BY h.hold_id LIMIT 1
$$;

-- Whether a hold stands on anything that a receipt's purge would erase.
CREATE FUNCTION rearview_receipt_held(p_tenant uuid, p_receipt uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM forget_receipt r
    WHERE r.tenant_id = p_tenant AND r.receipt_id = p_receipt
      AND EXISTS (SELECT FROM legal_hold h WHERE h.tenant_id = r.tenant_id AND h.namespace_id = r.namespace_id)
      AND (EXISTS (SELECT FROM unnest(r.memory_ids) AS i WHERE rearview_memory_hold(r.tenant_id, r.namespace_id, i) IS NOT NULL)
           OR EXISTS (SELECT FROM unnest(r.event_ids) AS i WHERE rearview_event_hold(r.tenant_id, r.namespace_id, i) IS NOT NULL)))
$$;
GRANT EXECUTE ON FUNCTION rearview_memory_hold(uuid, uuid, uuid), rearview_event_hold(uuid, uuid, uuid),
  rearview_receipt_held(uuid, uuid) TO rearview_service;

-- A purge that a hold stops is taken up again when the hold is lifted.
CREATE OR REPLACE FUNCTION rearview_overdue_purges(p_overdue interval, p_limit int)
RETURNS TABLE (tenant_id uuid, receipt_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT r.tenant_id, r.receipt_id FROM forget_receipt r
  WHERE r.state = 1 AND r.purge_after < now() - p_overdue
    AND NOT EXISTS (SELECT FROM procrastinate_jobs j
                    WHERE j.lock = format('purge:%s:%s', r.tenant_id, r.receipt_id) AND j.status IN ('todo', 'doing'))
    AND (r.purge_started_at IS NOT NULL OR NOT rearview_receipt_held(r.tenant_id, r.receipt_id))
  ORDER BY r.purge_after LIMIT p_limit
$$;

-- Erases rows of a namespace that was deleted, of every table that has its id, and says how many, by table: what a later
-- migration adds is among them. The row that says that it was deleted stays, without its display name. Runs as the
-- owner, since the services may not delete from some of the tables; it checks the tenant, and that the namespace is gone.
CREATE FUNCTION rearview_erase_namespace(p_namespace uuid, p_limit int) RETURNS TABLE (place text, erased bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE v_tenant uuid := rearview_tenant(); t text; left_over int := p_limit;
BEGIN
  IF NOT EXISTS (SELECT FROM namespace n
                 WHERE n.tenant_id = v_tenant AND n.namespace_id = p_namespace AND n.deleted_at IS NOT NULL) THEN
    RAISE insufficient_privilege;
  END IF;
  UPDATE namespace n SET display_name = ''
  WHERE n.tenant_id = v_tenant AND n.namespace_id = p_namespace AND n.display_name <> '';

  WITH doomed AS (
    SELECT j.id FROM procrastinate_jobs j
    WHERE j.args ->> 'tenant_id' = v_tenant::text AND j.args ->> 'namespace_id' = p_namespace::text AND j.status <> 'doing'
    LIMIT left_over),
  failures AS (DELETE FROM job_failure f USING doomed d WHERE f.tenant_id = v_tenant AND f.job_id = d.id),
  gone AS (DELETE FROM procrastinate_jobs j USING doomed d WHERE j.id = d.id RETURNING 1)
  SELECT 'job', count(*) INTO place, erased FROM gone;
  IF erased > 0 THEN RETURN NEXT; END IF;
  left_over := left_over - erased;

  WITH doomed AS (
    SELECT r.trace_id FROM recall_trace r WHERE r.tenant_id = v_tenant AND r.namespaces @> ARRAY[p_namespace] LIMIT left_over),
  gone AS (DELETE FROM recall_trace r USING doomed d WHERE r.tenant_id = v_tenant AND r.trace_id = d.trace_id RETURNING 1)
  SELECT 'recall_trace', count(*) INTO place, erased FROM gone;
  IF erased > 0 THEN RETURN NEXT; END IF;
  left_over := left_over - erased;

  FOR t IN
    SELECT c.relname FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> 'namespace'
      AND (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('tenant_id', 'namespace_id')
             AND NOT a.attisdropped) = 2
    ORDER BY c.relname = 'lifecycle_lease', c.relname
  LOOP
    EXIT WHEN left_over <= 0;
    EXECUTE format($q$
      WITH gone AS (
        DELETE FROM %1$I WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM %1$I WHERE tenant_id = $1 AND namespace_id = $2 LIMIT $3)) RETURNING 1)
      SELECT count(*) FROM gone $q$, t) INTO erased USING v_tenant, p_namespace, left_over;
    IF erased > 0 THEN
      place := t;
      RETURN NEXT;
    END IF;
    left_over := left_over - erased;
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION rearview_erase_namespace(uuid, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_erase_namespace(uuid, int) TO rearview_service;

-- A deleted tenant stays as a row that says so, with what was erased, by place.
ALTER TABLE tenant
  ADD COLUMN deleted_at timestamptz,
  ADD COLUMN erased_at  timestamptz,
  ADD COLUMN erased     jsonb NOT NULL DEFAULT '{}';

-- Disables a tenant for good, puts its namespaces out of reach and has it erased; returns its id, and the hold that
-- forbids it, if one stands anywhere in it. Runs as the owner: the operator sees tenants, not what they hold.
CREATE FUNCTION rearview_delete_tenant(p_name text, p_now timestamptz) RETURNS TABLE (tenant_id uuid, hold_id uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE v_tenant uuid; v_hold uuid; v_deleted timestamptz;
BEGIN
  SELECT t.tenant_id, t.deleted_at INTO v_tenant, v_deleted FROM tenant t WHERE t.name = p_name FOR UPDATE;
  IF v_tenant IS NULL THEN RETURN; END IF;
  SELECT h.hold_id INTO v_hold FROM legal_hold h WHERE h.tenant_id = v_tenant ORDER BY h.hold_id LIMIT 1;
  IF v_hold IS NULL AND v_deleted IS NULL THEN
    UPDATE tenant t SET disabled = true, deleted_at = p_now, version = t.version + 1 WHERE t.tenant_id = v_tenant;
    UPDATE namespace n SET deleted_at = p_now, updated_at = p_now, version = n.version + 1
    WHERE n.tenant_id = v_tenant AND n.deleted_at IS NULL;
    PERFORM rearview_enqueue('erase_tenant', format('erase_tenant:%s', v_tenant), jsonb_build_object('tenant_id', v_tenant));
  END IF;
  RETURN QUERY SELECT v_tenant, v_hold;
END $$;
REVOKE ALL ON FUNCTION rearview_delete_tenant(text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_delete_tenant(text, timestamptz) TO rearview_operator;

-- Erases rows of the transaction's tenant, if it was deleted, of every table that has its id; the audit and its seals
-- stay. Says how many, by table.
CREATE FUNCTION rearview_erase_tenant(p_limit int) RETURNS TABLE (place text, erased bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE v_tenant uuid := rearview_tenant(); t text; left_over int := p_limit;
BEGIN
  IF NOT EXISTS (SELECT FROM tenant n WHERE n.tenant_id = v_tenant AND n.deleted_at IS NOT NULL) THEN
    RAISE insufficient_privilege;
  END IF;
  UPDATE tenant n SET display_name = '', create_request_id = NULL, create_fingerprint = NULL
  WHERE n.tenant_id = v_tenant AND (n.display_name <> '' OR n.create_request_id IS NOT NULL);

  WITH doomed AS (
    SELECT j.id FROM procrastinate_jobs j
    WHERE j.args ->> 'tenant_id' = v_tenant::text AND j.status <> 'doing' AND j.task_name <> 'erase_tenant'
    LIMIT left_over),
  gone AS (DELETE FROM procrastinate_jobs j USING doomed d WHERE j.id = d.id RETURNING 1)
  SELECT 'job', count(*) INTO place, erased FROM gone;
  IF erased > 0 THEN RETURN NEXT; END IF;
  left_over := left_over - erased;

  FOR t IN
    SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND NOT a.attisdropped
      AND c.relname NOT IN ('tenant', 'audit_record', 'audit_seal')
    ORDER BY c.relname
  LOOP
    EXIT WHEN left_over <= 0;
    EXECUTE format($q$
      WITH gone AS (
        DELETE FROM %1$I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$I WHERE tenant_id = $1 LIMIT $2)) RETURNING 1)
      SELECT count(*) FROM gone $q$, t) INTO erased USING v_tenant, left_over;
    IF erased > 0 THEN
      place := t;
      RETURN NEXT;
    END IF;
    left_over := left_over - erased;
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION rearview_erase_tenant(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_erase_tenant(int) TO rearview_service;

-- Adds to what was erased of a deleted tenant, and says when that has come to its end.
CREATE FUNCTION rearview_note_tenant_erasure(p_counts jsonb, p_ended timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE tenant t
  SET erased = t.erased || (SELECT coalesce(jsonb_object_agg(c.key, c.value::bigint + coalesce((t.erased ->> c.key)::bigint, 0)), '{}')
                            FROM jsonb_each_text(p_counts) c),
      erased_at = coalesce(p_ended, t.erased_at)
  WHERE t.tenant_id = rearview_tenant() AND t.deleted_at IS NOT NULL
$$;
REVOKE ALL ON FUNCTION rearview_note_tenant_erasure(jsonb, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_note_tenant_erasure(jsonb, timestamptz) TO rearview_service;

-- Memories whose value falls below the floor, and which nobody used for the grace, move down a tier.
ALTER TABLE tenant_policy
  ADD COLUMN value_floor real,
  ADD COLUMN value_grace interval;
ALTER TABLE namespace_policy
  ADD COLUMN value_floor real,
  ADD COLUMN value_grace interval;
