-- The words of facts: those of the first turn or memory that states it and is not forgotten.

-- The turns that state each of these facts, the earliest first, at most so many.
-- name: turns_stating
SELECT x.* FROM unnest(%(memory_ids)s::uuid[]) AS f (memory_id)
CROSS JOIN LATERAL (
  SELECT l.memory_id, e.session_id, e.event_id, e.sequence, e.role, e.speaker, e.content, e.tool_call, e.image_caption,
         e.redactions, e.occurred_at, e.created_at
  FROM memory_event l
  JOIN event e ON e.tenant_id = l.tenant_id AND e.namespace_id = l.namespace_id AND e.event_id = l.event_id
  WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s AND l.memory_id = f.memory_id AND NOT e.tombstoned
  ORDER BY e.occurred_at, e.session_id, e.sequence LIMIT %(limit)s) x

-- The memories that state each of these facts.
-- name: memories_stating
SELECT x.* FROM unnest(%(memory_ids)s::uuid[]) AS f (memory_id)
CROSS JOIN LATERAL (
  SELECT s.memory_id, s.source_memory_id
  FROM memory_source s
  JOIN memory o ON o.tenant_id = s.tenant_id AND o.namespace_id = s.namespace_id AND o.memory_id = s.source_memory_id
  WHERE s.tenant_id = %(tenant_id)s AND s.namespace_id = %(namespace_id)s AND s.memory_id = f.memory_id AND o.state <> 4
  ORDER BY o.occurred_at, o.memory_id LIMIT %(limit)s) x

-- What came before a turn in its session: context for reading it.
-- name: turns_before
SELECT e.event_id, e.sequence, e.role, e.speaker, e.content, e.tool_call, e.image_caption, e.redactions, e.occurred_at,
       e.created_at
FROM event e
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.session_id = %(session_id)s
  AND e.sequence < %(sequence)s AND NOT e.tombstoned
ORDER BY e.sequence DESC LIMIT 4

-- name: namespace_name
SELECT name FROM namespace WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND deleted_at IS NULL

-- A fact keeps its place among the values of its attribute: nothing else was told between two turns that state it.
-- name: reword_facts
UPDATE memory m
SET session_id = r.session_id, fact_value = r.value, fact_unit = r.unit, fact_stance = r.stance, fact_category = r.category,
    fact_replaces = r.replaces, fact_source_id = r.source_id, fact_told_at = greatest(m.fact_told_at, r.told_at),
    intent = r.intent, valence = r.valence, intensity = r.intensity, extractor = r.extractor,
    prompt_version = r.prompt_version, extraction_note = r.note
FROM json_to_recordset(%(facts)s::json) AS r (memory_id uuid, session_id text, value text, unit text, stance text,
  category text, replaces text, source_id uuid, told_at timestamptz, intent text, valence real, intensity real,
  extractor text, prompt_version text, note text)
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = r.memory_id
