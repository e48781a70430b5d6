-- Rows of memories as the writer reads, inserts and replaces them.

-- name: lock
SELECT memory_id, version, state FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)
ORDER BY memory_id FOR UPDATE

-- Said again is used again. Rows come in the order of their ids, so that two transactions never wait for each other.
-- Returns those that are warm or cold.
-- name: count_uses
WITH used AS (
  INSERT INTO memory_stats AS s (tenant_id, namespace_id, memory_id, access_count, last_accessed_at)
  SELECT %(tenant_id)s, %(namespace_id)s, r.memory_id, r.times, %(now)s
  FROM json_to_recordset(%(uses)s::json) AS r (memory_id uuid, times bigint) ORDER BY r.memory_id
  ON CONFLICT (tenant_id, namespace_id, memory_id) DO UPDATE
  SET access_count = s.access_count + excluded.access_count,
      last_accessed_at = greatest(s.last_accessed_at, excluded.last_accessed_at)
  RETURNING s.memory_id)
SELECT m.memory_id FROM used u
CROSS JOIN LATERAL (
  SELECT m.memory_id FROM memory m
  WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = u.memory_id AND m.tier <> 1) m
ORDER BY m.memory_id

-- name: not_hot
SELECT memory_id FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s) AND tier <> 1
ORDER BY memory_id

-- name: read
SELECT m.memory_id, m.type, m.state, m.tier, m.content, m.priority, m.pinned, m.labels, m.metadata, m.entities, m.intent,
       m.valence, m.intensity, m.origin, m.trust, m.confidence, m.valid_from, m.valid_to, m.occurred_at, m.occurred_until,
       m.created_at, m.updated_at, m.expires_at, m.superseded_by, m.session_id, m.languages, m.redactions, m.fact_subject,
       m.fact_attribute, m.fact_value, m.fact_unit, m.single_valued, m.fact_value_key, m.fact_denied, m.fact_stance,
       m.fact_category, m.fact_replaces, m.extractor, m.prompt_version, m.extraction_note, m.version, g.generation_id,
       coalesce(s.access_count, 0) AS access_count, s.last_accessed_at,
       coalesce((SELECT json_agg(json_build_array(l.session_id, l.event_id) ORDER BY l.sequence) FROM memory_event l
                 WHERE l.tenant_id = m.tenant_id AND l.namespace_id = m.namespace_id AND l.memory_id = m.memory_id),
                '[]') AS events
FROM memory m
JOIN model_generation g ON g.ordinal = (SELECT rearview_answering_generation(%(tenant_id)s))
LEFT JOIN memory_stats s ON s.tenant_id = m.tenant_id AND s.namespace_id = m.namespace_id AND s.memory_id = m.memory_id
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = ANY (%(memory_ids)s)

-- name: insert
INSERT INTO memory (tenant_id, namespace_id, memory_id, type, state, content, content_hash, priority, pinned, labels,
                    metadata, entities, entity_keys, intent, valence, intensity, origin, trust, confidence, valid_from,
                    valid_to, occurred_at, occurred_until, created_at, updated_at, expires_at, session_id, languages,
                    generation, redactions)
SELECT %(tenant_id)s, %(namespace_id)s, r.memory_id, r.type, r.state, r.content, r.content_hash, r.priority, r.pinned,
       r.labels, r.metadata, r.entities, r.entity_keys, r.intent, r.valence, r.intensity, r.origin, r.trust, r.confidence,
       r.valid_from, r.valid_to, r.occurred_at, r.occurred_until, r.created_at, r.updated_at, r.expires_at, r.session_id,
       r.languages, %(generation)s, r.redactions
FROM json_to_recordset(%(memories)s::json) AS r (memory_id uuid, type smallint, state smallint, content text,
  content_hash bytea, priority real, pinned boolean, labels jsonb, metadata jsonb, entities jsonb, entity_keys text[],
  intent text, valence real, intensity real, origin smallint, trust smallint, confidence real, valid_from timestamptz,
  valid_to timestamptz, occurred_at timestamptz, occurred_until timestamptz, created_at timestamptz, updated_at timestamptz,
  expires_at timestamptz, session_id text, languages smallint, redactions text[])

-- name: replace
UPDATE memory m
SET content = r.content, content_hash = r.content_hash, priority = r.priority, pinned = r.pinned, labels = r.labels,
    metadata = r.metadata, entities = r.entities, entity_keys = r.entity_keys, intent = r.intent, valence = r.valence,
    intensity = r.intensity, origin = r.origin, trust = r.trust, confidence = r.confidence, valid_from = r.valid_from,
    valid_to = r.valid_to, occurred_at = r.occurred_at, occurred_until = r.occurred_until, updated_at = r.updated_at,
    expires_at = r.expires_at, languages = r.languages, redactions = r.redactions, version = m.version + 1
FROM json_to_recordset(%(memories)s::json) AS r (memory_id uuid, content text, content_hash bytea, priority real,
  pinned boolean, labels jsonb, metadata jsonb, entities jsonb, entity_keys text[], intent text, valence real,
  intensity real, origin smallint, trust smallint, confidence real, valid_from timestamptz, valid_to timestamptz,
  occurred_at timestamptz, occurred_until timestamptz, updated_at timestamptz, expires_at timestamptz, languages smallint,
  redactions text[])
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = r.memory_id
