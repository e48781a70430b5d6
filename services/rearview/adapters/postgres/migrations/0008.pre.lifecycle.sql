-- What the lifecycle service needs: purges that survive a crash, access counts that are added once, and its rounds
-- over all tenants, through functions that return ids only.

ALTER TABLE forget_receipt
  ADD COLUMN purge_started_at timestamptz,              -- from here on nothing can be restored
  ADD COLUMN purge_turns      jsonb NOT NULL DEFAULT '[]';  -- ids of turns that working memory may still hold

-- A restore looks at the time, and clocks differ. This is the last word: what has begun to go does not come back.
CREATE FUNCTION rearview_no_restore_while_purging() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE serialization_failure USING MESSAGE = 'the purge has begun';
END $$;
CREATE TRIGGER no_restore_while_purging BEFORE UPDATE OF state ON forget_receipt FOR EACH ROW
  WHEN (NEW.state = 4 AND OLD.purge_started_at IS NOT NULL) EXECUTE FUNCTION rearview_no_restore_while_purging();

-- Whether a speaker's name still stands in an event.
CREATE INDEX event_by_speaker ON event (tenant_id, namespace_id, speaker) WHERE speaker <> '';
CREATE INDEX session_open_window ON session (last_event_at) WHERE NOT window_closed;

-- The number of the last batch of access counts that was added: none is added twice, whoever brings it.
CREATE TABLE access_drain (
  tenant_id uuid PRIMARY KEY,
  number    bigint NOT NULL
);
ALTER TABLE access_drain ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON access_drain TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
GRANT SELECT, INSERT, UPDATE ON access_drain TO rearview_service;

-- The rounds. They run as the owner, since a round knows no tenant; they delete only what is past its time by rules
-- that stand here, and return ids only.

CREATE FUNCTION rearview_expire_requests(p_limit int) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH old AS (
    SELECT tenant_id, request_id FROM request WHERE created_at < now() - interval '24 hours'
    ORDER BY created_at LIMIT p_limit FOR UPDATE SKIP LOCKED),
  gone AS (
    DELETE FROM request r USING old WHERE r.tenant_id = old.tenant_id AND r.request_id = old.request_id RETURNING 1)
  SELECT count(*) FROM gone
$$;

CREATE FUNCTION rearview_expire_recall_traces(p_limit int) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH old AS (
    SELECT tenant_id, trace_id FROM recall_trace WHERE created_at < now() - interval '7 days'
    ORDER BY created_at LIMIT p_limit FOR UPDATE SKIP LOCKED),
  gone AS (
    DELETE FROM recall_trace t USING old WHERE t.tenant_id = old.tenant_id AND t.trace_id = old.trace_id RETURNING 1)
  SELECT count(*) FROM gone
$$;

-- Sessions with open windows and no news, for which no job waits, runs or has failed.
CREATE FUNCTION rearview_silent_sessions(p_silent interval, p_limit int)
RETURNS TABLE (tenant_id uuid, namespace_id uuid, session_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT s.tenant_id, s.namespace_id, s.session_id FROM session s
  WHERE NOT s.window_closed AND s.forgotten_at IS NULL AND s.last_event_at < now() - p_silent
    AND NOT EXISTS (SELECT FROM procrastinate_jobs j
                    WHERE j.lock = format('close:%s:%s:%s', s.tenant_id, s.namespace_id, s.session_id))
  ORDER BY s.last_event_at LIMIT p_limit
$$;

-- Namespaces with closed units that should long have moved to the main index and for which no job waits or runs.
CREATE FUNCTION rearview_unmerged_namespaces(p_age interval, p_limit int)
RETURNS TABLE (tenant_id uuid, namespace_id uuid)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE n smallint; left_over int := p_limit; found_rows int;
BEGIN
  FOR n IN SELECT g.ordinal FROM model_generation g ORDER BY g.ordinal LOOP
    RETURN QUERY EXECUTE format($q$
      SELECT f.tenant_id, f.namespace_id FROM search_unit_fresh_%s f
      WHERE f.closed AND f.created_at < now() - $1
        AND NOT EXISTS (
          SELECT FROM procrastinate_jobs j WHERE j.queue_name = 'merge_fresh_units' AND j.status IN ('todo', 'doing')
            AND j.args ->> 'tenant_id' = f.tenant_id::text AND j.args ->> 'namespace_id' = f.namespace_id::text)
      GROUP BY f.tenant_id, f.namespace_id LIMIT $2 $q$, n) USING p_age, left_over;
    GET DIAGNOSTICS found_rows = ROW_COUNT;
    left_over := left_over - found_rows;
    EXIT WHEN left_over <= 0;
  END LOOP;
END $$;

-- Receipts whose purge is overdue though no job waits or runs for it: its job failed for good, or was lost.
CREATE FUNCTION rearview_overdue_purges(p_overdue interval, p_limit int)
RETURNS TABLE (tenant_id uuid, receipt_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT r.tenant_id, r.receipt_id FROM forget_receipt r
  WHERE r.state = 1 AND r.purge_after < now() - p_overdue
    AND NOT EXISTS (SELECT FROM procrastinate_jobs j
                    WHERE j.lock = format('purge:%s:%s', r.tenant_id, r.receipt_id) AND j.status IN ('todo', 'doing'))
  ORDER BY r.purge_after LIMIT p_limit
$$;

DO $$
DECLARE f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['rearview_expire_requests(int)', 'rearview_expire_recall_traces(int)',
      'rearview_silent_sessions(interval, int)', 'rearview_unmerged_namespaces(interval, int)',
      'rearview_overdue_purges(interval, int)'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO rearview_service', f);
  END LOOP;
END $$;
