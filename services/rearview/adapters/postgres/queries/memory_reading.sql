-- Memories as they are read: whole rows, by id, by page, by history.

-- Without `now` expired ones as well: recall has left them out before.
-- name: memories_by_id
SELECT m.memory_id, m.type, m.state, m.tier, m.content, m.priority, m.pinned, m.labels, m.metadata, m.entities, m.intent,
       m.valence, m.intensity, m.origin, m.trust, m.confidence, m.valid_from, m.valid_to, m.occurred_at, m.occurred_until,
       m.created_at, m.updated_at, m.expires_at, m.superseded_by, m.session_id, m.languages, g.generation_id, m.redactions,
       m.fact_subject, m.fact_attribute, m.fact_value, m.fact_unit, m.single_valued, m.fact_value_key, m.fact_denied, m.fact_stance,
       m.fact_category, m.fact_replaces, m.extractor, m.prompt_version, m.extraction_note, m.version,
       coalesce(s.access_count, 0) AS access_count, s.last_accessed_at,
       coalesce((SELECT json_agg(json_build_array(l.session_id, l.event_id) ORDER BY l.session_id, l.sequence)
                 FROM memory_event l
                 WHERE l.tenant_id = m.tenant_id AND l.namespace_id = m.namespace_id AND l.memory_id = m.memory_id),
                '[]') AS events
FROM memory m
JOIN model_generation g ON g.ordinal = (SELECT rearview_answering_generation(%(tenant)s))
LEFT JOIN memory_stats s ON s.tenant_id = m.tenant_id AND s.namespace_id = m.namespace_id AND s.memory_id = m.memory_id
WHERE m.tenant_id = %(tenant)s AND m.namespace_id = %(namespace)s AND m.memory_id = ANY (%(memories)s::uuid[])
  AND m.state <> 4 AND (%(now)s::timestamptz IS NULL OR m.expires_at IS NULL OR m.expires_at > %(now)s::timestamptz);

-- name: list_memories
SELECT m.memory_id, m.type, m.state, m.tier, m.content, m.priority, m.pinned, m.labels, m.metadata, m.entities, m.intent,
       m.valence, m.intensity, m.origin, m.trust, m.confidence, m.valid_from, m.valid_to, m.occurred_at, m.occurred_until,
       m.created_at, m.updated_at, m.expires_at, m.superseded_by, m.session_id, m.languages, g.generation_id, m.redactions,
       m.fact_subject, m.fact_attribute, m.fact_value, m.fact_unit, m.single_valued, m.fact_value_key, m.fact_denied, m.fact_stance,
       m.fact_category, m.fact_replaces, m.extractor, m.prompt_version, m.extraction_note, m.version,
       coalesce(s.access_count, 0) AS access_count, s.last_accessed_at,
       coalesce((SELECT json_agg(json_build_array(l.session_id, l.event_id) ORDER BY l.session_id, l.sequence)
                 FROM memory_event l
                 WHERE l.tenant_id = m.tenant_id AND l.namespace_id = m.namespace_id AND l.memory_id = m.memory_id),
                '[]') AS events
FROM memory m
JOIN model_generation g ON g.ordinal = (SELECT rearview_answering_generation(%(tenant)s))
LEFT JOIN memory_stats s ON s.tenant_id = m.tenant_id AND s.namespace_id = m.namespace_id AND s.memory_id = m.memory_id
WHERE m.tenant_id = %(tenant)s AND m.namespace_id = %(namespace)s
  AND m.state = ANY (%(states)s::int2[]) AND m.state <> 4 AND (m.expires_at IS NULL OR m.expires_at > %(now)s::timestamptz)
  AND (%(types)s::int2[] IS NULL OR m.type = ANY (%(types)s::int2[]))
  AND (%(start)s::timestamptz IS NULL OR coalesce(m.occurred_until, m.occurred_at) >= %(start)s::timestamptz)
  AND (%(end)s::timestamptz IS NULL OR m.occurred_at < %(end)s::timestamptz)
  AND (%(filter_entities)s::text[] IS NULL OR m.entity_keys @> %(filter_entities)s::text[])
  AND (%(session)s::text IS NULL OR m.session_id = %(session)s::text)
  AND (%(labels)s::jsonb IS NULL OR m.labels @> %(labels)s::jsonb)
  AND (%(origins)s::int2[] IS NULL OR m.origin = ANY (%(origins)s::int2[]))
  AND (%(as_of)s::timestamptz IS NULL OR (
    least(m.occurred_at, m.created_at, m.valid_from) <= %(as_of)s::timestamptz
    AND (m.valid_from IS NULL OR m.valid_from <= %(as_of)s::timestamptz)
    AND (m.valid_to IS NULL OR m.valid_to > %(as_of)s::timestamptz)
    AND (m.state = 1 OR m.valid_to IS NOT NULL OR coalesce(
      (SELECT least(n.occurred_at, n.created_at) FROM memory n
       WHERE n.tenant_id = m.tenant_id AND n.namespace_id = m.namespace_id AND n.memory_id = m.superseded_by),
      m.updated_at) > %(as_of)s::timestamptz)))
  AND m.created_at <= coalesce(%(after_created)s::timestamptz, 'infinity')
  AND (%(after_created)s::timestamptz IS NULL OR m.created_at < %(after_created)s::timestamptz
       OR (m.created_at = %(after_created)s::timestamptz AND m.memory_id > %(after_id)s::uuid))
ORDER BY m.created_at DESC, m.memory_id
LIMIT %(limit)s::int;

-- name: history
-- The chain of supersessions that a memory is part of, both ways. UNION, not UNION ALL: a circle must not run on.
WITH RECURSIVE earlier AS (
  SELECT m.memory_id FROM memory m
  WHERE m.tenant_id = %(tenant)s AND m.namespace_id = %(namespace)s AND m.memory_id = %(memory)s AND m.state <> 4
  UNION
  SELECT m.memory_id FROM memory m JOIN earlier c ON m.superseded_by = c.memory_id
  WHERE m.tenant_id = %(tenant)s AND m.namespace_id = %(namespace)s),
chain AS (
  SELECT e.memory_id FROM earlier e
  UNION
  SELECT m.superseded_by FROM memory m JOIN chain c ON c.memory_id = m.memory_id
  WHERE m.tenant_id = %(tenant)s AND m.namespace_id = %(namespace)s AND m.superseded_by IS NOT NULL)
SELECT m.memory_id
FROM memory m JOIN chain c ON c.memory_id = m.memory_id
WHERE m.tenant_id = %(tenant)s AND m.namespace_id = %(namespace)s AND m.state <> 4 AND (m.expires_at IS NULL OR m.expires_at > %(now)s::timestamptz)
  AND (%(after_created)s::timestamptz IS NULL OR m.created_at < %(after_created)s::timestamptz
       OR (m.created_at = %(after_created)s::timestamptz AND m.memory_id > %(after_id)s::uuid))
ORDER BY m.created_at DESC, m.memory_id
LIMIT %(limit)s::int;
