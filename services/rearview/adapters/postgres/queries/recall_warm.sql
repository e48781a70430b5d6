-- The warm part of recall: as `search` in recall.sql, from the table without a vector index.

-- name: search
-- A namespace without warm units costs one look at an index.
WITH here AS MATERIALIZED (
  SELECT FROM search_unit_warm_{generation} w WHERE w.tenant_id = %(tenant)s AND w.namespace_id = %(namespace)s
  ORDER BY w.memory_id LIMIT 1),
allowed AS MATERIALIZED (
  SELECT CASE WHEN %(restricted)s::boolean THEN ARRAY(
    SELECT m.memory_id FROM memory m
    WHERE m.tenant_id = %(tenant)s AND m.namespace_id = %(namespace)s AND m.tier = 2
      AND m.state = ANY (%(memory_states)s::int2[])
      AND (%(types)s::int2[] IS NULL OR m.type = ANY (%(types)s::int2[]))
      AND (%(start)s::timestamptz IS NULL OR coalesce(m.occurred_until, m.occurred_at) >= %(start)s::timestamptz)
      AND (%(end)s::timestamptz IS NULL OR m.occurred_at < %(end)s::timestamptz)
      AND (%(filter_entities)s::text[] IS NULL OR m.entity_keys @> %(filter_entities)s::text[])
      AND (%(session)s::text IS NULL OR m.session_id = %(session)s::text)
      AND (%(labels)s::jsonb IS NULL OR m.labels @> %(labels)s::jsonb)
      AND (%(origins)s::int2[] IS NULL OR m.origin = ANY (%(origins)s::int2[]))
      AND (%(as_of)s::timestamptz IS NULL OR (
        least(m.occurred_at, m.created_at, m.valid_from) <= %(as_of)s::timestamptz
        AND (m.valid_from IS NULL OR m.valid_from <= %(as_of)s::timestamptz)
        AND (m.valid_to IS NULL OR m.valid_to > %(as_of)s::timestamptz)
        AND (m.state = 1 OR m.valid_to IS NOT NULL OR coalesce(
          (SELECT least(n.occurred_at, n.created_at) FROM memory n
           WHERE n.tenant_id = m.tenant_id AND n.namespace_id = m.namespace_id AND n.memory_id = m.superseded_by),
          m.updated_at) > %(as_of)s::timestamptz)))
  ) END AS ids),
query AS MATERIALIZED (
  SELECT rearview_query_weights(%(tenant)s, %(namespace)s, %(route_keywords)s::int4[], %(route_counts)s::float8[]) AS weights,
         CASE WHEN EXISTS (SELECT FROM namespace_statistics n WHERE n.tenant_id = %(tenant)s AND n.namespace_id = %(namespace)s
                             AND n.chinese_units > 0 AND n.english_units > 0)
              THEN rearview_query_weights(%(tenant)s, %(namespace)s, %(translated_keywords)s::int4[], %(translated_counts)s::float8[])
              END AS translated,
         CASE WHEN %(restricted)s::boolean THEN %(route_keywords)s::int4[]
              ELSE rearview_rarest_terms(%(tenant)s, %(namespace)s, %(route_keywords)s::int4[], %(candidate_budget)s::bigint) END AS terms),
by_vector AS MATERIALIZED (
  SELECT r.unit_id, r.exact FROM here CROSS JOIN LATERAL rearview_warm_vector_route_{generation}(
    %(tenant)s, %(namespace)s, %(vector)s::halfvec, %(unit_states)s::int2[], (SELECT ids FROM allowed), %(limit)s::int,
    false, %(near_chinese)s::uuid[], %(near_other)s::uuid[], %(near_since)s::text::xid8) r),
by_keyword AS MATERIALIZED (
  SELECT r.unit_id FROM here CROSS JOIN LATERAL rearview_warm_keyword_route_{generation}(
    %(tenant)s, %(namespace)s, (SELECT weights FROM query), (SELECT terms FROM query), %(unit_states)s::int2[],
    (SELECT ids FROM allowed), %(limit)s::int) r
  WHERE cardinality(%(route_keywords)s::int4[]) > 0),
by_entity AS MATERIALIZED (
  SELECT u.unit_id
  FROM here CROSS JOIN LATERAL rearview_memories_by_entity(
    %(tenant)s, %(namespace)s, %(entities)s::text[], %(memory_states)s::int2[], %(limit)s::int) m
  JOIN search_unit_warm_{generation} u ON u.tenant_id = %(tenant)s AND u.namespace_id = %(namespace)s
    AND u.memory_id = m.memory_id AND u.state = ANY (%(unit_states)s::int2[])
  WHERE cardinality(%(entities)s::text[]) > 0
    AND ((SELECT ids FROM allowed) IS NULL OR m.memory_id = ANY ((SELECT ids FROM allowed)::uuid[]))
  ORDER BY m.shared DESC, u.embedding <=> %(vector)s::halfvec, u.sv <#> (SELECT weights FROM query), u.occurred_at DESC
  LIMIT %(limit)s::int),
by_time AS MATERIALIZED (
  SELECT u.unit_id
  FROM here CROSS JOIN unnest(%(range_starts)s::timestamptz[], %(range_ends)s::timestamptz[]) AS r (starts, ends)
  CROSS JOIN LATERAL (
    SELECT w.unit_id, w.memory_id, w.embedding, w.sv, w.occurred_at FROM search_unit_warm_{generation} w
    WHERE w.tenant_id = %(tenant)s AND w.namespace_id = %(namespace)s AND w.occurred_at >= r.starts
      AND w.occurred_at < r.ends AND w.state = ANY (%(unit_states)s::int2[])
    ORDER BY w.occurred_at DESC LIMIT %(scan_limit)s::int) u
  WHERE (SELECT ids FROM allowed) IS NULL OR u.memory_id = ANY ((SELECT ids FROM allowed)::uuid[])
  ORDER BY u.embedding <=> %(vector)s::halfvec, u.sv <#> (SELECT weights FROM query), u.occurred_at DESC
  LIMIT %(limit)s::int),
found AS MATERIALIZED (
  SELECT x.unit_id, bit_or(x.route) AS routes, bool_and(x.exact) AS exact
  FROM (SELECT v.unit_id, 1 AS route, v.exact FROM by_vector v
        UNION ALL SELECT k.unit_id, 2, NULL FROM by_keyword k
        UNION ALL SELECT e.unit_id, 4, NULL FROM by_entity e
        UNION ALL SELECT t.unit_id, 8, NULL FROM by_time t) x
  GROUP BY x.unit_id)
SELECT u.unit_id, u.memory_id, extract(epoch FROM u.occurred_at)::float8, u.speaker, u.flags, f.routes, f.exact,
       1 - (u.embedding <=> %(vector)s::halfvec) AS similarity, -(u.sv <#> q.weights) AS keyword_score,
       CASE WHEN u.flags & %(languages)s::int2 = 0 AND q.translated IS NOT NULL THEN -(u.sv <#> q.translated) ELSE 0 END AS translation_score,
       m.type, m.intensity, m.pinned, m.priority,
       extract(epoch FROM greatest(least(m.occurred_at, m.created_at), s.last_accessed_at))::float8 AS used_at, coalesce(s.access_count, 0) AS access_count,
       CASE WHEN cardinality(%(entities)s::text[]) = 0 THEN '{}'::text[]
            ELSE ARRAY(SELECT e FROM unnest(%(entities)s::text[]) AS e WHERE e = ANY (m.entity_keys)) END AS entity_matches
FROM found f
JOIN search_unit_warm_{generation} u ON u.tenant_id = %(tenant)s AND u.namespace_id = %(namespace)s AND u.unit_id = f.unit_id
CROSS JOIN query q
JOIN memory m ON m.tenant_id = %(tenant)s AND m.namespace_id = %(namespace)s AND m.memory_id = u.memory_id
LEFT JOIN memory_stats s ON s.tenant_id = %(tenant)s AND s.namespace_id = %(namespace)s AND s.memory_id = u.memory_id
WHERE m.state = ANY (%(memory_states)s::int2[])
  AND (m.expires_at IS NULL OR m.expires_at > %(now)s::timestamptz)
  AND (%(start)s::timestamptz IS NULL OR u.occurred_at >= %(start)s::timestamptz)
  AND (%(end)s::timestamptz IS NULL OR u.occurred_at < %(end)s::timestamptz);
