-- The row that points to a cold memory is mostly indexes. A namespace belongs to one tenant, so that its id alone leads to
-- a row; six bytes of a hash are all but unique in a namespace, and only what was told to be remembered is looked for by it.

DROP INDEX memory_by_hash;
CREATE INDEX memory_by_hash ON memory (namespace_id, substring(content_hash FROM 1 FOR 6)) WHERE trust = 3 AND NOT derived;

DROP INDEX memory_by_recency;
CREATE INDEX memory_by_recency ON memory (namespace_id, created_at DESC, memory_id);

DROP INDEX memory_event_forward;
CREATE INDEX memory_event_forward ON memory_event (namespace_id, event_id);
