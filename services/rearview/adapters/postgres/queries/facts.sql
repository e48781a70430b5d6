-- Facts, under an advisory lock for each subject's attribute. What is locked is taken in ascending order, by everything.

-- name: lock_attributes
SELECT pg_advisory_xact_lock(k.lock) FROM unnest(%(locks)s::bigint[]) AS k (lock)

-- Of an attribute that accumulates only what a statement can touch: its value, its category, what it replaces, what
-- replaces it; with no value (a retraction of all) what is active. They are looked for once: of a namespace that the
-- statistics do not know yet the planner would read all memories, and look for them again at each.
-- name: lock_known
SELECT m.memory_id, m.fact_subject, m.fact_attribute, m.fact_value_key, m.fact_unit, m.fact_denied, m.single_valued,
       m.fact_stance, m.fact_category, m.fact_replaces, m.fact_told_at, m.fact_source_id, m.trust, m.valid_from, m.valid_to,
       m.occurred_at, m.occurred_until, m.state, m.superseded_by
FROM memory m
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = ANY (ARRAY(
  SELECT x.memory_id
  FROM json_to_recordset(%(statements)s::json) AS r (subject text, attribute text, value_key text, category text, replaces text,
    single_valued boolean)
  CROSS JOIN LATERAL (
    SELECT k.memory_id FROM memory k
    WHERE k.tenant_id = %(tenant_id)s AND k.namespace_id = %(namespace_id)s AND k.fact_subject = r.subject
      AND k.fact_attribute = r.attribute AND k.state <> 4 AND k.type <> 7
      AND (r.single_valued OR k.single_valued OR k.fact_value_key IN (r.value_key, nullif(r.replaces, ''))
           OR k.fact_category = nullif(r.category, '') OR k.fact_replaces = nullif(r.value_key, '') OR r.value_key = '' AND k.state = 1)
    ORDER BY k.fact_told_at DESC LIMIT %(limit)s::int) x))
ORDER BY m.memory_id FOR UPDATE OF m

-- name: change_values
UPDATE memory m
SET state = r.state, valid_from = coalesce(r.valid_from, m.valid_from), valid_to = r.valid_to, superseded_by = r.superseded_by,
    fact_told_at = r.told_at, occurred_until = coalesce(r.said_until, m.occurred_until), updated_at = %(now)s, version = m.version + 1
FROM json_to_recordset(%(values)s::json) AS r (memory_id uuid, state smallint, valid_from timestamptz, valid_to timestamptz,
  superseded_by uuid, told_at timestamptz, said_until timestamptz)
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = r.memory_id

-- name: describe_facts
UPDATE memory m
SET fact_subject = r.subject, fact_attribute = r.attribute, fact_value = r.value, fact_unit = r.unit,
    single_valued = r.single_valued, fact_value_key = r.value_key, fact_denied = r.denied, fact_stance = r.stance,
    fact_category = r.category, fact_replaces = r.replaces, fact_told_at = r.told_at, fact_source_id = r.source_id,
    state = r.state, valid_from = r.valid_from, valid_to = r.valid_to, superseded_by = r.superseded_by,
    occurred_until = coalesce(r.said_until, m.occurred_until), extractor = r.extractor, prompt_version = r.prompt_version, extraction_note = r.note,
    derived = m.derived OR r.derived
FROM json_to_recordset(%(facts)s::json) AS r (memory_id uuid, subject text, attribute text, value text, unit text,
  single_valued boolean, value_key text, denied boolean, stance text, category text, replaces text, told_at timestamptz,
  source_id uuid, said_until timestamptz, state smallint, valid_from timestamptz, valid_to timestamptz, superseded_by uuid, extractor text,
  prompt_version text, note text, derived boolean)
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = r.memory_id

-- name: place_of_fact
SELECT fact_told_at, fact_source_id, occurred_until FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = %(memory_id)s AND fact_subject IS NOT NULL

-- A memory that is a fact no more, or is about to be another. What it was made of stays known.
-- name: undescribe_fact
UPDATE memory SET fact_subject = NULL, fact_attribute = NULL, fact_value = NULL, fact_unit = NULL, single_valued = NULL,
    fact_value_key = NULL, fact_denied = false, fact_stance = NULL, fact_category = NULL, fact_replaces = NULL,
    fact_told_at = NULL, fact_source_id = NULL, extractor = '', prompt_version = '', extraction_note = ''
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = %(memory_id)s

-- name: link_events
INSERT INTO memory_event (tenant_id, namespace_id, session_id, memory_id, event_id, sequence)
SELECT %(tenant_id)s, %(namespace_id)s, r.session_id, r.memory_id, r.event_id, r.sequence
FROM json_to_recordset(%(links)s::json) AS r (session_id text, memory_id uuid, event_id uuid, sequence bigint)
ON CONFLICT DO NOTHING

-- A summary's events are those of its values.
-- name: link_sources
INSERT INTO memory_event (tenant_id, namespace_id, session_id, memory_id, event_id, sequence)
SELECT DISTINCT ON (l.event_id) l.tenant_id, l.namespace_id, l.session_id, %(memory_id)s, l.event_id, l.sequence
FROM memory_event l
WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s AND l.memory_id = ANY (%(value_ids)s)
LIMIT %(limit)s::int

-- name: link_memories
INSERT INTO memory_source (tenant_id, namespace_id, memory_id, source_memory_id)
SELECT %(tenant_id)s, %(namespace_id)s, r.memory_id, r.source_memory_id
FROM json_to_recordset(%(links)s::json) AS r (memory_id uuid, source_memory_id uuid)
ON CONFLICT DO NOTHING

-- How many events and explicit memories state a fact, each once; those that are forgotten count no more. An explicit
-- memory that is the fact itself counts as one.
-- name: count_sources
SELECT m.memory_id, m.trust, m.confidence,
       (SELECT count(*) FROM memory_event l
        JOIN event e ON e.tenant_id = l.tenant_id AND e.namespace_id = l.namespace_id AND e.event_id = l.event_id
        WHERE l.tenant_id = m.tenant_id AND l.namespace_id = m.namespace_id AND l.memory_id = m.memory_id AND NOT e.tombstoned)
       + (SELECT count(*) FROM memory_source s
          JOIN memory o ON o.tenant_id = s.tenant_id AND o.namespace_id = s.namespace_id AND o.memory_id = s.source_memory_id
          WHERE s.tenant_id = m.tenant_id AND s.namespace_id = m.namespace_id AND s.memory_id = m.memory_id AND o.state <> 4)
       + (m.fact_source_id IS NOT DISTINCT FROM m.memory_id)::int AS sources
FROM memory m
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = ANY (%(memory_ids)s)
  AND m.fact_subject IS NOT NULL AND m.type <> 7 AND m.state <> 4

-- name: set_confidence
UPDATE memory m SET confidence = r.confidence, updated_at = %(now)s, version = m.version + 1
FROM json_to_recordset(%(values)s::json) AS r (memory_id uuid, confidence real)
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = r.memory_id

-- Attributes with so many values that a summary tells them: those of the given memories.
-- name: many_valued
SELECT DISTINCT ON (m.fact_subject, m.fact_attribute) m.memory_id
FROM memory m
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = ANY (%(memory_ids)s)
  AND m.single_valued AND m.type <> 7
  AND (SELECT count(*) FROM memory k
       WHERE k.tenant_id = m.tenant_id AND k.namespace_id = m.namespace_id AND k.fact_subject = m.fact_subject
         AND k.fact_attribute = m.fact_attribute AND k.single_valued AND NOT k.fact_denied AND k.state <> 4 AND k.type <> 7)
      >= %(least)s
ORDER BY m.fact_subject, m.fact_attribute, m.memory_id

-- name: fact_of
SELECT fact_subject, fact_attribute FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = %(memory_id)s AND state <> 4
  AND fact_subject IS NOT NULL

-- name: values_of
SELECT m.memory_id FROM memory m
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.fact_subject = %(subject)s
  AND m.fact_attribute = %(attribute)s AND m.state <> 4 AND m.type <> 7 AND m.single_valued
ORDER BY m.fact_told_at DESC, m.fact_source_id DESC, m.memory_id DESC LIMIT %(limit)s::int

-- name: summary_of
SELECT m.memory_id FROM memory m
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.fact_subject = %(subject)s
  AND m.fact_attribute = %(attribute)s AND m.state = 1 AND m.type = 7
ORDER BY m.created_at LIMIT 1

-- name: facts_of_memory
SELECT DISTINCT m.fact_subject, m.fact_attribute FROM memory_source s
JOIN memory m ON m.tenant_id = s.tenant_id AND m.namespace_id = s.namespace_id AND m.memory_id = s.memory_id
WHERE s.tenant_id = %(tenant_id)s AND s.namespace_id = %(namespace_id)s AND s.source_memory_id = %(source_memory_id)s
  AND m.type <> 7 AND m.fact_subject IS NOT NULL

-- name: unlink_source
DELETE FROM memory_source s USING memory m
WHERE s.tenant_id = %(tenant_id)s AND s.namespace_id = %(namespace_id)s AND s.source_memory_id = %(source_memory_id)s
  AND m.tenant_id = s.tenant_id AND m.namespace_id = s.namespace_id AND m.memory_id = s.memory_id AND m.type <> 7
RETURNING s.memory_id

-- name: end_unstated
UPDATE memory m SET state = 3, valid_to = greatest(m.valid_from, %(now)s), updated_at = %(now)s, version = m.version + 1
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = ANY (%(memory_ids)s) AND m.state = 1
  AND m.fact_source_id IS DISTINCT FROM m.memory_id
  AND NOT EXISTS (SELECT FROM memory_source s WHERE s.tenant_id = m.tenant_id AND s.namespace_id = m.namespace_id
                  AND s.memory_id = m.memory_id)
  AND NOT EXISTS (SELECT FROM memory_event l WHERE l.tenant_id = m.tenant_id AND l.namespace_id = m.namespace_id
                  AND l.memory_id = m.memory_id)
RETURNING m.memory_id
