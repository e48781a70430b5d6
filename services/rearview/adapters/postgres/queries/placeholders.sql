-- Numbers of placeholders in a session. Runs behind the lock of the session's row, so that nobody else counts meanwhile.

-- name: lock_session
SELECT session_id FROM session
WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s AND session_id = %(session_id)s
  AND forgotten_at IS NULL
FOR UPDATE

-- name: number
WITH given AS (
  SELECT g.category, g.digest, g.at
  FROM unnest(%(categories)s::text[], %(digests)s::bytea[]) WITH ORDINALITY AS g (category, digest, at)),
known AS (
  SELECT p.category, p.digest, p.number
  FROM redaction_placeholder p JOIN given g ON g.category = p.category AND g.digest = p.digest
  WHERE p.tenant_id = %(tenant_id)s AND p.namespace_id = %(namespace_id)s AND p.session_id = %(session_id)s),
fresh AS (
  INSERT INTO redaction_placeholder (tenant_id, namespace_id, session_id, category, digest, number)
  SELECT %(tenant_id)s, %(namespace_id)s, %(session_id)s, g.category, g.digest,
         (SELECT coalesce(max(p.number), 0) FROM redaction_placeholder p
          WHERE p.tenant_id = %(tenant_id)s AND p.namespace_id = %(namespace_id)s AND p.session_id = %(session_id)s
            AND p.category = g.category) + row_number() OVER (PARTITION BY g.category ORDER BY g.at)
  FROM given g
  WHERE NOT EXISTS (SELECT FROM known k WHERE k.category = g.category AND k.digest = g.digest)
  RETURNING category, digest, number)
SELECT category, digest, number FROM known UNION ALL SELECT category, digest, number FROM fresh
