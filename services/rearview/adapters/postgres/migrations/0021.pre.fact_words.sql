-- Forgetting a turn whose words a fact carries while other turns still state the fact.

-- Which facts carry the words of a turn, or of a memory.
CREATE INDEX memory_by_fact_source ON memory (tenant_id, namespace_id, fact_source_id) WHERE fact_source_id IS NOT NULL;

ALTER TABLE forget_receipt
  ADD COLUMN reworded uuid[] NOT NULL DEFAULT '{}';  -- facts that carried words of what goes, and carry others since

-- How often anything was written: whoever looked for what is known already sees whether others wrote since.
ALTER TABLE namespace_statistics ADD COLUMN writes bigint NOT NULL DEFAULT 0;
