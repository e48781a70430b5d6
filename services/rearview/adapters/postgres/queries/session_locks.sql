-- Sessions are locked before memories, in the order of their ids, by everything that changes what indexing builds on.

-- name: sessions_of_memories
SELECT session_id FROM memory_event
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s)
UNION
SELECT session_id FROM memory
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND memory_id = ANY (%(memory_ids)s) AND session_id <> ''

-- name: lock_sessions
SELECT session_id FROM session
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = ANY (%(session_ids)s)
ORDER BY session_id FOR UPDATE

-- name: windows_of_memories
DELETE FROM open_window
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = ANY (%(session_ids)s)
  AND memory_id = ANY (%(memory_ids)s)
RETURNING event_id

-- name: close_episodes
UPDATE session SET open_memory_id = NULL
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = ANY (%(session_ids)s)
  AND open_memory_id = ANY (%(memory_ids)s)
