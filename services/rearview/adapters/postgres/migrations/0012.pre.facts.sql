-- Facts: what their values are compared by, who read them, and from what they were derived.

ALTER TABLE memory
  ADD COLUMN fact_value_key   text,
  ADD COLUMN fact_denied      boolean NOT NULL DEFAULT false,
  ADD COLUMN fact_stance      text,              -- domain.fact.Stance
  ADD COLUMN fact_category    text,
  ADD COLUMN fact_replaces    text,              -- the value key that it was said to take the place of
  ADD COLUMN fact_told_at     timestamptz,       -- its place among the values of its attribute; an undo moves it
  ADD COLUMN fact_source_id   uuid,              -- the event or memory that stated it first
  ADD COLUMN extractor        text NOT NULL DEFAULT '',
  ADD COLUMN prompt_version   text NOT NULL DEFAULT '',
  ADD COLUMN extraction_note  text NOT NULL DEFAULT '',
  -- Made of other memories' sources, so that it goes when they do; its sources are not kept for its sake.
  ADD COLUMN derived          boolean NOT NULL DEFAULT false;
CREATE INDEX memory_by_fact ON memory (tenant_id, namespace_id, fact_subject, fact_attribute, fact_told_at DESC)
  WHERE fact_subject IS NOT NULL;

-- From a derived memory to the memories that it was made of: an explicit memory's facts, a summary's values.
CREATE TABLE memory_source (
  tenant_id        uuid NOT NULL,
  namespace_id     uuid NOT NULL,
  memory_id        uuid NOT NULL,
  source_memory_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, namespace_id, memory_id, source_memory_id),
  FOREIGN KEY (tenant_id, namespace_id, memory_id) REFERENCES memory ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, namespace_id, source_memory_id) REFERENCES memory ON DELETE CASCADE
);
CREATE INDEX memory_source_forward ON memory_source (tenant_id, namespace_id, source_memory_id);
ALTER TABLE memory_source ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON memory_source TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON memory_source TO rearview_service;
