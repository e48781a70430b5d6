-- Rewriting what is stored by a stricter redaction policy.

-- Search units whose words were rewritten and which are still to be made anew; a rescan that was killed goes on here.
CREATE TABLE rescan_unit (
  tenant_id    uuid NOT NULL,
  operation_id uuid NOT NULL,
  namespace_id uuid NOT NULL,
  unit_id      uuid NOT NULL,              -- the event's id, or the memory's where it has no turns
  PRIMARY KEY (tenant_id, operation_id, namespace_id, unit_id)
);

-- That a pass over every place found nothing more: figures and names of categories, never content.
CREATE TABLE rescan_receipt (
  tenant_id      uuid NOT NULL,
  operation_id   uuid NOT NULL,
  policy_version bigint NOT NULL,
  categories     text[] NOT NULL,
  counts         jsonb NOT NULL,
  digest         text NOT NULL,
  verified_at    timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, operation_id)
);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['rescan_unit', 'rescan_receipt'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO rearview_service USING (tenant_id = (SELECT rearview_tenant()))', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO rearview_service', t);
  END LOOP;
END $$;
