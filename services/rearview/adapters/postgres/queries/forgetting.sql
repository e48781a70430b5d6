-- Forgetting and restoring. All statements of one forget are one transaction, under the locks of the sessions.

-- name: session_exists
SELECT last_sequence FROM session
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s AND forgotten_at IS NULL

-- name: events_of_session
SELECT event_id FROM event
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s AND NOT tombstoned
ORDER BY sequence

-- What is derived goes when its last source does (derived_of), whatever session it was first told in. A fact that was
-- remembered by request, or made of a turn of its own, stays when a turn that only said it again goes.
-- name: memories_of_session
SELECT memory_id FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s AND session_id <> ''
  AND state <> 4 AND NOT derived
UNION
SELECT l.memory_id FROM memory_event l
JOIN memory m ON m.tenant_id = l.tenant_id AND m.namespace_id = l.namespace_id AND m.memory_id = l.memory_id
WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s AND l.event_id = ANY (%(event_ids)s) AND m.state <> 4
  AND l.repeats IS NULL AND NOT m.derived AND (m.fact_source_id IS NULL OR m.fact_source_id = l.event_id)

-- Other sessions that said again what this one had said first.
-- name: repeating_sessions
SELECT DISTINCT r.session_id FROM memory_event l
JOIN memory_event r ON r.tenant_id = l.tenant_id AND r.namespace_id = l.namespace_id AND r.memory_id = l.memory_id
WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s AND l.session_id = %(session_id)s AND l.repeats IS NULL
  AND r.repeats IS NOT NULL AND r.session_id <> l.session_id

-- What others said again is theirs still: it is looked at anew, and makes a memory of its own.
-- name: revive_repetitions
WITH revived AS (
  UPDATE event e SET outcome = 1, capture = '{}', indexed_at = NULL
  FROM memory_event l
  WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s AND l.repeats IS NOT NULL
    AND (l.memory_id = ANY (%(memory_ids)s) OR l.repeats = ANY (%(event_ids)s)) AND e.tenant_id = l.tenant_id AND e.namespace_id = l.namespace_id AND e.event_id = l.event_id AND NOT e.tombstoned
    AND e.outcome IN (4, 5)
    AND NOT EXISTS (
      SELECT FROM memory_event o
      JOIN memory m ON m.tenant_id = o.tenant_id AND m.namespace_id = o.namespace_id AND m.memory_id = o.memory_id
      WHERE o.tenant_id = l.tenant_id AND o.namespace_id = l.namespace_id AND o.event_id = l.event_id AND m.state <> 4 AND NOT m.derived
        AND (o.repeats IS NULL OR NOT o.repeats = ANY (%(event_ids)s)))
  RETURNING e.session_id, e.sequence)
UPDATE session s
SET indexed_sequence = least(s.indexed_sequence, r.first_sequence - 1), index_queued = true
FROM (SELECT session_id, min(sequence) AS first_sequence FROM revived GROUP BY session_id) r
WHERE s.tenant_id = %(tenant_id)s AND s.namespace_id = %(namespace_id)s AND s.session_id = r.session_id
RETURNING s.session_id

-- name: drop_revived_links
DELETE FROM memory_event l USING event e
WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s AND l.repeats IS NOT NULL
  AND (l.memory_id = ANY (%(memory_ids)s) OR l.repeats = ANY (%(event_ids)s)) AND e.tenant_id = l.tenant_id AND e.namespace_id = l.namespace_id AND e.event_id = l.event_id AND e.outcome = 1

-- Events of these memories that no other memory needs. A fact derived from a turn is no reason to keep the turn, once
-- what the turn is part of is forgotten; but a turn stays when only a fact of it is.
-- name: events_of_memories
SELECT DISTINCT l.event_id FROM memory_event l
JOIN event e ON e.tenant_id = l.tenant_id AND e.namespace_id = l.namespace_id AND e.event_id = l.event_id
JOIN memory f ON f.tenant_id = l.tenant_id AND f.namespace_id = l.namespace_id AND f.memory_id = l.memory_id
WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s AND l.memory_id = ANY (%(memory_ids)s)
  AND NOT e.tombstoned
  AND NOT EXISTS (
    SELECT FROM memory_event o
    JOIN memory m ON m.tenant_id = o.tenant_id AND m.namespace_id = o.namespace_id AND m.memory_id = o.memory_id
    WHERE o.tenant_id = l.tenant_id AND o.namespace_id = l.namespace_id AND o.event_id = l.event_id
      AND m.state <> 4 AND NOT m.memory_id = ANY (%(memory_ids)s) AND (f.derived OR NOT m.derived))

-- Facts and summaries that were made of these events or memories, with how many other sources each has left, and whether
-- their words are of what goes. A summary quotes facts, so it is of those, too, that are to be worded anew.
-- name: derived_of
WITH touched AS (
  SELECT l.memory_id FROM memory_event l
  WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s AND l.event_id = ANY (%(event_ids)s)
  UNION
  SELECT s.memory_id FROM memory_source s
  WHERE s.tenant_id = %(tenant_id)s AND s.namespace_id = %(namespace_id)s
    AND s.source_memory_id = ANY (%(memory_ids)s::uuid[] || %(reworded)s::uuid[])
  UNION
  SELECT c.memory_id FROM memory c
  WHERE c.tenant_id = %(tenant_id)s AND c.namespace_id = %(namespace_id)s
    AND c.fact_source_id = ANY (%(event_ids)s::uuid[] || %(memory_ids)s::uuid[]))
SELECT m.memory_id, m.derived, m.type = 7 AS summary,
       (SELECT count(*) FROM memory_event l
        JOIN event e ON e.tenant_id = l.tenant_id AND e.namespace_id = l.namespace_id AND e.event_id = l.event_id
        WHERE l.tenant_id = m.tenant_id AND l.namespace_id = m.namespace_id AND l.memory_id = m.memory_id
          AND NOT e.tombstoned AND NOT e.event_id = ANY (%(event_ids)s))
       + (SELECT count(*) FROM memory_source s
          JOIN memory o ON o.tenant_id = s.tenant_id AND o.namespace_id = s.namespace_id AND o.memory_id = s.source_memory_id
          WHERE s.tenant_id = m.tenant_id AND s.namespace_id = m.namespace_id AND s.memory_id = m.memory_id
            AND o.state <> 4 AND NOT o.memory_id = ANY (%(memory_ids)s)) AS sources,
       coalesce(m.fact_source_id = ANY (%(event_ids)s::uuid[] || %(memory_ids)s::uuid[]), false) AS carries_words
FROM touched t
JOIN memory m ON m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = t.memory_id
WHERE m.state <> 4 AND m.fact_subject IS NOT NULL AND NOT m.memory_id = ANY (%(memory_ids)s)

-- Other values of the attributes that these memories are facts of.
-- name: other_values
SELECT DISTINCT k.memory_id FROM memory m
JOIN memory k ON k.tenant_id = m.tenant_id AND k.namespace_id = m.namespace_id AND k.fact_subject = m.fact_subject
  AND k.fact_attribute = m.fact_attribute
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = ANY (%(memory_ids)s)
  AND k.state <> 4 AND k.type <> 7 AND k.single_valued
LIMIT 1000

-- name: facts_of_receipt
SELECT l.memory_id FROM memory_event l JOIN event e ON e.tenant_id = l.tenant_id AND e.namespace_id = l.namespace_id
  AND e.event_id = l.event_id
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.receipt_id = %(receipt_id)s
UNION
SELECT s.memory_id FROM memory_source s JOIN memory o ON o.tenant_id = s.tenant_id AND o.namespace_id = s.namespace_id
  AND o.memory_id = s.source_memory_id
WHERE o.tenant_id = %(tenant_id)s AND o.namespace_id = %(namespace_id)s AND o.receipt_id = %(receipt_id)s

-- name: grace_period
SELECT forget_grace_period FROM namespace WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s

-- name: tombstone_memories
UPDATE memory SET state_before = state, state = 4, receipt_id = %(receipt_id)s, updated_at = %(now)s, version = version + 1
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)
RETURNING coalesce(octet_length(content), cold_bytes, 0)

-- name: tombstone_events
UPDATE event SET tombstoned = true, receipt_id = %(receipt_id)s
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND event_id = ANY (%(event_ids)s)

-- name: keep_tombstones
INSERT INTO tombstone (tenant_id, namespace_id, resource_id, kind, receipt_id, created_at)
SELECT %(tenant_id)s, %(namespace_id)s, i, %(kind)s, %(receipt_id)s, %(now)s FROM unnest(%(ids)s::uuid[]) AS i
ON CONFLICT (tenant_id, namespace_id, resource_id) DO UPDATE
SET receipt_id = excluded.receipt_id, created_at = excluded.created_at

-- name: forget_session
UPDATE session SET forgotten_at = %(now)s, open_memory_id = NULL, window_closed = true
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s

-- name: drop_windows
DELETE FROM open_window
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s

-- name: take_from_counts
UPDATE namespace_statistics SET memories = greatest(0, memories - %(memories)s), bytes = greatest(0, bytes - %(bytes)s)
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s

-- name: keep_receipt
INSERT INTO forget_receipt (tenant_id, receipt_id, namespace_id, namespace, state, principal, reason, session_id, memory_ids,
                            event_ids, tombstoned_at, purge_after, cut, stale_units, reworded)
VALUES (%(tenant_id)s, %(receipt_id)s, %(namespace_id)s, %(namespace)s, 1, %(principal)s, %(reason)s, %(session_id)s,
        %(memory_ids)s, %(event_ids)s, %(now)s, %(purge_after)s, %(cut)s, %(stale_units)s,
        %(reworded)s)

-- name: receipt
SELECT receipt_id, namespace_id, namespace, state, session_id, memory_ids, event_ids, tombstoned_at, purge_after, purged_at,
       verified_at, places, digest
FROM forget_receipt WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s

-- name: lock_receipt
SELECT cut, receipt_id, namespace_id, namespace, state, session_id, memory_ids, event_ids, tombstoned_at, purge_after, purged_at,
       verified_at, places, digest
FROM forget_receipt
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND receipt_id = %(receipt_id)s
FOR UPDATE

-- name: turns_of_receipt
SELECT e.namespace_id, e.session_id, array_agg(e.event_id) AS event_ids, max(e.sequence) AS last_sequence,
       bool_or(r.session_id <> '') AS whole_session
FROM forget_receipt r JOIN event e ON e.tenant_id = r.tenant_id AND e.receipt_id = r.receipt_id
WHERE r.tenant_id = %(tenant_id)s AND r.receipt_id = %(receipt_id)s AND r.state <> 4
GROUP BY e.namespace_id, e.session_id

-- name: sessions_of_receipt
SELECT e.session_id, min(e.sequence) FILTER (WHERE e.outcome = 1) AS first_pending
FROM event e
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.receipt_id = %(receipt_id)s
GROUP BY e.session_id

-- A value that something newer has replaced meanwhile comes back as history, and a summary as one that is to be told
-- anew.
-- name: restore_memories
UPDATE memory m
SET state = CASE WHEN m.state_before = 1 AND m.single_valued AND EXISTS (
      SELECT FROM memory o WHERE o.tenant_id = m.tenant_id AND o.namespace_id = m.namespace_id AND o.state = 1
        AND o.single_valued AND o.fact_subject = m.fact_subject AND o.fact_attribute = m.fact_attribute)
    THEN 2 WHEN m.type = 7 THEN 3 ELSE coalesce(m.state_before, 1) END,
    valid_to = CASE WHEN m.state_before = 1 AND m.single_valued AND EXISTS (
      SELECT FROM memory o WHERE o.tenant_id = m.tenant_id AND o.namespace_id = m.namespace_id AND o.state = 1
        AND o.single_valued AND o.fact_subject = m.fact_subject AND o.fact_attribute = m.fact_attribute)
    THEN coalesce(m.valid_to, %(now)s) ELSE m.valid_to END,
    state_before = NULL, receipt_id = NULL, updated_at = %(now)s, version = m.version + 1
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.receipt_id = %(receipt_id)s AND m.state = 4
RETURNING coalesce(octet_length(m.content), m.cold_bytes, 0)

-- name: restore_events
UPDATE event SET tombstoned = false, receipt_id = NULL
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND receipt_id = %(receipt_id)s

-- name: drop_tombstones
DELETE FROM tombstone
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND receipt_id = %(receipt_id)s

-- Turns that were not indexed yet are looked at again.
-- name: restore_session
UPDATE session SET forgotten_at = NULL, index_queued = index_queued OR %(first_pending)s::bigint IS NOT NULL,
    indexed_sequence = least(indexed_sequence, coalesce(%(first_pending)s::bigint - 1, indexed_sequence))
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s

-- name: restore_receipt
UPDATE forget_receipt SET state = 4, cut = '[]', stale_units = %(stale_units)s
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND receipt_id = %(receipt_id)s

-- name: memories_of_filter
SELECT m.memory_id FROM memory m
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.state <> 4
  AND (%(types)s::int2[] IS NULL OR m.type = ANY (%(types)s::int2[]))
  AND (%(start)s::timestamptz IS NULL OR coalesce(m.occurred_until, m.occurred_at) >= %(start)s::timestamptz)
  AND (%(end)s::timestamptz IS NULL OR m.occurred_at < %(end)s::timestamptz)
  AND (%(filter_entities)s::text[] IS NULL OR m.entity_keys @> %(filter_entities)s::text[])
  AND (%(session)s::text IS NULL OR m.session_id = %(session)s::text)
  AND (%(labels)s::jsonb IS NULL OR m.labels @> %(labels)s::jsonb)
  AND (%(origins)s::int2[] IS NULL OR m.origin = ANY (%(origins)s::int2[]))
LIMIT %(limit)s

-- name: spellings_of_subject
SELECT DISTINCT lower(x.entity ->> 'text') FROM memory m CROSS JOIN LATERAL jsonb_array_elements(m.entities) AS x (entity)
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.state <> 4
  AND m.entity_keys @> ARRAY[%(key)s::text] AND x.entity ->> 'canonical' = %(key)s
LIMIT 100

-- `about`: a fact whose subject it is.
-- name: memories_of_subject
SELECT m.memory_id, m.type = 1 AS episode,
       coalesce(m.fact_subject LIKE 'person/%%' AND lower(split_part(m.fact_subject, '/', 2)) = ANY (%(names)s), false) AS about
FROM memory m
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.state <> 4
  AND (m.entity_keys @> ARRAY[%(key)s::text] OR m.content ~* ANY (%(patterns)s::text[])
       OR m.fact_subject LIKE 'person/%%' AND lower(split_part(m.fact_subject, '/', 2)) = ANY (%(names)s))
LIMIT %(limit)s

-- name: turns_of_subject
SELECT e.event_id FROM event e
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND NOT e.tombstoned
  AND (lower(e.speaker) = ANY (%(names)s) OR e.content ~* ANY (%(patterns)s::text[])
       OR e.image_caption ~* ANY (%(patterns)s::text[]) OR e.tool_call::text ~* ANY (%(patterns)s::text[]))
LIMIT %(limit)s

-- name: turns_of_facts
SELECT DISTINCT l.event_id FROM memory_event l
JOIN event e ON e.tenant_id = l.tenant_id AND e.namespace_id = l.namespace_id AND e.event_id = l.event_id
WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s AND l.memory_id = ANY (%(memory_ids)s)
  AND NOT e.tombstoned

-- name: episodes_with_turns
SELECT DISTINCT l.memory_id FROM memory_event l
WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s AND l.memory_id = ANY (%(memory_ids)s)
  AND l.event_id = ANY (%(event_ids)s) AND l.repeats IS NULL

-- The user's last turns, by the first of them; all that follows it goes, too.
-- name: last_turns
SELECT e.event_id FROM event e
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.session_id = %(session_id)s AND NOT e.tombstoned
  AND e.sequence >= (
    SELECT min(u.sequence) FROM (
      SELECT u.sequence FROM event u
      WHERE u.tenant_id = %(tenant_id)s AND u.namespace_id = %(namespace_id)s AND u.session_id = %(session_id)s
        AND NOT u.tombstoned AND u.role = 1
      ORDER BY u.sequence DESC LIMIT %(count)s) u)
LIMIT %(limit)s

-- name: memories_there
SELECT memory_id FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s) AND state <> 4

-- name: events_by_id
SELECT e.session_id, e.event_id FROM event e
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.event_id = ANY (%(event_ids)s) AND NOT e.tombstoned

-- name: sessions_of_events
SELECT DISTINCT session_id FROM event
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND event_id = ANY (%(event_ids)s)

-- Memories made of these turns, each with whether it is made of nothing else. What a turn only confirms is not made of it.
-- name: memories_of_turns
SELECT m.memory_id, m.type = 1 AS episode, m.tier = 3 AS cold, bool_and(l.event_id = ANY (%(event_ids)s)) AS whole
FROM memory m
JOIN memory_event l ON l.tenant_id = m.tenant_id AND l.namespace_id = m.namespace_id AND l.memory_id = m.memory_id
JOIN event e ON e.tenant_id = l.tenant_id AND e.namespace_id = l.namespace_id AND e.event_id = l.event_id
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.state <> 4 AND NOT m.derived
  AND l.repeats IS NULL AND NOT e.tombstoned AND (m.fact_source_id IS NULL OR m.fact_source_id = l.event_id)
  AND m.memory_id = ANY (ARRAY(
    SELECT t.memory_id FROM memory_event t
    WHERE t.tenant_id = %(tenant_id)s AND t.namespace_id = %(namespace_id)s AND t.event_id = ANY (%(event_ids)s)
      AND t.repeats IS NULL))
GROUP BY m.memory_id, m.type, m.tier

-- name: turns_of_episodes
SELECT l.memory_id, e.event_id, e.session_id, e.sequence, e.role, e.speaker, e.content, e.tool_call, e.image_caption,
       e.redactions, e.occurred_at, e.created_at
FROM memory_event l
JOIN event e ON e.tenant_id = l.tenant_id AND e.namespace_id = l.namespace_id AND e.event_id = l.event_id
WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s AND l.memory_id = ANY (%(memory_ids)s)
  AND l.repeats IS NULL AND NOT e.tombstoned
ORDER BY l.memory_id, e.sequence

-- name: cut_links
DELETE FROM memory_event
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)
  AND event_id = ANY (%(event_ids)s) AND repeats IS NULL
RETURNING memory_id, event_id, session_id, sequence

-- name: mend_links
INSERT INTO memory_event (tenant_id, namespace_id, memory_id, event_id, session_id, sequence)
SELECT %(tenant_id)s, %(namespace_id)s, r.memory_id, r.event_id, r.session_id, r.sequence
FROM json_to_recordset(%(links)s::json) AS r (memory_id uuid, event_id uuid, session_id text, sequence bigint)
JOIN memory m ON m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = r.memory_id
ON CONFLICT DO NOTHING

-- name: close_windows
DELETE FROM open_window
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = ANY (%(sessions)s)
RETURNING event_id

-- name: end_episodes
UPDATE session SET open_memory_id = NULL, window_closed = true
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = ANY (%(sessions)s)

-- Kept turns whose windows reach one of these turns.
-- name: neighbours
SELECT DISTINCT n.event_id FROM event g
CROSS JOIN LATERAL (
  (SELECT b.event_id FROM event b
   WHERE b.tenant_id = g.tenant_id AND b.namespace_id = g.namespace_id AND b.session_id = g.session_id
     AND b.sequence < g.sequence AND b.outcome = 2 AND NOT b.tombstoned AND NOT b.event_id = ANY (%(event_ids)s)
   ORDER BY b.sequence DESC LIMIT 2)
  UNION ALL
  (SELECT a.event_id FROM event a
   WHERE a.tenant_id = g.tenant_id AND a.namespace_id = g.namespace_id AND a.session_id = g.session_id
     AND a.sequence > g.sequence AND a.outcome = 2 AND NOT a.tombstoned AND NOT a.event_id = ANY (%(event_ids)s)
   ORDER BY a.sequence LIMIT 2)) n
WHERE g.tenant_id = %(tenant_id)s AND g.namespace_id = %(namespace_id)s AND g.event_id = ANY (%(event_ids)s) AND g.outcome = 2
