-- The end of a forget. Each batch is a transaction that begins with the receipt's row, so two purges of one receipt
-- take turns; whatever is deleted is counted on the receipt by the same transaction.

-- name: begin
-- A purge that has begun goes on, whatever is held since then. One that has ended and is not verified yet is done again:
-- what was under way when the forget came may have left something behind it.
SELECT namespace_id, session_id, cardinality(memory_ids) AS memories, cardinality(event_ids) AS events, purge_started_at
FROM forget_receipt
WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s AND state IN (1, 2) AND purge_after <= now()
  AND (purge_started_at IS NOT NULL OR NOT rearview_receipt_held(tenant_id, receipt_id))
FOR UPDATE

-- Kept before the events go, for working memory: the last turns of each session.
-- name: start
UPDATE forget_receipt r
SET purge_started_at = %(now)s,
    purge_turns = (
      SELECT coalesce(jsonb_agg(jsonb_build_object('session_id', t.session_id, 'event_ids', t.event_ids,
                                                   'last_sequence', t.last_sequence)), '[]')
      FROM (SELECT e.session_id, max(e.sequence) AS last_sequence,
                   (array_agg(e.event_id ORDER BY e.sequence DESC))[1:1000] AS event_ids
            FROM event e WHERE e.tenant_id = r.tenant_id AND e.receipt_id = r.receipt_id GROUP BY e.session_id) t)
WHERE r.tenant_id = %(tenant_id)s AND r.receipt_id = %(receipt_id)s

-- name: turns
SELECT purge_turns FROM forget_receipt WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s

-- name: lock
SELECT places, state, digest FROM forget_receipt
WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s AND state IN (1, 2) AND purge_started_at IS NOT NULL
FOR UPDATE

-- name: note
UPDATE forget_receipt SET places = %(places)s WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s

-- name: memory_ids
SELECT unnest(memory_ids[%(first)s:%(last)s]) FROM forget_receipt
WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s

-- name: event_ids
SELECT unnest(event_ids[%(first)s:%(last)s]) FROM forget_receipt
WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s

-- What lives or belongs to another forget is not touched, whatever a receipt says.
-- name: spared_memories
SELECT memory_id FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(ids)s)
  AND (state <> 4 OR receipt_id IS DISTINCT FROM %(receipt_id)s)

-- name: spared_events
SELECT event_id FROM event
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND event_id = ANY (%(ids)s)
  AND (NOT tombstoned OR receipt_id IS DISTINCT FROM %(receipt_id)s)

-- The ledger stays when the rows are gone.
-- name: keep_tombstones
INSERT INTO tombstone (tenant_id, namespace_id, resource_id, kind, receipt_id, created_at)
SELECT %(tenant_id)s, %(namespace_id)s, i, %(kind)s, %(receipt_id)s, %(now)s FROM unnest(%(ids)s::uuid[]) AS i
ON CONFLICT (tenant_id, namespace_id, resource_id) DO NOTHING

-- name: erase_memory_originals
WITH gone AS (
  DELETE FROM memory_original
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(ids)s) RETURNING 1)
SELECT count(*) FROM gone

-- name: erase_event_originals
WITH gone AS (
  DELETE FROM event_original
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND event_id = ANY (%(ids)s) RETURNING 1)
SELECT count(*) FROM gone

-- name: erase_memories
WITH gone AS (
  DELETE FROM memory
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(ids)s) RETURNING 1)
SELECT count(*) FROM gone

-- What a forgotten memory superseded stays history, with a successor that nobody knows any more.
-- name: forget_successors
UPDATE memory SET superseded_by = NULL
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND superseded_by = ANY (%(ids)s)

-- name: erase_memory_links
WITH gone AS (
  DELETE FROM memory_event
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(ids)s) RETURNING 1)
SELECT count(*) FROM gone

-- name: erase_memory_sources
WITH gone AS (
  DELETE FROM memory_source
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s
    AND (memory_id = ANY (%(ids)s) OR source_memory_id = ANY (%(ids)s)) RETURNING 1)
SELECT count(*) FROM gone

-- name: erase_memory_stats
WITH gone AS (
  DELETE FROM memory_stats
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(ids)s) RETURNING 1)
SELECT count(*) FROM gone

-- name: erase_memory_windows
WITH gone AS (
  DELETE FROM open_window
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(ids)s) RETURNING 1)
SELECT count(*) FROM gone

-- name: erase_events
DELETE FROM event
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND event_id = ANY (%(ids)s)
RETURNING speaker

-- name: erase_event_links
WITH gone AS (
  DELETE FROM memory_event
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND event_id = ANY (%(ids)s) RETURNING 1)
SELECT count(*) FROM gone

-- name: erase_event_windows
WITH gone AS (
  DELETE FROM open_window
  WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND event_id = ANY (%(ids)s) RETURNING 1)
SELECT count(*) FROM gone

-- A speaker whose name stands in no event any more is unknown again.
-- name: erase_speakers
WITH gone AS (
  DELETE FROM speaker s
  WHERE s.tenant_id = %(tenant_id)s AND s.namespace_id = %(namespace_id)s AND s.name = ANY (%(names)s)
    AND NOT EXISTS (SELECT FROM event e WHERE e.tenant_id = s.tenant_id AND e.namespace_id = s.namespace_id
                    AND e.speaker = s.name AND e.speaker <> '')
  RETURNING 1)
SELECT count(*) FROM gone

-- Traces that mention something forgotten, in any string that ends in an id, as all resource names do. (Looking for ids
-- in the whole text takes four times as long.)
-- name: erase_traces
WITH page AS (
  SELECT trace_id, trace FROM recall_trace
  WHERE tenant_id = %(tenant_id)s AND trace_id > %(after)s AND namespaces @> ARRAY[%(namespace_id)s]
  ORDER BY trace_id LIMIT %(limit)s),
mentioned AS (
  SELECT p.trace_id, right(string #>> '{}', 36) AS id FROM page p
  CROSS JOIN LATERAL jsonb_path_query(p.trace, '$.** ? (@.type() == "string")') AS string),
mentioning AS (
  SELECT DISTINCT m.trace_id FROM mentioned m
  JOIN tombstone t ON t.tenant_id = %(tenant_id)s AND t.namespace_id = %(namespace_id)s AND t.receipt_id = %(receipt_id)s
    AND t.resource_id = CASE WHEN pg_input_is_valid(m.id, 'uuid') THEN m.id::uuid END),
gone AS (
  DELETE FROM recall_trace r USING mentioning m WHERE r.tenant_id = %(tenant_id)s AND r.trace_id = m.trace_id RETURNING 1)
SELECT (SELECT trace_id FROM page ORDER BY trace_id DESC LIMIT 1) AS last, (SELECT count(*) FROM gone) AS gone

-- name: erase_requests
WITH page AS (
  SELECT request_id, result FROM request
  WHERE tenant_id = %(tenant_id)s AND request_id > %(after)s ORDER BY request_id LIMIT %(limit)s),
mentioning AS (
  SELECT DISTINCT p.request_id FROM page p
  CROSS JOIN LATERAL regexp_matches(
    p.result::text, '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 'g') AS found (id)
  JOIN tombstone t ON t.tenant_id = %(tenant_id)s AND t.namespace_id = %(namespace_id)s
    AND t.resource_id = found.id[1]::uuid AND t.receipt_id = %(receipt_id)s),
gone AS (
  DELETE FROM request r USING mentioning m WHERE r.tenant_id = %(tenant_id)s AND r.request_id = m.request_id RETURNING 1)
SELECT (SELECT request_id FROM page ORDER BY request_id DESC LIMIT 1) AS last, (SELECT count(*) FROM gone) AS gone

-- A session that was forgotten as a whole, was not taken up again and holds nothing else.
-- name: erase_sessions
WITH gone AS (
  DELETE FROM session s
  WHERE s.tenant_id = %(tenant_id)s AND s.namespace_id = %(namespace_id)s AND s.session_id = ANY (%(sessions)s)
    AND s.forgotten_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM event e WHERE e.tenant_id = s.tenant_id AND e.namespace_id = s.namespace_id
                    AND e.session_id = s.session_id)
    AND NOT EXISTS (SELECT FROM memory m WHERE m.tenant_id = s.tenant_id AND m.namespace_id = s.namespace_id
                    AND m.session_id = s.session_id AND m.session_id <> '')
  RETURNING 1)
SELECT count(*) FROM gone

-- name: finish
UPDATE forget_receipt
SET state = 2, purged_at = %(now)s, places = %(places)s, digest = %(digest)s, purge_turns = '[]'
WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s

-- name: named_ids
SELECT memory_ids || event_ids FROM forget_receipt WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s

-- name: rewritten
SELECT (link ->> 'memory_id')::uuid FROM forget_receipt CROSS JOIN LATERAL jsonb_array_elements(cut) AS link
WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s
UNION
SELECT unnest(reworded) FROM forget_receipt WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s
