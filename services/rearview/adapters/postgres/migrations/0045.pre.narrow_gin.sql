-- A namespace belongs to one tenant: the tenant's own list of all its rows was read, and written, beside the namespace's.

DROP INDEX memory_by_entity;
CREATE INDEX memory_by_entity ON memory USING gin (namespace_id, entity_keys) WITH (fastupdate = off);

DROP INDEX event_raw_keywords;
CREATE INDEX event_raw_keywords ON event USING gin (namespace_id, keywords) WITH (fastupdate = off)
  WHERE outcome IN (1, 3) AND NOT tombstoned;

DROP INDEX event_by_band;
CREATE INDEX event_by_band ON event USING gin (namespace_id, bands) WITH (fastupdate = off)
  WHERE outcome = 2 AND NOT tombstoned AND bands <> '{}';
