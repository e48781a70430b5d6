-- Taking in exports.

-- name: progress
SELECT lines, checksum, touched_sessions FROM import_run
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND export_id = %(export_id)s

-- name: end
DELETE FROM import_run
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND export_id = %(export_id)s

-- name: begin
INSERT INTO import_run (tenant_id, namespace_id, export_id, lines, checksum, touched_sessions, updated_at)
VALUES (%(tenant_id)s, %(namespace_id)s, %(export_id)s, %(lines)s, %(checksum)s, %(touched)s::text[], %(now)s)
ON CONFLICT (tenant_id, namespace_id, export_id) DO NOTHING RETURNING lines

-- name: advance
UPDATE import_run SET lines = %(lines)s, checksum = %(checksum)s, touched_sessions = %(touched)s::text[], updated_at = %(now)s
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND export_id = %(export_id)s AND lines = %(before)s
RETURNING lines

-- name: there
SELECT memory_id FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(ids)s)
UNION ALL
SELECT event_id FROM event
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND event_id = ANY (%(ids)s)

-- name: forgotten
SELECT resource_id FROM tombstone
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND resource_id = ANY (%(ids)s)

-- name: taken
SELECT e.session_id, e.sequence
FROM unnest(%(sessions)s::text[], %(sequences)s::bigint[]) AS p (session_id, sequence)
JOIN event e ON e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.session_id = p.session_id
  AND e.sequence = p.sequence

-- A session that was forgotten is there again with the first of its turns that was not.
-- name: open_sessions
INSERT INTO session AS s (tenant_id, namespace_id, session_id, started_at, last_event_at, ended_at)
SELECT %(tenant_id)s, %(namespace_id)s, r.session_id, r.started_at, r.last_event_at, r.ended_at
FROM json_to_recordset(%(sessions)s::json) AS r (session_id text, started_at timestamptz, last_event_at timestamptz,
  ended_at timestamptz)
ORDER BY r.session_id
ON CONFLICT (tenant_id, namespace_id, session_id) DO UPDATE
SET started_at = CASE WHEN s.forgotten_at IS NULL THEN least(s.started_at, excluded.started_at) ELSE excluded.started_at END,
    last_event_at = CASE WHEN s.forgotten_at IS NULL THEN greatest(s.last_event_at, excluded.last_event_at)
                    ELSE excluded.last_event_at END,
    ended_at = CASE WHEN s.forgotten_at IS NULL THEN s.ended_at ELSE excluded.ended_at END, forgotten_at = NULL

-- name: insert_events
INSERT INTO event (tenant_id, namespace_id, event_id, session_id, sequence, role, speaker, content, tool_call, image_caption,
                   metadata, redactions, occurred_at, created_at, keywords, outcome, importance, capture, bands, indexed_at)
SELECT %(tenant_id)s, %(namespace_id)s, r.event_id, r.session_id, r.sequence, r.role, r.speaker, r.content, r.tool_call,
       r.image_caption, r.metadata, r.redactions, r.occurred_at, r.created_at, r.keywords, r.outcome, r.importance, r.capture,
       r.bands, r.indexed_at
FROM json_to_recordset(%(events)s::json) AS r (event_id uuid, session_id text, sequence bigint, role smallint, speaker text,
  content text, tool_call jsonb, image_caption text, metadata jsonb, redactions text[], occurred_at timestamptz,
  created_at timestamptz, keywords int4[], outcome smallint, importance real, capture jsonb, bands int4[],
  indexed_at timestamptz)
ON CONFLICT DO NOTHING RETURNING event_id

-- Indexing goes on with the first event that waits for it.
-- name: number_sessions
WITH counted AS (
  SELECT e.session_id, max(e.sequence) AS last_sequence, min(e.sequence) FILTER (WHERE e.outcome = 1 AND NOT e.tombstoned) AS waiting
  FROM event e
  WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.session_id = ANY (%(session_ids)s)
  GROUP BY e.session_id)
UPDATE session s
SET last_sequence = greatest(s.last_sequence, c.last_sequence),
    indexed_sequence = coalesce(c.waiting - 1, greatest(s.last_sequence, c.last_sequence)),
    index_queued = s.index_queued OR c.waiting IS NOT NULL
FROM counted c
WHERE s.tenant_id = %(tenant_id)s AND s.namespace_id = %(namespace_id)s AND s.session_id = c.session_id
RETURNING s.session_id, c.waiting IS NOT NULL

-- name: active_values
SELECT m.memory_id, m.fact_subject, m.fact_attribute, coalesce(m.fact_told_at, m.occurred_at) AS told_at
FROM json_to_recordset(%(attributes)s::json) AS r (subject text, attribute text)
JOIN memory m ON m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.fact_subject = r.subject
  AND m.fact_attribute = r.attribute AND m.state = 1 AND m.single_valued
ORDER BY m.memory_id FOR UPDATE OF m

-- name: supersede
UPDATE memory m
SET state = 2, superseded_by = r.superseded_by, valid_to = coalesce(m.valid_to, r.at), updated_at = %(now)s,
    version = m.version + 1
FROM json_to_recordset(%(superseded)s::json) AS r (memory_id uuid, superseded_by uuid, at timestamptz)
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = r.memory_id

-- name: insert_memories
INSERT INTO memory (tenant_id, namespace_id, memory_id, type, state, tier, tiered_at, content, content_hash, priority, pinned,
                    labels, metadata, entities, entity_keys, intent, valence, intensity, origin, trust, confidence, valid_from,
                    valid_to, occurred_at, occurred_until, created_at, updated_at, expires_at, superseded_by, session_id,
                    languages, generation, redactions, fact_subject, fact_attribute, fact_value, fact_unit, single_valued,
                    fact_value_key, fact_denied, fact_stance, fact_category, fact_replaces, fact_told_at, fact_source_id,
                    extractor, prompt_version, extraction_note, derived, version)
SELECT %(tenant_id)s, %(namespace_id)s, r.memory_id, r.type, r.state, r.tier, CASE WHEN r.tier <> 1 THEN %(now)s END,
       r.content, r.content_hash, r.priority, r.pinned, r.labels, r.metadata, r.entities, r.entity_keys, r.intent, r.valence,
       r.intensity, r.origin, r.trust, r.confidence, r.valid_from, r.valid_to, r.occurred_at, r.occurred_until, r.created_at,
       r.updated_at, r.expires_at, r.superseded_by, r.session_id, r.languages, %(generation)s, r.redactions, r.fact_subject,
       r.fact_attribute, r.fact_value, r.fact_unit, r.single_valued, r.fact_value_key, r.fact_denied, r.fact_stance,
       r.fact_category, r.fact_replaces, r.fact_told_at, r.fact_source_id, r.extractor, r.prompt_version, r.extraction_note,
       r.derived, r.version
FROM json_to_recordset(%(memories)s::json) AS r (memory_id uuid, type smallint, state smallint, tier smallint, content text,
  content_hash bytea, priority real, pinned boolean, labels jsonb, metadata jsonb, entities jsonb, entity_keys text[],
  intent text, valence real, intensity real, origin smallint, trust smallint, confidence real, valid_from timestamptz,
  valid_to timestamptz, occurred_at timestamptz, occurred_until timestamptz, created_at timestamptz, updated_at timestamptz,
  expires_at timestamptz, superseded_by uuid, session_id text, languages smallint, redactions text[], fact_subject text,
  fact_attribute text, fact_value text, fact_unit text, single_valued boolean, fact_value_key text, fact_denied boolean,
  fact_stance text, fact_category text, fact_replaces text, fact_told_at timestamptz, fact_source_id uuid, extractor text,
  prompt_version text, extraction_note text, derived boolean, version bigint)
ON CONFLICT DO NOTHING RETURNING memory_id

-- What a link or a source refers to and is not there was not exported, or was forgotten.
-- name: link_events
INSERT INTO memory_event (tenant_id, namespace_id, memory_id, event_id, session_id, sequence, repeats)
SELECT %(tenant_id)s, %(namespace_id)s, r.memory_id, e.event_id, e.session_id, e.sequence, r.repeats
FROM json_to_recordset(%(links)s::json) AS r (memory_id uuid, event_id uuid, repeats uuid)
JOIN event e ON e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.event_id = r.event_id AND NOT e.tombstoned
ON CONFLICT DO NOTHING

-- name: link_sources
INSERT INTO memory_source (tenant_id, namespace_id, memory_id, source_memory_id)
SELECT %(tenant_id)s, %(namespace_id)s, r.memory_id, m.memory_id
FROM json_to_recordset(%(sources)s::json) AS r (memory_id uuid, source_memory_id uuid)
JOIN memory m ON m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = r.source_memory_id
  AND m.state <> 4
ON CONFLICT DO NOTHING

-- name: insert_stats
INSERT INTO memory_stats (tenant_id, namespace_id, memory_id, access_count, last_accessed_at)
SELECT %(tenant_id)s, %(namespace_id)s, r.memory_id, r.access_count, r.last_accessed_at
FROM json_to_recordset(%(stats)s::json) AS r (memory_id uuid, access_count bigint, last_accessed_at timestamptz)
ORDER BY r.memory_id ON CONFLICT DO NOTHING
