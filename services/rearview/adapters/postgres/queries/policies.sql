-- Tenants' policies.

-- name: get
SELECT redaction_categories, redaction_vault, version, warm_after, cold_after, max_hot_memories, hot_priority_floor,
       expire_after, event_retention, trace_retention, value_floor, value_grace
FROM tenant_policy WHERE tenant_id = %(tenant_id)s

-- name: lock
SELECT redaction_categories, redaction_vault FROM tenant_policy WHERE tenant_id = %(tenant_id)s FOR UPDATE

-- Changes nothing when a version is given and is not the stored one; no row is version 0.
-- name: update
INSERT INTO tenant_policy AS p (tenant_id, redaction_categories, redaction_vault, warm_after, cold_after, max_hot_memories,
                                hot_priority_floor, expire_after, event_retention, trace_retention,
                                value_floor, value_grace, version, updated_at)
SELECT %(tenant_id)s, coalesce(%(categories)s::text[], '{}'), coalesce(%(vault)s::boolean, false), %(warm_after)s::interval,
       %(cold_after)s::interval, %(max_hot_memories)s::bigint, %(hot_priority_floor)s::real, %(expire_after)s::jsonb,
       %(event_retention)s::interval, %(trace_retention)s::interval, %(value_floor)s::real, %(value_grace)s::interval,
       1, %(now)s
WHERE coalesce(%(version)s::bigint, 0) = 0 OR EXISTS (SELECT FROM tenant_policy WHERE tenant_id = %(tenant_id)s)
ON CONFLICT (tenant_id) DO UPDATE
SET redaction_categories = coalesce(%(categories)s::text[], p.redaction_categories),
    redaction_vault = coalesce(%(vault)s::boolean, p.redaction_vault),
    warm_after = CASE WHEN 'warm_after' = ANY (%(mask)s::text[]) THEN excluded.warm_after ELSE p.warm_after END,
    cold_after = CASE WHEN 'cold_after' = ANY (%(mask)s::text[]) THEN excluded.cold_after ELSE p.cold_after END,
    max_hot_memories = CASE WHEN 'max_hot_memories' = ANY (%(mask)s::text[]) THEN excluded.max_hot_memories
                            ELSE p.max_hot_memories END,
    hot_priority_floor = CASE WHEN 'hot_priority_floor' = ANY (%(mask)s::text[]) THEN excluded.hot_priority_floor
                              ELSE p.hot_priority_floor END,
    expire_after = CASE WHEN 'expire_after' = ANY (%(mask)s::text[]) THEN excluded.expire_after ELSE p.expire_after END,
    event_retention = CASE WHEN 'event_retention' = ANY (%(mask)s::text[]) THEN excluded.event_retention
                           ELSE p.event_retention END,
    trace_retention = CASE WHEN 'trace_retention' = ANY (%(mask)s::text[]) THEN excluded.trace_retention
                           ELSE p.trace_retention END,
    value_floor = CASE WHEN 'value_floor' = ANY (%(mask)s::text[]) THEN excluded.value_floor ELSE p.value_floor END,
    value_grace = CASE WHEN 'value_grace' = ANY (%(mask)s::text[]) THEN excluded.value_grace ELSE p.value_grace END,
    version = p.version + 1, updated_at = %(now)s
WHERE %(version)s::bigint IS NULL OR p.version = %(version)s
RETURNING redaction_categories, redaction_vault, version, warm_after, cold_after, max_hot_memories, hot_priority_floor,
          expire_after, event_retention, trace_retention, value_floor, value_grace

-- name: namespace_lifecycle
SELECT coalesce(n.version, 0), n.warm_after, n.cold_after, n.max_hot_memories, n.hot_priority_floor,
       n.expire_after, n.event_retention, n.trace_retention, n.value_floor, n.value_grace,
       t.warm_after, t.cold_after, t.max_hot_memories, t.hot_priority_floor,
       t.expire_after, t.event_retention, t.trace_retention, t.value_floor, t.value_grace
FROM (SELECT %(tenant_id)s::uuid AS tenant_id) x
LEFT JOIN tenant_policy t ON t.tenant_id = x.tenant_id
LEFT JOIN namespace_policy n ON n.tenant_id = x.tenant_id AND n.namespace_id = %(namespace_id)s

-- name: update_namespace_lifecycle
INSERT INTO namespace_policy AS p (tenant_id, namespace_id, warm_after, cold_after, max_hot_memories, hot_priority_floor,
                                   expire_after, event_retention, trace_retention,
                                value_floor, value_grace, version, updated_at)
SELECT %(tenant_id)s, %(namespace_id)s, %(warm_after)s::interval, %(cold_after)s::interval, %(max_hot_memories)s::bigint,
       %(hot_priority_floor)s::real, %(expire_after)s::jsonb, %(event_retention)s::interval, %(trace_retention)s::interval,
       %(value_floor)s::real, %(value_grace)s::interval, 1, %(now)s
WHERE coalesce(%(version)s::bigint, 0) = 0
   OR EXISTS (SELECT FROM namespace_policy WHERE tenant_id = %(tenant_id)s AND namespace_id = %(namespace_id)s)
ON CONFLICT (tenant_id, namespace_id) DO UPDATE
SET warm_after = CASE WHEN 'warm_after' = ANY (%(mask)s::text[]) THEN excluded.warm_after ELSE p.warm_after END,
    cold_after = CASE WHEN 'cold_after' = ANY (%(mask)s::text[]) THEN excluded.cold_after ELSE p.cold_after END,
    max_hot_memories = CASE WHEN 'max_hot_memories' = ANY (%(mask)s::text[]) THEN excluded.max_hot_memories
                            ELSE p.max_hot_memories END,
    hot_priority_floor = CASE WHEN 'hot_priority_floor' = ANY (%(mask)s::text[]) THEN excluded.hot_priority_floor
                              ELSE p.hot_priority_floor END,
    expire_after = CASE WHEN 'expire_after' = ANY (%(mask)s::text[]) THEN excluded.expire_after ELSE p.expire_after END,
    event_retention = CASE WHEN 'event_retention' = ANY (%(mask)s::text[]) THEN excluded.event_retention
                           ELSE p.event_retention END,
    trace_retention = CASE WHEN 'trace_retention' = ANY (%(mask)s::text[]) THEN excluded.trace_retention
                           ELSE p.trace_retention END,
    value_floor = CASE WHEN 'value_floor' = ANY (%(mask)s::text[]) THEN excluded.value_floor ELSE p.value_floor END,
    value_grace = CASE WHEN 'value_grace' = ANY (%(mask)s::text[]) THEN excluded.value_grace ELSE p.value_grace END,
    version = p.version + 1, updated_at = %(now)s
WHERE %(version)s::bigint IS NULL OR p.version = %(version)s
RETURNING version

-- name: bump_epochs
SELECT rearview_bump_epoch(n.tenant_id, n.namespace_id, true)
FROM namespace n WHERE n.tenant_id = %(tenant_id)s AND n.deleted_at IS NULL ORDER BY n.namespace_id
