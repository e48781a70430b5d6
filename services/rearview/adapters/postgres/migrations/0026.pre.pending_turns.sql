-- What an addition says of turns that wait for indexing: recall returns the newest of these whatever their words, so a
-- cached answer is not good while one waits that was said after it. Writers of before call the function without them.
ALTER TABLE namespace_addition
  ADD COLUMN pending_to bigint NOT NULL DEFAULT 0,  -- sequence of the last turn that waits for indexing since
  ADD COLUMN indexed_to bigint NOT NULL DEFAULT 0;  -- sequence of the last turn of the session that no longer does

-- As in 0016.
CREATE FUNCTION rearview_note_addition(p_tenant uuid, p_namespace uuid, p_session text, p_keywords int4[], p_entities int4[],
                                       p_vectors bytea, p_languages int2[], p_pending_to bigint, p_indexed_to bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_slot smallint := pg_backend_pid() % 16; v_number bigint;
BEGIN
  INSERT INTO namespace_epoch AS e (tenant_id, namespace_id, slot, breaking, additive)
  VALUES (p_tenant, p_namespace, v_slot, 0, 1)
  ON CONFLICT (tenant_id, namespace_id, slot) DO UPDATE SET additive = e.additive + 1
  RETURNING e.additive INTO v_number;
  INSERT INTO namespace_addition (tenant_id, namespace_id, slot, place, number, session_id, keywords, entities, vectors,
                                  languages, pending_to, indexed_to)
  VALUES (p_tenant, p_namespace, v_slot, v_number % 16, v_number, p_session, p_keywords, p_entities, p_vectors,
          p_languages, p_pending_to, p_indexed_to)
  ON CONFLICT (tenant_id, namespace_id, slot, place) DO UPDATE
    SET number = excluded.number, session_id = excluded.session_id, keywords = excluded.keywords,
        entities = excluded.entities, vectors = excluded.vectors, languages = excluded.languages,
        pending_to = excluded.pending_to, indexed_to = excluded.indexed_to;
END $$;
REVOKE ALL ON FUNCTION rearview_note_addition(uuid, uuid, text, int4[], int4[], bytea, int2[], bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_note_addition(uuid, uuid, text, int4[], int4[], bytea, int2[], bigint, bigint) TO rearview_service;
