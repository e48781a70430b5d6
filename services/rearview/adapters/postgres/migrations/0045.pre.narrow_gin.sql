-- A namespace belongs to one tenant: the tenant's own list of all its rows was read, and written, beside the namespace's.
-- The new ones are built first, while others may read.

CREATE INDEX memory_by_entity_narrow ON memory USING gin (namespace_id, entity_keys) WITH (fastupdate = off);
CREATE INDEX event_raw_keywords_narrow ON event USING gin (namespace_id, keywords) WITH (fastupdate = off)
  WHERE outcome IN (1, 3) AND NOT tombstoned;
CREATE INDEX event_by_band_narrow ON event USING gin (namespace_id, bands) WITH (fastupdate = off)
  WHERE outcome = 2 AND NOT tombstoned AND bands <> '{}';

DROP INDEX memory_by_entity, event_raw_keywords, event_by_band;
ALTER INDEX memory_by_entity_narrow RENAME TO memory_by_entity;
ALTER INDEX event_raw_keywords_narrow RENAME TO event_raw_keywords;
ALTER INDEX event_by_band_narrow RENAME TO event_by_band;
