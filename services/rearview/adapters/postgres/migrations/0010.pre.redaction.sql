-- A tenant's policy of redaction, the numbers of its placeholders, and sealed originals where the policy keeps them.

-- No row means the defaults, version 0.
CREATE TABLE tenant_policy (
  tenant_id            uuid PRIMARY KEY,
  redaction_categories text[] NOT NULL DEFAULT '{}',   -- empty means the default set
  redaction_vault      boolean NOT NULL DEFAULT false,
  version              bigint NOT NULL,
  updated_at           timestamptz NOT NULL
);

-- Which number a value has in its session: a keyed hash, whose key is not in the database, never the value. Rows live
-- and go with their session.
CREATE TABLE redaction_placeholder (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  session_id   text NOT NULL,
  category     text NOT NULL,
  digest       bytea NOT NULL,
  number       int4 NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, session_id, category, digest),
  UNIQUE (tenant_id, namespace_id, session_id, category, number),
  FOREIGN KEY (tenant_id, namespace_id, session_id) REFERENCES session ON DELETE CASCADE
);

-- What redaction replaced, sealed with a key that is not in the database. Erasing the row that it belongs to, which is
-- how a purge ends, erases it.
CREATE TABLE event_original (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  event_id     uuid NOT NULL,
  key_id       text NOT NULL,
  sealed       bytea NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, event_id),
  FOREIGN KEY (tenant_id, namespace_id, event_id) REFERENCES event ON DELETE CASCADE
);

CREATE TABLE memory_original (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  memory_id    uuid NOT NULL,
  key_id       text NOT NULL,
  sealed       bytea NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, memory_id),
  FOREIGN KEY (tenant_id, namespace_id, memory_id) REFERENCES memory ON DELETE CASCADE
);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['tenant_policy', 'redaction_placeholder', 'event_original', 'memory_original'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO rearview_service USING (tenant_id = (SELECT rearview_tenant()))', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO rearview_service', t);
  END LOOP;
END $$;
