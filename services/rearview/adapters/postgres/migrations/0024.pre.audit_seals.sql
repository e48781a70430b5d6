-- Seals over the audit log. A seal covers the records between two places, a place being a record's time and id; so the
-- log is keyed by its place, and what is put in later, with an earlier time, stands in a range that is sealed already.
ALTER TABLE audit_record DROP CONSTRAINT audit_record_pkey, ADD PRIMARY KEY (tenant_id, recorded_at, record_id);

CREATE TABLE audit_seal (
  tenant_id      uuid NOT NULL,
  number         bigint NOT NULL,           -- from 1, without gaps
  first_sequence bigint NOT NULL,           -- of its first record among all of the tenant, from 1
  record_count   int4 NOT NULL CHECK (record_count > 0),
  after_at       timestamptz NOT NULL,      -- its range begins behind this place
  after_id       uuid NOT NULL,
  upto_at        timestamptz NOT NULL,      -- the place of its last record
  upto_id        uuid NOT NULL,
  leaves         bytea NOT NULL,            -- one keyed digest of 32 bytes a record, in their order
  root           bytea NOT NULL,            -- of the Merkle tree over the leaves
  previous       bytea NOT NULL,            -- the code of the seal before
  key_id         bytea NOT NULL,            -- which key; says nothing about it
  sealed_at      timestamptz NOT NULL,
  code           bytea NOT NULL,            -- HMAC-SHA256 over all of the above
  PRIMARY KEY (tenant_id, number)
);
ALTER TABLE audit_seal ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON audit_seal TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
GRANT SELECT, INSERT ON audit_seal TO rearview_service;  -- no UPDATE, no DELETE: seals stay

-- Tenants with records that no seal covers, up to a moment. Runs as the owner, since a round knows no tenant; returns
-- ids only.
CREATE FUNCTION rearview_unsealed_tenants(p_until timestamptz, p_limit int) RETURNS TABLE (tenant_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT t.tenant_id FROM tenant t
  LEFT JOIN LATERAL (SELECT s.upto_at, s.upto_id FROM audit_seal s WHERE s.tenant_id = t.tenant_id
                     ORDER BY s.number DESC LIMIT 1) s ON true
  WHERE EXISTS (SELECT FROM audit_record a
                WHERE a.tenant_id = t.tenant_id AND a.recorded_at <= p_until
                  AND (a.recorded_at, a.record_id)
                    > (coalesce(s.upto_at, '-infinity'), coalesce(s.upto_id, '00000000-0000-0000-0000-000000000000')))
  ORDER BY t.tenant_id LIMIT p_limit
$$;
REVOKE ALL ON FUNCTION rearview_unsealed_tenants(timestamptz, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_unsealed_tenants(timestamptz, int) TO rearview_service;
