-- Tenants, keys, namespaces. Tables belong to the role that migrates; the services work as rearview_service, the
-- operator's calls as rearview_operator, and neither owns a table, so row-level security binds both.

CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- Roles are of the cluster, databases are many: make them only where they are missing. Whoever deploys gives them
-- a password and LOGIN.
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'rearview_service') THEN CREATE ROLE rearview_service NOLOGIN; END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'rearview_operator') THEN CREATE ROLE rearview_operator NOLOGIN; END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;  -- a migration of another database was faster
END $$;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO rearview_service, rearview_operator;

-- The tenant for whom the transaction works. NULL (nothing set) matches no row: a missing tenant is a denial.
CREATE FUNCTION rearview_tenant() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT nullif(current_setting('app.tenant', true), '')::uuid $$;

CREATE TABLE tenant (
  tenant_id           uuid PRIMARY KEY,
  name                text NOT NULL UNIQUE,
  display_name        text NOT NULL DEFAULT '',
  disabled            boolean NOT NULL DEFAULT false,
  requests_per_second bigint NOT NULL DEFAULT 0,
  max_memories        bigint NOT NULL DEFAULT 0,
  max_bytes           bigint NOT NULL DEFAULT 0,
  version             bigint NOT NULL DEFAULT 1,
  created_at          timestamptz NOT NULL
);

CREATE TABLE api_key (
  tenant_id   uuid NOT NULL,
  key_id      text NOT NULL,
  secret_hash bytea NOT NULL,              -- SHA-256 of 256 random bits; a slow hash would add nothing
  principal   text NOT NULL,
  role        text NOT NULL CHECK (role IN ('read', 'write', 'admin')),
  namespaces  text[] NOT NULL DEFAULT '{}',
  created_at  timestamptz NOT NULL,
  expires_at  timestamptz,
  revoked_at  timestamptz,
  PRIMARY KEY (tenant_id, key_id)
);
CREATE INDEX api_key_by_id ON api_key (key_id);

CREATE TABLE namespace (
  tenant_id           uuid NOT NULL,
  namespace_id        uuid NOT NULL,
  name                text NOT NULL,
  display_name        text NOT NULL DEFAULT '',
  visibility          smallint NOT NULL DEFAULT 1,
  owner               text NOT NULL,
  forget_grace_period interval NOT NULL DEFAULT '24 hours',
  version             bigint NOT NULL DEFAULT 1,
  created_at          timestamptz NOT NULL,
  updated_at          timestamptz NOT NULL,
  deleted_at          timestamptz,
  PRIMARY KEY (tenant_id, namespace_id)
);
CREATE UNIQUE INDEX namespace_by_name ON namespace (tenant_id, name) WHERE deleted_at IS NULL;

CREATE TABLE namespace_grant (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  principal    text NOT NULL,
  access       text NOT NULL CHECK (access IN ('read', 'write')),
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, principal)
);

CREATE TABLE namespace_subscription (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  principal    text NOT NULL,
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, principal)
);

-- What was written since a cached answer was made. Each counter is the sum over 16 slots, so that concurrent
-- appends to one namespace do not queue behind one row.
CREATE TABLE namespace_epoch (
  tenant_id    uuid NOT NULL,
  namespace_id uuid NOT NULL,
  slot         smallint NOT NULL CHECK (slot BETWEEN 0 AND 15),
  breaking     bigint NOT NULL DEFAULT 0,
  additive     bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, namespace_id, slot)
) WITH (fillfactor = 50);

-- Answers of requests that carried a request id, so that a repeated request changes nothing.
CREATE TABLE request (
  tenant_id   uuid NOT NULL,
  request_id  uuid NOT NULL,
  method      text NOT NULL,
  fingerprint bytea NOT NULL,              -- SHA-256 of the request without its id
  result      jsonb NOT NULL,              -- ids only, never content
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, request_id)
);
CREATE INDEX request_by_age ON request (created_at);

-- Who did what to which resources: ids and figures, never content. Written in the transaction it records.
CREATE TABLE audit_record (
  tenant_id      uuid NOT NULL,
  record_id      uuid NOT NULL,
  recorded_at    timestamptz NOT NULL,
  principal      text NOT NULL,
  action         text NOT NULL,
  resource_names text[] NOT NULL,
  detail         text NOT NULL DEFAULT '',
  request_id     text NOT NULL DEFAULT '',
  trace_id       text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant_id, record_id)
);

-- Raises the epochs of a namespace in the slot of the calling connection.
CREATE FUNCTION rearview_bump_epoch(p_tenant uuid, p_namespace uuid, p_breaking boolean) RETURNS void LANGUAGE sql AS $$
  INSERT INTO namespace_epoch AS e (tenant_id, namespace_id, slot, breaking, additive)
  VALUES (p_tenant, p_namespace, pg_backend_pid() % 16, p_breaking::int, (NOT p_breaking)::int)
  ON CONFLICT (tenant_id, namespace_id, slot) DO UPDATE
    SET breaking = e.breaking + excluded.breaking, additive = e.additive + excluded.additive
$$;

-- What a credential says of itself. Runs as the owner, since no tenant is known before it; returns one key only.
CREATE FUNCTION rearview_find_key(p_key_id text)
RETURNS TABLE (tenant_id uuid, tenant_name text, disabled boolean, requests_per_second bigint, secret_hash bytea,
               principal text, role text, namespaces text[], expires_at timestamptz, revoked_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT t.tenant_id, t.name, t.disabled, t.requests_per_second, k.secret_hash,
         k.principal, k.role, k.namespaces, k.expires_at, k.revoked_at
  FROM api_key k JOIN tenant t ON t.tenant_id = k.tenant_id
  WHERE k.key_id = p_key_id
$$;
REVOKE ALL ON FUNCTION rearview_find_key(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_find_key(text) TO rearview_service;

ALTER TABLE tenant ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE namespace ENABLE ROW LEVEL SECURITY;
ALTER TABLE namespace_grant ENABLE ROW LEVEL SECURITY;
ALTER TABLE namespace_subscription ENABLE ROW LEVEL SECURITY;
ALTER TABLE namespace_epoch ENABLE ROW LEVEL SECURITY;
ALTER TABLE request ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_record ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_tenant ON tenant TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
CREATE POLICY own_tenant ON api_key TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
CREATE POLICY own_tenant ON namespace TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
CREATE POLICY own_tenant ON namespace_grant TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
CREATE POLICY own_tenant ON namespace_subscription TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
CREATE POLICY own_tenant ON namespace_epoch TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
CREATE POLICY own_tenant ON request TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
CREATE POLICY own_tenant ON audit_record TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));

-- The operator makes tenants, their first key and their first namespace, and sees no memory.
CREATE POLICY every_tenant ON tenant TO rearview_operator USING (true);
CREATE POLICY first_key ON api_key FOR INSERT TO rearview_operator WITH CHECK (true);
CREATE POLICY first_namespace ON namespace FOR INSERT TO rearview_operator WITH CHECK (true);
CREATE POLICY own_deeds ON audit_record FOR INSERT TO rearview_operator WITH CHECK (true);

GRANT SELECT ON tenant TO rearview_service;
GRANT SELECT, INSERT, UPDATE ON api_key, namespace, namespace_epoch TO rearview_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON namespace_grant, namespace_subscription, request TO rearview_service;
GRANT SELECT, INSERT ON audit_record TO rearview_service;  -- no UPDATE, no DELETE: records stay
GRANT SELECT, INSERT, UPDATE ON tenant TO rearview_operator;
GRANT INSERT ON api_key, namespace, audit_record TO rearview_operator;
