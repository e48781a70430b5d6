-- What the last additions to a namespace were, so that a cached answer that they could not have changed stays good. Each
-- slot of `namespace_epoch` has a ring of 16; `number` is the additive epoch of the slot that the addition made. Hashes
-- and vectors only, no text; a forget, like everything that raises the breaking epoch, empties it.
CREATE TABLE namespace_addition (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  slot         smallint NOT NULL CHECK (slot BETWEEN 0 AND 15),
  place        smallint NOT NULL CHECK (place BETWEEN 0 AND 15),
  number       bigint NOT NULL,
  session_id   text NOT NULL,             -- '' for none
  keywords     int4[] NOT NULL,           -- hashes of all keywords that were added
  entities     int4[] NOT NULL,           -- hashes of all entities that were added
  vectors      bytea NOT NULL,            -- of the added units, little-endian float16, one after the other
  languages    int2[] NOT NULL,           -- language flags of the added units
  PRIMARY KEY (tenant_id, namespace_id, slot, place)
) WITH (fillfactor = 70);

ALTER TABLE namespace_addition ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON namespace_addition TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON namespace_addition TO rearview_service;

-- Raises the additive epoch of a namespace in the slot of the calling connection and notes what was added.
CREATE FUNCTION rearview_note_addition(p_tenant uuid, p_namespace uuid, p_session text, p_keywords int4[], p_entities int4[],
                                       p_vectors bytea, p_languages int2[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_slot smallint := pg_backend_pid() % 16; v_number bigint;
BEGIN
  INSERT INTO namespace_epoch AS e (tenant_id, namespace_id, slot, breaking, additive)
  VALUES (p_tenant, p_namespace, v_slot, 0, 1)
  ON CONFLICT (tenant_id, namespace_id, slot) DO UPDATE SET additive = e.additive + 1
  RETURNING e.additive INTO v_number;
  INSERT INTO namespace_addition (tenant_id, namespace_id, slot, place, number, session_id, keywords, entities, vectors, languages)
  VALUES (p_tenant, p_namespace, v_slot, v_number % 16, v_number, p_session, p_keywords, p_entities, p_vectors, p_languages)
  ON CONFLICT (tenant_id, namespace_id, slot, place) DO UPDATE
    SET number = excluded.number, session_id = excluded.session_id, keywords = excluded.keywords,
        entities = excluded.entities, vectors = excluded.vectors, languages = excluded.languages;
END $$;
REVOKE ALL ON FUNCTION rearview_note_addition(uuid, uuid, text, int4[], int4[], bytea, int2[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_note_addition(uuid, uuid, text, int4[], int4[], bytea, int2[]) TO rearview_service;

-- As in 0001, and empties the rings: after a break no cached answer asks for what was added before. A row that another
-- transaction is replacing is left to it, so that the two never wait for each other in a ring.
CREATE OR REPLACE FUNCTION rearview_bump_epoch(p_tenant uuid, p_namespace uuid, p_breaking boolean) RETURNS void LANGUAGE sql AS $$
  DELETE FROM namespace_addition a
  WHERE (a.tenant_id, a.namespace_id, a.slot, a.place) IN (
    SELECT r.tenant_id, r.namespace_id, r.slot, r.place FROM namespace_addition r
    WHERE p_breaking AND r.tenant_id = p_tenant AND r.namespace_id = p_namespace FOR UPDATE SKIP LOCKED);
  INSERT INTO namespace_epoch AS e (tenant_id, namespace_id, slot, breaking, additive)
  VALUES (p_tenant, p_namespace, pg_backend_pid() % 16, p_breaking::int, (NOT p_breaking)::int)
  ON CONFLICT (tenant_id, namespace_id, slot) DO UPDATE
    SET breaking = e.breaking + excluded.breaking, additive = e.additive + excluded.additive;
$$;
