-- Indexing of sessions.

-- Who claims a session looks at all of its events, so an event stored from here on needs a job of its own.
-- name: claim_session
UPDATE session SET index_queued = false
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s AND forgotten_at IS NULL
RETURNING indexed_sequence, ended_at IS NOT NULL AS ended, window_closed, open_memory_id

-- Nobody, if a turn that was appended meanwhile has queued a job already.
-- name: queue_rest
UPDATE session SET index_queued = true
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s AND NOT index_queued

-- name: namespace_name
SELECT name FROM namespace WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND deleted_at IS NULL

-- name: pending_events
SELECT e.event_id, e.sequence, e.role, e.speaker, e.content, e.tool_call, e.image_caption, e.redactions, e.occurred_at,
       e.created_at
FROM event e
JOIN session s ON s.tenant_id = e.tenant_id AND s.namespace_id = e.namespace_id AND s.session_id = e.session_id
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.session_id = %(session_id)s
  AND e.sequence > s.indexed_sequence AND e.outcome = 1 AND NOT e.tombstoned
ORDER BY e.sequence LIMIT %(limit)s

-- name: earlier_events
SELECT e.event_id, e.sequence, e.role, e.speaker, e.content, e.tool_call, e.image_caption, e.redactions, e.occurred_at,
       e.created_at
FROM event e
JOIN session s ON s.tenant_id = e.tenant_id AND s.namespace_id = e.namespace_id AND s.session_id = e.session_id
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.session_id = %(session_id)s
  AND e.sequence <= s.indexed_sequence AND NOT e.tombstoned
ORDER BY e.sequence DESC LIMIT 4

-- name: last_appended
SELECT created_at FROM event
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s
ORDER BY sequence DESC LIMIT 1

-- name: open_windows
SELECT w.event_id, w.sequence, w.memory_id, w.plain, w.weighted_sum, w.own_keywords, w.keywords, w.weights, w.token_count,
       w.generation, e.role, e.speaker, e.content, e.tool_call, e.image_caption, e.redactions, e.occurred_at, e.created_at
FROM open_window w
JOIN event e ON e.tenant_id = w.tenant_id AND e.namespace_id = w.namespace_id AND e.event_id = w.event_id
WHERE w.tenant_id = %(tenant_id)s AND w.namespace_id = %(namespace_id)s AND w.session_id = %(session_id)s ORDER BY w.sequence

-- name: lock_session
SELECT indexed_sequence, open_memory_id FROM session
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s AND forgotten_at IS NULL
FOR UPDATE

-- name: no_longer_pending
SELECT count(*) FROM event
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND event_id = ANY (%(event_ids)s)
  AND (tombstoned OR outcome <> 1)

-- name: open_window_ids
SELECT event_id FROM open_window
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s ORDER BY sequence

-- A turn's memory that is a fact, too, has its link already; that the turn repeats it is known only now.
-- name: link_events
INSERT INTO memory_event (tenant_id, namespace_id, session_id, memory_id, event_id, sequence, repeats)
SELECT %(tenant_id)s, %(namespace_id)s, %(session_id)s, r.memory_id, r.event_id, r.sequence, r.repeats
FROM json_to_recordset(%(links)s::json) AS r (memory_id uuid, event_id uuid, sequence bigint, repeats uuid)
ON CONFLICT (tenant_id, namespace_id, memory_id, event_id) DO UPDATE SET repeats = excluded.repeats
WHERE memory_event.repeats IS NULL AND excluded.repeats IS NOT NULL

-- The earliest time counts, where a memory is one statement; an episode keeps the time of its own turns.
-- name: said_earlier
UPDATE memory m SET occurred_at = r.first_said_at, updated_at = %(now)s, version = m.version + 1
FROM json_to_recordset(%(strengthened)s::json) AS r (memory_id uuid, first_said_at timestamptz)
WHERE m.tenant_id = %(tenant_id)s AND m.namespace_id = %(namespace_id)s AND m.memory_id = r.memory_id
  AND m.type NOT IN (1, 7) AND r.first_said_at < m.occurred_at

-- How many turns an episode holds (not those that repeat it), and the last of them.
-- name: turns_of_episode
SELECT count(*) OVER () AS turns, e.event_id, e.sequence, e.role, e.speaker, e.content, e.tool_call, e.image_caption,
       e.redactions, e.occurred_at, e.created_at
FROM memory_event l
JOIN event e ON e.tenant_id = l.tenant_id AND e.namespace_id = l.namespace_id AND e.event_id = l.event_id
WHERE l.tenant_id = %(tenant_id)s AND l.namespace_id = %(namespace_id)s AND l.memory_id = %(memory_id)s AND l.repeats IS NULL
  AND NOT e.tombstoned
ORDER BY e.sequence DESC LIMIT 1

-- name: capture_events
UPDATE event e
SET outcome = r.outcome, importance = r.importance, capture = r.capture, bands = r.bands, indexed_at = %(now)s
FROM json_to_recordset(%(captures)s::json) AS r (event_id uuid, outcome smallint, importance real, capture jsonb,
  bands int4[])
WHERE e.tenant_id = %(tenant_id)s AND e.namespace_id = %(namespace_id)s AND e.event_id = r.event_id

-- name: drop_windows
DELETE FROM open_window
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s

-- name: keep_windows
INSERT INTO open_window (tenant_id, namespace_id, session_id, event_id, sequence, memory_id, plain, weighted_sum, own_keywords,
                         keywords, weights, token_count, generation)
SELECT %(tenant_id)s, %(namespace_id)s, %(session_id)s, r.event_id, r.sequence, r.memory_id, r.plain, r.weighted_sum,
       r.own_keywords, r.keywords, r.weights, r.token_count, %(generation)s
FROM json_to_recordset(%(windows)s::json) AS r (event_id uuid, sequence bigint, memory_id uuid, plain bytea, weighted_sum bytea,
  own_keywords int4[], keywords int4[], weights float4[], token_count int4)

-- name: know_speakers
INSERT INTO speaker (tenant_id, namespace_id, speaker, name)
SELECT %(tenant_id)s, %(namespace_id)s, s.speaker, s.name
FROM unnest(%(speakers)s::int4[], %(names)s::text[]) WITH ORDINALITY AS s (speaker, name, position) ORDER BY s.position
ON CONFLICT (tenant_id, namespace_id, speaker) DO NOTHING

-- name: advance_session
UPDATE session
SET indexed_sequence = %(indexed_sequence)s, open_memory_id = %(open_memory_id)s, window_closed = %(window_closed)s
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s
