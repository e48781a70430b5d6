-- An append is one call: its dozen statements, sent one by one, cost the writer more than everything else it does to
-- acknowledge turns.

-- Stores events at the end of a session and all that it leads to: the job, the audit record, the epoch, the request id.
-- Locks the session's row first, so appends to one session, its indexing and its forgetting come one after the other.
-- p_events holds each event once, numbered in the request's order (`at`); p_ids are the ids in that order, also twice.
-- p_record is of the audit record. Returns one row for each event, `stored` now or `known` before, or `again` for each
-- of an earlier request of this id; or one row, `deleted` (the namespace) or `reused` (the request id), and has done
-- nothing. Fails with an id as its hint: unique_violation (another session has the event), restrict_violation
-- (it was forgotten).
CREATE FUNCTION rearview_append(
  p_tenant uuid, p_namespace uuid, p_session text, p_ids uuid[], p_events json, p_first_at timestamptz,
  p_last_at timestamptz, p_now timestamptz, p_request uuid, p_method text, p_fingerprint bytea, p_record uuid,
  p_principal text, p_session_name text, p_request_text text, p_trace text, p_most_keywords int)
RETURNS TABLE (outcome text, event_id uuid, sequence bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_earlier record; v_last bigint; v_queued boolean; v_bad uuid; v_new bigint; v_keywords int4[]; v_pending bigint;
BEGIN
  IF EXISTS (SELECT FROM namespace n WHERE n.tenant_id = p_tenant AND n.namespace_id = p_namespace AND n.deleted_at IS NOT NULL)
     OR EXISTS (SELECT FROM tenant t WHERE t.tenant_id = p_tenant AND t.deleted_at IS NOT NULL) THEN
    RETURN QUERY SELECT 'deleted', NULL::uuid, NULL::bigint;
    RETURN;
  END IF;
  IF p_request IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended(p_tenant || '/' || p_request, 0));
    SELECT r.method, r.fingerprint, r.result INTO v_earlier
    FROM request r WHERE r.tenant_id = p_tenant AND r.request_id = p_request;
    IF FOUND AND (v_earlier.method, v_earlier.fingerprint) IS DISTINCT FROM (p_method, p_fingerprint) THEN
      RETURN QUERY SELECT 'reused', NULL::uuid, NULL::bigint;
      RETURN;
    ELSIF FOUND THEN
      RETURN QUERY SELECT 'again', i.id::uuid, NULL::bigint
                   FROM jsonb_array_elements_text(v_earlier.result -> 'event_ids') WITH ORDINALITY AS i (id, at) ORDER BY i.at;
      RETURN;
    END IF;
  END IF;

  INSERT INTO session AS s (tenant_id, namespace_id, session_id, started_at, last_event_at)
  VALUES (p_tenant, p_namespace, p_session, p_first_at, p_last_at)
  ON CONFLICT (tenant_id, namespace_id, session_id) DO UPDATE SET last_sequence = s.last_sequence
  RETURNING s.last_sequence, s.index_queued INTO v_last, v_queued;
  SELECT t.resource_id INTO v_bad FROM tombstone t
  WHERE t.tenant_id = p_tenant AND t.namespace_id = p_namespace AND t.resource_id = ANY (p_ids) LIMIT 1;
  IF FOUND THEN
    RAISE restrict_violation USING MESSAGE = 'an event of this id was forgotten', HINT = v_bad;
  END IF;
  SELECT e.event_id INTO v_bad FROM event e
  WHERE e.tenant_id = p_tenant AND e.namespace_id = p_namespace AND e.event_id = ANY (p_ids) AND e.session_id <> p_session
  LIMIT 1;
  IF FOUND THEN
    RAISE unique_violation USING MESSAGE = 'another session has an event of this id', HINT = v_bad;
  END IF;

  RETURN QUERY
    INSERT INTO event AS e (tenant_id, namespace_id, session_id, created_at, event_id, sequence, role, speaker, content,
                            tool_call, image_caption, metadata, redactions, occurred_at, keywords)
    SELECT p_tenant, p_namespace, p_session, p_now, r.event_id, v_last + row_number() OVER (ORDER BY r.at), r.role, r.speaker,
           r.content, r.tool_call, r.image_caption, r.metadata, r.redactions, r.occurred_at, r.keywords
    FROM json_to_recordset(p_events) AS r (at int, event_id uuid, role smallint, speaker text, content text, tool_call jsonb,
      image_caption text, metadata jsonb, redactions text[], occurred_at timestamptz, keywords int4[])
    WHERE NOT EXISTS (SELECT FROM event k WHERE k.tenant_id = p_tenant AND k.namespace_id = p_namespace AND k.event_id = r.event_id)
    RETURNING 'stored', e.event_id, e.sequence;
  GET DIAGNOSTICS v_new = ROW_COUNT;
  RETURN QUERY
    SELECT 'known', e.event_id, e.sequence FROM event e
    WHERE e.tenant_id = p_tenant AND e.namespace_id = p_namespace AND e.event_id = ANY (p_ids) AND e.sequence <= v_last;
  IF p_request IS NOT NULL THEN
    INSERT INTO request (tenant_id, request_id, method, fingerprint, result, created_at)
    VALUES (p_tenant, p_request, p_method, p_fingerprint, jsonb_build_object('event_ids', to_jsonb(p_ids)), p_now);
  END IF;
  IF v_new = 0 THEN
    RETURN;
  END IF;

  -- A forgotten session starts afresh; an ended one opens again.
  UPDATE session s
  SET last_sequence = v_last + v_new,
      started_at = CASE WHEN s.forgotten_at IS NULL THEN least(s.started_at, p_first_at) ELSE p_first_at END,
      last_event_at = CASE WHEN s.forgotten_at IS NULL THEN greatest(s.last_event_at, p_last_at) ELSE p_last_at END,
      ended_at = NULL, forgotten_at = NULL, index_queued = true
  WHERE s.tenant_id = p_tenant AND s.namespace_id = p_namespace AND s.session_id = p_session;
  IF NOT v_queued THEN
    PERFORM rearview_enqueue('index_session', format('session:%s:%s:%s', p_tenant, p_namespace, p_session),
      jsonb_build_object('tenant_id', p_tenant, 'namespace_id', p_namespace, 'session_id', p_session), NULL);
  END IF;
  INSERT INTO audit_record (tenant_id, record_id, recorded_at, principal, action, resource_names, detail, request_id, trace_id)
  VALUES (p_tenant, p_record, p_now, p_principal, 'events.append', ARRAY[p_session_name], 'events=' || v_new, p_request_text, p_trace);
  SELECT coalesce(array_agg(DISTINCT w.keyword), '{}') INTO v_keywords
  FROM event e, unnest(e.keywords) AS w (keyword)
  WHERE e.tenant_id = p_tenant AND e.namespace_id = p_namespace AND e.session_id = p_session AND e.sequence > v_last;
  SELECT coalesce(max(e.sequence), 0) INTO v_pending FROM event e
  WHERE e.tenant_id = p_tenant AND e.namespace_id = p_namespace AND e.session_id = p_session AND e.sequence > v_last AND e.role = 1;
  IF cardinality(v_keywords) > p_most_keywords THEN
    PERFORM rearview_bump_epoch(p_tenant, p_namespace, false);
  ELSE
    PERFORM rearview_note_addition(p_tenant, p_namespace, p_session, v_keywords, '{}', '', '{}', v_pending, 0);
  END IF;
END $$;
REVOKE ALL ON FUNCTION rearview_append(uuid, uuid, text, uuid[], json, timestamptz, timestamptz, timestamptz, uuid, text, bytea, uuid, text, text, text, text, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_append(uuid, uuid, text, uuid[], json, timestamptz, timestamptz, timestamptz, uuid, text, bytea, uuid, text, text, text, text, int) TO rearview_service;
