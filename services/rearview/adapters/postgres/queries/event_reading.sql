-- The event log as it is read.

-- name: list_events
SELECT e.event_id, e.session_id, e.sequence, e.role, e.speaker, e.content, e.tool_call, e.image_caption, e.metadata,
       e.redactions, e.occurred_at, e.created_at
FROM event e
WHERE e.tenant_id = %(tenant)s AND e.namespace_id = %(namespace)s AND e.session_id = %(session)s AND NOT e.tombstoned
  AND e.sequence > %(after)s
ORDER BY e.sequence
LIMIT %(limit)s::int;

-- name: list_newest_events
SELECT e.event_id, e.session_id, e.sequence, e.role, e.speaker, e.content, e.tool_call, e.image_caption, e.metadata,
       e.redactions, e.occurred_at, e.created_at
FROM event e
WHERE e.tenant_id = %(tenant)s AND e.namespace_id = %(namespace)s AND e.session_id = %(session)s AND NOT e.tombstoned
  AND (%(after)s::bigint = 0 OR e.sequence < %(after)s::bigint)
ORDER BY e.sequence DESC
LIMIT %(limit)s::int;

-- name: session_exists
SELECT EXISTS (SELECT FROM session s
               WHERE s.tenant_id = %(tenant)s AND s.namespace_id = %(namespace)s AND s.session_id = %(session)s
                 AND s.forgotten_at IS NULL);

-- name: list_sessions
SELECT s.session_id, s.started_at, s.last_event_at, s.ended_at, s.last_sequence, s.indexed_sequence
FROM session s
WHERE s.tenant_id = %(tenant)s AND s.namespace_id = %(namespace)s AND s.forgotten_at IS NULL
  AND s.last_event_at <= coalesce(%(after_time)s::timestamptz, 'infinity')
  AND (%(after_time)s::timestamptz IS NULL OR s.last_event_at < %(after_time)s::timestamptz
       OR (s.last_event_at = %(after_time)s::timestamptz AND s.session_id > %(after_session)s::text))
ORDER BY s.last_event_at DESC, s.session_id
LIMIT %(limit)s::int;

-- name: session_tail
-- The last turns of a session, newest first, without their content.
SELECT e.event_id, e.created_at FROM event e
WHERE e.tenant_id = %(tenant)s AND e.namespace_id = %(namespace)s AND e.session_id = %(session)s AND NOT e.tombstoned
ORDER BY e.sequence DESC
LIMIT %(limit)s::int;

-- name: session_events
SELECT e.event_id, e.session_id, e.sequence, e.role, e.speaker, e.content, e.tool_call, e.image_caption, e.metadata,
       e.redactions, e.occurred_at, e.created_at
FROM event e
WHERE e.tenant_id = %(tenant)s AND e.namespace_id = %(namespace)s AND e.event_id = ANY (%(events)s::uuid[])
  AND e.session_id = %(session)s AND NOT e.tombstoned;

-- name: capture_trace
SELECT e.session_id, e.tombstoned, e.outcome, e.importance, e.capture, e.redactions, e.indexed_at,
       ARRAY(SELECT l.memory_id FROM memory_event l
             JOIN memory m ON m.tenant_id = l.tenant_id AND m.namespace_id = l.namespace_id AND m.memory_id = l.memory_id
             WHERE l.tenant_id = e.tenant_id AND l.namespace_id = e.namespace_id AND l.event_id = e.event_id AND m.state <> 4
             ORDER BY l.memory_id)
FROM event e
WHERE e.tenant_id = %(tenant)s AND e.namespace_id = %(namespace)s AND e.event_id = %(event)s;

-- name: forget_receipt
SELECT r.receipt_id, r.namespace_id, r.namespace, r.state, r.memory_ids, r.event_ids, r.tombstoned_at,
       r.purge_after, r.purged_at, r.verified_at, r.places, r.digest
FROM forget_receipt r
WHERE r.tenant_id = %(tenant)s AND r.receipt_id = %(receipt)s;
