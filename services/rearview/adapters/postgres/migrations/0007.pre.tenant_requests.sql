-- A tenant remembers the request that made it, so that a repeated CreateTenant changes nothing. The table `request`
-- cannot: it belongs to a tenant, and the operator to none.
ALTER TABLE tenant
  ADD COLUMN create_request_id  uuid,
  ADD COLUMN create_fingerprint bytea,           -- SHA-256 of the request without its id
  ADD COLUMN first_key_id       text NOT NULL DEFAULT '';
CREATE UNIQUE INDEX tenant_by_create_request ON tenant (create_request_id) WHERE create_request_id IS NOT NULL;
