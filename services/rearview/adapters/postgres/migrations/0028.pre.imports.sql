-- How far imports have come that are not at their end: ids and figures, never content. A row goes when its import ends.
CREATE TABLE import_run (
  tenant_id        uuid NOT NULL,
  namespace_id     uuid NOT NULL,
  export_id        uuid NOT NULL,
  lines            bigint NOT NULL,            -- of the export, taken in by now
  checksum         bytea NOT NULL,             -- of those lines
  touched_sessions text[] NOT NULL DEFAULT '{}',  -- of which turns were refused or redacted: their vectors are made anew
  updated_at       timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, export_id)
);
ALTER TABLE import_run ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON import_run TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON import_run TO rearview_service;
