-- An append looks for its events' ids in the unique index, by inserting them: a statement that looks for them beforehand is
-- planned, and where statistics know little of a namespace, the plan reads all of its events. Nothing here is planned anew
-- for its values: that took a third of an append.

-- As in 0034.
CREATE OR REPLACE FUNCTION rearview_append(
  p_tenant uuid, p_namespace uuid, p_session text, p_ids uuid[], p_events json, p_first_at timestamptz,
  p_last_at timestamptz, p_now timestamptz, p_request uuid, p_method text, p_fingerprint bytea, p_record uuid,
  p_principal text, p_session_name text, p_request_text text, p_trace text, p_most_keywords int)
RETURNS TABLE (outcome text, event_id uuid, sequence bigint) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  v_earlier record; v_last bigint; v_queued boolean; v_bad uuid; v_new bigint; v_keywords int4[]; v_pending bigint;
  v_known uuid[] := '{}'; v_stored uuid[]; v_sequences bigint[];
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
  LOOP
    WITH written AS (
      INSERT INTO event AS e (tenant_id, namespace_id, session_id, created_at, event_id, sequence, role, speaker, content,
                              tool_call, image_caption, metadata, redactions, occurred_at, keywords)
      SELECT p_tenant, p_namespace, p_session, p_now, r.event_id, v_last + row_number() OVER (ORDER BY r.at), r.role, r.speaker,
             r.content, r.tool_call, r.image_caption, r.metadata, r.redactions, r.occurred_at, r.keywords
      FROM json_to_recordset(p_events) AS r (at int, event_id uuid, role smallint, speaker text, content text, tool_call jsonb,
        image_caption text, metadata jsonb, redactions text[], occurred_at timestamptz, keywords int4[])
      WHERE r.event_id <> ALL (v_known)
      ON CONFLICT (tenant_id, namespace_id, event_id) DO NOTHING
      RETURNING e.event_id, e.sequence, e.role, e.keywords)
    SELECT count(*), array_agg(w.event_id), array_agg(w.sequence), coalesce(max(w.sequence) FILTER (WHERE w.role = 1), 0),
           coalesce((SELECT array_agg(DISTINCT k.keyword) FROM written, unnest(written.keywords) AS k (keyword)), '{}')
    INTO v_new, v_stored, v_sequences, v_pending, v_keywords FROM written w;
    EXIT WHEN v_new + cardinality(v_known) = json_array_length(p_events);
    -- Some are there already, and have left gaps in the order of the others, which are written once more without them.
    DELETE FROM event e
    WHERE e.tenant_id = p_tenant AND e.namespace_id = p_namespace AND e.event_id = ANY (v_stored);
    SELECT coalesce(array_agg(e.event_id), '{}'), (array_agg(e.event_id) FILTER (WHERE e.session_id <> p_session))[1]
    INTO v_known, v_bad FROM event e WHERE e.tenant_id = p_tenant AND e.namespace_id = p_namespace AND e.event_id = ANY (p_ids);
    IF v_bad IS NOT NULL THEN
      RAISE unique_violation USING MESSAGE = 'another session has an event of this id', HINT = v_bad;
    END IF;
  END LOOP;
  RETURN QUERY SELECT 'stored', s.event_id, s.sequence FROM unnest(v_stored, v_sequences) AS s (event_id, sequence);
  RETURN QUERY
    SELECT 'known', e.event_id, e.sequence FROM event e
    WHERE cardinality(v_known) > 0
      AND e.tenant_id = p_tenant AND e.namespace_id = p_namespace AND e.event_id = ANY (v_known);
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
  IF cardinality(v_keywords) > p_most_keywords THEN
    PERFORM rearview_bump_epoch(p_tenant, p_namespace, false);
  ELSE
    PERFORM rearview_note_addition(p_tenant, p_namespace, p_session, v_keywords, '{}', '', '{}', v_pending, 0);
  END IF;
END $$;
