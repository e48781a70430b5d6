-- Making anew what the turns around forgotten ones are found by.

-- name: stale_units
SELECT r.namespace_id, r.stale_units[1:%(limit)s] AS unit_ids,
       ARRAY(SELECT DISTINCT l.memory_id FROM memory_event l
             JOIN memory m ON m.tenant_id = l.tenant_id AND m.namespace_id = l.namespace_id AND m.memory_id = l.memory_id
             WHERE l.tenant_id = r.tenant_id AND l.namespace_id = r.namespace_id AND l.event_id = ANY (r.stale_units[1:%(limit)s])
               AND l.repeats IS NULL AND m.tier = 3) AS cold
FROM forget_receipt r
WHERE r.tenant_id = %(tenant_id)s AND r.receipt_id = %(receipt_id)s AND r.stale_units <> '{}'

-- Each turn with the kept turns within its window; places before it are negative.
-- name: windows
SELECT s.event_id AS unit_id, n.place, n.event_id, n.sequence, n.role, n.speaker, n.content, n.tool_call, n.image_caption,
       n.redactions, n.occurred_at, n.created_at
FROM event s
CROSS JOIN LATERAL (
  (SELECT -row_number() OVER (ORDER BY b.sequence DESC) AS place, b.* FROM event b
   WHERE b.tenant_id = s.tenant_id AND b.namespace_id = s.namespace_id AND b.session_id = s.session_id
     AND b.sequence < s.sequence AND b.outcome = 2 AND NOT b.tombstoned
   ORDER BY b.sequence DESC LIMIT 2)
  UNION ALL
  (SELECT 0 AS place, i.* FROM event i
   WHERE i.tenant_id = s.tenant_id AND i.namespace_id = s.namespace_id AND i.event_id = s.event_id)
  UNION ALL
  (SELECT row_number() OVER (ORDER BY a.sequence) AS place, a.* FROM event a
   WHERE a.tenant_id = s.tenant_id AND a.namespace_id = s.namespace_id AND a.session_id = s.session_id
     AND a.sequence > s.sequence AND a.outcome = 2 AND NOT a.tombstoned
   ORDER BY a.sequence LIMIT 2)) n
WHERE s.tenant_id = %(tenant_id)s AND s.namespace_id = %(namespace_id)s AND s.event_id = ANY (%(unit_ids)s) AND NOT s.tombstoned
ORDER BY s.session_id, s.sequence, n.place

-- name: done
UPDATE forget_receipt
SET stale_units = ARRAY(SELECT u FROM unnest(stale_units) AS u WHERE NOT u = ANY (%(unit_ids)s))
WHERE tenant_id = %(tenant_id)s AND receipt_id = %(receipt_id)s
