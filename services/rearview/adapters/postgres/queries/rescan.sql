-- Rewriting what is stored by a stricter redaction policy.

-- name: held
SELECT hold_id FROM legal_hold WHERE tenant_id = %(tenant_id)s ORDER BY hold_id LIMIT 1

-- name: size
SELECT (SELECT count(*) FROM event WHERE tenant_id = %(tenant_id)s)
     + (SELECT count(*) FROM memory WHERE tenant_id = %(tenant_id)s)
     + (SELECT count(*) FROM recall_trace WHERE tenant_id = %(tenant_id)s)
     + (SELECT count(*) FROM forget_receipt WHERE tenant_id = %(tenant_id)s)

-- name: events
SELECT e.session_id, e.event_id, e.sequence, e.role, e.speaker, e.content, e.tool_call, e.image_caption, e.metadata,
       e.redactions, e.occurred_at, e.created_at, o.key_id, o.sealed
FROM event e
LEFT JOIN event_original o ON o.tenant_id = e.tenant_id AND o.namespace_id = e.namespace_id AND o.event_id = e.event_id
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s
  AND (e.session_id, e.sequence) > (%(session_id)s, %(sequence)s)
ORDER BY e.session_id, e.sequence LIMIT %(limit)s

-- name: events_again
SELECT event_id, sequence, role, speaker, content, tool_call, image_caption, metadata, redactions, occurred_at, created_at
FROM event
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND event_id = ANY (%(event_ids)s)
ORDER BY event_id FOR UPDATE

-- name: memory_ids
SELECT memory_id FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id > %(after)s
ORDER BY memory_id LIMIT %(limit)s

-- name: memory_originals
SELECT memory_id, key_id, sealed FROM memory_original
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)

-- A summary's events are those of its values, so that it is among them.
-- name: related
WITH said AS (
  SELECT unnest(%(event_ids)s::uuid[]) AS event_id
  UNION
  SELECT l.event_id FROM memory_event l
  WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s AND l.memory_id = ANY (%(memory_ids)s)
    AND l.repeats IS NULL),
close AS (
  SELECT l.memory_id FROM memory_event l JOIN said s ON s.event_id = l.event_id
  WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s
  UNION
  SELECT unnest(%(memory_ids)s::uuid[]))
SELECT memory_id FROM close
UNION
SELECT s.memory_id FROM memory_source s JOIN close c ON c.memory_id = s.source_memory_id
WHERE s.tenant_id = %(tenant_id)s AND s.namespace_id = %(namespace_id)s
ORDER BY 1

-- name: rewrite_events
UPDATE event e
SET speaker = r.speaker, content = r.content, tool_call = r.tool_call, image_caption = r.image_caption,
    metadata = r.metadata, redactions = r.redactions, keywords = r.keywords,
    bands = CASE WHEN e.bands = '{}' THEN e.bands ELSE r.bands END
FROM json_to_recordset(%(events)s::json) AS r (event_id uuid, speaker text, content text, tool_call jsonb,
  image_caption text, metadata jsonb, redactions text[], keywords int4[], bands int4[])
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.event_id = r.event_id

-- A subject that is the same as another one now that both are taken out would make two values of one: then the memory
-- stays as a text.
-- name: rewrite_fact
UPDATE memory m
SET fact_subject = CASE WHEN NOT t.taken THEN %(subject)s END, fact_value = CASE WHEN NOT t.taken THEN %(value)s END,
    fact_value_key = CASE WHEN NOT t.taken THEN %(value_key)s END, fact_replaces = CASE WHEN NOT t.taken THEN %(replaces)s END,
    single_valued = m.single_valued AND NOT t.taken, extraction_note = %(note)s
FROM (SELECT EXISTS (
  SELECT FROM memory o
  WHERE o.tenant_id = %(tenant_id)s AND o.namespace_id = %(namespace_id)s AND o.state = 1 AND o.single_valued
    AND o.fact_subject = %(subject)s AND o.fact_attribute = %(attribute)s AND o.memory_id <> %(memory_id)s) AS taken) t
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = %(memory_id)s

-- name: keep_stale
INSERT INTO rescan_unit (tenant_id, operation_id, namespace_id, unit_id)
SELECT %(tenant_id)s, %(operation_id)s, %(namespace_id)s, u FROM unnest(%(unit_ids)s::uuid[]) AS u
ON CONFLICT DO NOTHING

-- name: stale
SELECT u.namespace_id, u.unit_id FROM rescan_unit u
WHERE u.tenant_id = %(tenant_id)s AND u.operation_id = %(operation_id)s
  AND u.namespace_id = (SELECT f.namespace_id FROM rescan_unit f
                        WHERE f.tenant_id = %(tenant_id)s AND f.operation_id = %(operation_id)s
                        ORDER BY f.namespace_id LIMIT 1)
ORDER BY u.unit_id LIMIT %(limit)s

-- name: fresh
DELETE FROM rescan_unit
WHERE tenant_id = %(tenant_id)s AND operation_id = %(operation_id)s AND namespace_id = %(namespace_id)s
  AND unit_id = ANY (%(unit_ids)s)

-- Of a trace the words of who asked; the rest are names and figures.
-- name: texts_of_traces
SELECT trace_id, jsonb_build_object('query', trace -> 'query', 'understanding', trace -> 'understanding')
FROM recall_trace WHERE tenant_id = %(tenant_id)s AND trace_id > %(after)s ORDER BY trace_id LIMIT %(limit)s

-- name: texts_of_receipts
SELECT receipt_id, jsonb_build_object('reason', reason)
FROM forget_receipt WHERE tenant_id = %(tenant_id)s AND receipt_id > %(after)s ORDER BY receipt_id LIMIT %(limit)s

-- name: rewrite_traces
UPDATE recall_trace t SET trace = t.trace || r.tree
FROM json_to_recordset(%(texts)s::json) AS r (row_id uuid, tree jsonb)
WHERE t.tenant_id = %(tenant_id)s AND t.trace_id = r.row_id

-- name: rewrite_receipts
UPDATE forget_receipt f SET reason = r.tree ->> 'reason'
FROM json_to_recordset(%(texts)s::json) AS r (row_id uuid, tree jsonb)
WHERE f.tenant_id = %(tenant_id)s AND f.receipt_id = r.row_id

-- name: drop_event_originals
WITH gone AS (
  DELETE FROM event_original o USING (
    SELECT namespace_id, event_id FROM event_original WHERE tenant_id = %(tenant_id)s LIMIT %(limit)s) d
  WHERE o.tenant_id = %(tenant_id)s AND o.namespace_id = d.namespace_id AND o.event_id = d.event_id RETURNING 1)
SELECT count(*) FROM gone

-- name: drop_memory_originals
WITH gone AS (
  DELETE FROM memory_original o USING (
    SELECT namespace_id, memory_id FROM memory_original WHERE tenant_id = %(tenant_id)s LIMIT %(limit)s) d
  WHERE o.tenant_id = %(tenant_id)s AND o.namespace_id = d.namespace_id AND o.memory_id = d.memory_id RETURNING 1)
SELECT count(*) FROM gone

-- name: end
UPDATE operation SET ended_at = %(now)s
WHERE tenant_id = %(tenant_id)s AND operation_id = %(operation_id)s AND ended_at IS NULL RETURNING operation_id

-- name: keep_receipt
INSERT INTO rescan_receipt (tenant_id, operation_id, policy_version, categories, counts, digest, verified_at)
VALUES (%(tenant_id)s, %(operation_id)s, %(policy_version)s, %(categories)s, %(counts)s, %(digest)s, %(now)s)
