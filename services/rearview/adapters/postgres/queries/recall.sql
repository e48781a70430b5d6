-- Recall's statements; they run in one transaction and share its round trip.

-- name: statistics
-- What fusion needs to know of the namespace, the speakers whose names occur in the query, and in how many units each of
-- its terms occurs.
SELECT coalesce(max(n.units), 0), coalesce(max(n.keyword_total), 0), coalesce(max(n.chinese_units), 0),
       coalesce(max(n.english_units), 0), max(p.hashes), max(p.names), max(t.keywords), max(t.units)
FROM (SELECT coalesce(array_agg(s.speaker ORDER BY s.speaker), '{}') AS hashes,
             coalesce(array_agg(s.name ORDER BY s.speaker), '{}') AS names
      FROM (SELECT s.speaker, s.name FROM speaker s
            WHERE s.tenant_id = %(tenant)s AND s.namespace_id = %(namespace)s AND s.name <> ''
              AND strpos(%(folded_query)s, lower(s.name)) > 0
            ORDER BY s.speaker LIMIT 32) s) p
CROSS JOIN (SELECT coalesce(array_agg(q.keyword), '{}') AS keywords, coalesce(array_agg(q.units), '{}') AS units
            FROM rearview_query_terms(%(tenant)s, %(namespace)s, %(every_keyword)s::int4[],
                                       array_fill(1::float8, ARRAY[cardinality(%(every_keyword)s::int4[])])) q) t
LEFT JOIN namespace_statistics n ON n.tenant_id = %(tenant)s AND n.namespace_id = %(namespace)s;

-- name: raw_turns
SELECT r.event_id, r.session_id, r.role, r.speaker, r.occurred_at, r.score
FROM rearview_ranked_raw_turns(
  %(tenant)s, %(namespace)s, %(keywords)s::int4[], %(counts)s::float8[], %(session)s::text, %(roles)s::int2[],
  %(start)s::timestamptz, %(end)s::timestamptz, %(as_of)s::timestamptz, %(limit)s::int) r;

-- name: search
-- The candidates of the indexed routes, and both text scores of each. `allowed` is NULL unless a filter or as_of
-- restricts the memories. What was told earlier than it was stored counts as known since it was told, so that an
-- imported history can be asked as of its own time. A namespace that is all cold costs two looks at an index.
WITH here AS MATERIALIZED (
  -- In order, or what moved away and was not vacuumed yet is read from the table's beginning to its end.
  (SELECT FROM search_unit_{generation} h WHERE h.tenant_id = %(tenant)s AND h.namespace_id = %(namespace)s
   ORDER BY h.memory_id LIMIT 1)
  UNION ALL
  (SELECT FROM search_unit_fresh_{generation} f WHERE f.tenant_id = %(tenant)s AND f.namespace_id = %(namespace)s
   ORDER BY f.memory_id LIMIT 1)
  LIMIT 1),
allowed AS MATERIALIZED (
  SELECT CASE WHEN %(restricted)s::boolean THEN ARRAY(
    SELECT m.memory_id FROM memory m
    WHERE m.tenant_id = %(tenant)s AND m.namespace_id = %(namespace)s AND m.state = ANY (%(memory_states)s::int2[])
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
  SELECT r.unit_id, r.exact FROM here CROSS JOIN LATERAL rearview_vector_route_{generation}(
    %(tenant)s, %(namespace)s, %(vector)s::halfvec, %(unit_states)s::int2[], (SELECT ids FROM allowed), %(limit)s::int,
    false, %(near_chinese)s::uuid[], %(near_other)s::uuid[], %(near_since)s::text::xid8) r),
by_keyword AS MATERIALIZED (
  SELECT r.unit_id FROM here CROSS JOIN LATERAL rearview_keyword_route_{generation}(
    %(tenant)s, %(namespace)s, (SELECT weights FROM query), (SELECT terms FROM query), %(unit_states)s::int2[],
    (SELECT ids FROM allowed), %(limit)s::int) r
  WHERE cardinality(%(route_keywords)s::int4[]) > 0),
by_entity AS MATERIALIZED (
  SELECT u.unit_id
  FROM here CROSS JOIN LATERAL rearview_memories_by_entity(
    %(tenant)s, %(namespace)s, %(entities)s::text[], %(memory_states)s::int2[], %(limit)s::int) m
  CROSS JOIN LATERAL (
    SELECT h.unit_id, h.embedding, h.sv, h.occurred_at FROM search_unit_{generation} h
    WHERE h.tenant_id = %(tenant)s AND h.namespace_id = %(namespace)s AND h.memory_id = m.memory_id
      AND h.state = ANY (%(unit_states)s::int2[])
    UNION ALL
    SELECT f.unit_id, f.embedding, f.sv, f.occurred_at FROM search_unit_fresh_{generation} f
    WHERE f.tenant_id = %(tenant)s AND f.namespace_id = %(namespace)s AND f.memory_id = m.memory_id
      AND f.state = ANY (%(unit_states)s::int2[])) u
  WHERE cardinality(%(entities)s::text[]) > 0
    AND ((SELECT ids FROM allowed) IS NULL OR m.memory_id = ANY ((SELECT ids FROM allowed)::uuid[]))
  ORDER BY m.shared DESC, u.embedding <=> %(vector)s::halfvec, u.sv <#> (SELECT weights FROM query), u.occurred_at DESC
  LIMIT %(limit)s::int),
by_time AS MATERIALIZED (
  SELECT u.unit_id
  FROM here CROSS JOIN unnest(%(range_starts)s::timestamptz[], %(range_ends)s::timestamptz[]) AS r (starts, ends)
  CROSS JOIN LATERAL (
    (SELECT h.unit_id, h.memory_id, h.embedding, h.sv, h.occurred_at FROM search_unit_{generation} h
     WHERE h.tenant_id = %(tenant)s AND h.namespace_id = %(namespace)s AND h.occurred_at >= r.starts
       AND h.occurred_at < r.ends AND h.state = ANY (%(unit_states)s::int2[])
     ORDER BY h.occurred_at DESC LIMIT %(scan_limit)s::int)
    UNION ALL
    (SELECT f.unit_id, f.memory_id, f.embedding, f.sv, f.occurred_at FROM search_unit_fresh_{generation} f
     WHERE f.tenant_id = %(tenant)s AND f.namespace_id = %(namespace)s AND f.occurred_at >= r.starts
       AND f.occurred_at < r.ends AND f.state = ANY (%(unit_states)s::int2[])
     ORDER BY f.occurred_at DESC LIMIT %(scan_limit)s::int)) u
  WHERE (SELECT ids FROM allowed) IS NULL OR u.memory_id = ANY ((SELECT ids FROM allowed)::uuid[])
  ORDER BY u.embedding <=> %(vector)s::halfvec, u.sv <#> (SELECT weights FROM query), u.occurred_at DESC
  LIMIT %(limit)s::int),
pool AS MATERIALIZED (
  SELECT x.unit_id, bit_or(x.route) AS routes, bool_and(x.exact) AS exact
  FROM (SELECT v.unit_id, 1 AS route, v.exact FROM by_vector v
        UNION ALL SELECT k.unit_id, 2, NULL FROM by_keyword k
        UNION ALL SELECT e.unit_id, 4, NULL FROM by_entity e
        UNION ALL SELECT t.unit_id, 8, NULL FROM by_time t) x
  GROUP BY x.unit_id),
unit AS (
  SELECT p.unit_id, p.routes, p.exact, h.memory_id, h.occurred_at, h.speaker, h.flags, h.embedding, h.sv
  FROM pool p JOIN search_unit_{generation} h
    ON h.tenant_id = %(tenant)s AND h.namespace_id = %(namespace)s AND h.unit_id = p.unit_id
  UNION ALL
  SELECT p.unit_id, p.routes, p.exact, f.memory_id, f.occurred_at, f.speaker, f.flags, f.embedding, f.sv
  FROM pool p JOIN search_unit_fresh_{generation} f
    ON f.tenant_id = %(tenant)s AND f.namespace_id = %(namespace)s AND f.unit_id = p.unit_id)
SELECT u.unit_id, u.memory_id, extract(epoch FROM u.occurred_at)::float8, u.speaker, u.flags, u.routes, u.exact,
       1 - (u.embedding <=> %(vector)s::halfvec) AS similarity, -(u.sv <#> q.weights) AS keyword_score,
       CASE WHEN u.flags & %(languages)s::int2 = 0 AND q.translated IS NOT NULL THEN -(u.sv <#> q.translated) ELSE 0 END AS translation_score,
       m.type, m.intensity, m.pinned, m.priority,
       extract(epoch FROM greatest(least(m.occurred_at, m.created_at), s.last_accessed_at))::float8 AS used_at, coalesce(s.access_count, 0) AS access_count,
       CASE WHEN cardinality(%(entities)s::text[]) = 0 THEN '{}'::text[]
            ELSE ARRAY(SELECT e FROM unnest(%(entities)s::text[]) AS e WHERE e = ANY (m.entity_keys)) END AS entity_matches
FROM unit u
CROSS JOIN query q
JOIN memory m ON m.tenant_id = %(tenant)s AND m.namespace_id = %(namespace)s AND m.memory_id = u.memory_id
LEFT JOIN memory_stats s ON s.tenant_id = %(tenant)s AND s.namespace_id = %(namespace)s AND s.memory_id = u.memory_id
WHERE m.state = ANY (%(memory_states)s::int2[])
  AND (m.expires_at IS NULL OR m.expires_at > %(now)s::timestamptz)
  AND (%(start)s::timestamptz IS NULL OR u.occurred_at >= %(start)s::timestamptz)
  AND (%(end)s::timestamptz IS NULL OR u.occurred_at < %(end)s::timestamptz);

-- name: memory_contents
-- Memories as an answer shows them, without their metadata and events.
SELECT m.memory_id, m.type, m.state, m.tier, m.content, m.priority, m.pinned, m.labels, '{}'::json AS metadata, m.entities,
       m.intent, m.valence, m.intensity, m.origin, m.trust, m.confidence, m.valid_from, m.valid_to, m.occurred_at,
       m.occurred_until, m.created_at, m.updated_at, m.expires_at, m.superseded_by, m.session_id, m.languages,
       g.generation_id, m.redactions, m.fact_subject, m.fact_attribute, m.fact_value, m.fact_unit, m.single_valued,
       m.fact_value_key, m.fact_denied, m.fact_stance, m.fact_category, m.fact_replaces, m.extractor, m.prompt_version,
       m.extraction_note, m.version, coalesce(s.access_count, 0) AS access_count, s.last_accessed_at, '[]'::json AS events
FROM memory m
JOIN model_generation g ON g.ordinal = (SELECT rearview_answering_generation(%(tenant)s))
LEFT JOIN memory_stats s ON s.tenant_id = m.tenant_id AND s.namespace_id = m.namespace_id AND s.memory_id = m.memory_id
WHERE m.tenant_id = %(tenant)s AND m.namespace_id = %(namespace)s AND m.memory_id = ANY (%(memories)s::uuid[])
  AND m.state <> 4;

-- name: source_events
-- The turns behind the units that were chosen: the turn itself and then those that said it again, or the first sources of
-- a memory without turns.
SELECT c.unit_id, e.event_id, e.session_id, e.sequence, e.role, e.speaker, e.content, e.tool_call, e.image_caption,
       e.metadata, e.redactions, e.occurred_at, e.created_at
FROM unnest(%(units)s::uuid[], %(memories)s::uuid[]) AS c (unit_id, memory_id)
CROSS JOIN LATERAL (
  SELECT c.unit_id AS event_id WHERE c.unit_id <> c.memory_id
  UNION ALL
  (SELECT l.event_id FROM memory_event l
   WHERE c.unit_id <> c.memory_id AND l.tenant_id = %(tenant)s AND l.namespace_id = %(namespace)s AND l.repeats = c.unit_id
   ORDER BY l.event_id LIMIT %(limit)s::int - 1)
  UNION ALL
  (SELECT l.event_id FROM memory_event l
   WHERE c.unit_id = c.memory_id AND l.tenant_id = %(tenant)s AND l.namespace_id = %(namespace)s AND l.memory_id = c.memory_id
   ORDER BY l.session_id, l.sequence LIMIT %(limit)s::int)) l
JOIN event e ON e.tenant_id = %(tenant)s AND e.namespace_id = %(namespace)s AND e.event_id = l.event_id
WHERE NOT e.tombstoned
ORDER BY c.unit_id, e.event_id <> c.unit_id, e.session_id, e.sequence;

-- name: unindexed_events
-- Turns that no memory holds, among those asked for. One that was indexed after it had been found still counts: its unit
-- came too late to be found instead. Ten seconds are longer than a recall takes and than clocks differ.
SELECT e.event_id, e.session_id, e.sequence, e.role, e.speaker, e.content, e.tool_call, e.image_caption, e.metadata,
       e.redactions, e.occurred_at, e.created_at
FROM event e
WHERE e.tenant_id = %(tenant)s AND e.namespace_id = %(namespace)s AND e.event_id = ANY (%(events)s::uuid[])
  AND NOT e.tombstoned
  AND (e.outcome IN (1, 3) OR e.indexed_at > now() - interval '10 seconds' AND NOT EXISTS (
    SELECT FROM memory_event l
    JOIN memory m ON m.tenant_id = l.tenant_id AND m.namespace_id = l.namespace_id AND m.memory_id = l.memory_id
    WHERE l.tenant_id = e.tenant_id AND l.namespace_id = e.namespace_id AND l.event_id = e.event_id AND m.state <> 1));

-- name: outdated_turns
-- Turns that state facts that held no more, now or at `as_of`, and none that did, with the facts that held in their stead
-- and those facts' turns.
SELECT l.event_id, array_agg(DISTINCT x.successor) AS successors
FROM memory_event l
JOIN memory o ON o.tenant_id = l.tenant_id AND o.namespace_id = l.namespace_id AND o.memory_id = l.memory_id
CROSS JOIN LATERAL (
  SELECT n.memory_id FROM memory n
  WHERE n.tenant_id = o.tenant_id AND n.namespace_id = o.namespace_id AND n.memory_id = o.superseded_by AND CASE WHEN %(as_of)s::timestamptz IS NULL THEN n.state = 1
            ELSE n.state <> 4 AND coalesce(n.valid_from, n.occurred_at) <= %(as_of)s::timestamptz
              AND (n.valid_to IS NULL OR n.valid_to > %(as_of)s::timestamptz) END
  UNION
  SELECT n.memory_id FROM memory n
  WHERE o.single_valued AND n.tenant_id = o.tenant_id AND n.namespace_id = o.namespace_id AND n.fact_subject = o.fact_subject
    AND n.fact_attribute = o.fact_attribute AND n.type <> 7 AND CASE WHEN %(as_of)s::timestamptz IS NULL THEN n.state = 1
            ELSE n.state <> 4 AND coalesce(n.valid_from, n.occurred_at) <= %(as_of)s::timestamptz
              AND (n.valid_to IS NULL OR n.valid_to > %(as_of)s::timestamptz) END) n
CROSS JOIN LATERAL (
  SELECT n.memory_id AS successor
  UNION ALL
  (SELECT s.event_id FROM memory_event s
   WHERE s.tenant_id = l.tenant_id AND s.namespace_id = l.namespace_id AND s.memory_id = n.memory_id
   ORDER BY s.event_id DESC LIMIT 8)) x
WHERE l.tenant_id = %(tenant)s AND l.namespace_id = %(namespace)s AND l.event_id = ANY (%(units)s::uuid[])
  AND o.fact_subject IS NOT NULL AND o.type <> 7
  AND CASE WHEN %(as_of)s::timestamptz IS NULL THEN o.state = 2
           ELSE o.state <> 4 AND o.valid_to <= %(as_of)s::timestamptz END
  AND NOT EXISTS (
    SELECT FROM memory_event h
    JOIN memory a ON a.tenant_id = h.tenant_id AND a.namespace_id = h.namespace_id AND a.memory_id = h.memory_id
    WHERE h.tenant_id = l.tenant_id AND h.namespace_id = l.namespace_id AND h.event_id = l.event_id
      AND a.fact_subject IS NOT NULL AND a.type <> 7 AND CASE WHEN %(as_of)s::timestamptz IS NULL THEN a.state = 1
              ELSE a.state <> 4 AND coalesce(a.valid_from, a.occurred_at) <= %(as_of)s::timestamptz
                AND (a.valid_to IS NULL OR a.valid_to > %(as_of)s::timestamptz) END)
GROUP BY l.event_id;

-- name: anything_stored
SELECT EXISTS (SELECT FROM memory m
               WHERE m.tenant_id = %(tenant)s AND m.namespace_id = ANY (%(namespaces)s::uuid[]) AND m.state = 1)
    OR EXISTS (SELECT FROM event e
               WHERE e.tenant_id = %(tenant)s AND e.namespace_id = ANY (%(namespaces)s::uuid[]) AND NOT e.tombstoned);

-- name: generation_by_ordinal
SELECT g.ordinal, g.generation_id, g.dimension, g.card FROM model_generation g WHERE g.ordinal = %(ordinal)s;

-- name: answering_generation
SELECT g.ordinal, g.generation_id, g.dimension, g.card FROM model_generation g WHERE g.ordinal = rearview_answering_generation(%(tenant)s);

-- name: nearest
-- The vector route alone, as recall asks it or exact: what the index, or a copy, finds of what there is. A list for each language.
SELECT n.list, n.unit_id, n.exact
FROM (SELECT r.*, row_number() OVER (PARTITION BY r.list ORDER BY r.distance) AS position FROM (
  SELECT v.list, v.unit_id, v.exact, v.distance FROM rearview_vector_route_{generation}(
    %(tenant)s, %(namespace)s, %(vector)s::halfvec, %(unit_states)s::int2[], NULL, %(limit)s::int, %(exact)s::boolean,
    %(near_chinese)s::uuid[], %(near_other)s::uuid[], %(near_since)s::text::xid8) v
  UNION ALL
  SELECT w.list, w.unit_id, w.exact, w.distance FROM rearview_warm_vector_route_{generation}(
    %(tenant)s, %(namespace)s, %(vector)s::halfvec, %(unit_states)s::int2[], NULL, %(limit)s::int, %(exact)s::boolean,
    %(near_chinese)s::uuid[], %(near_other)s::uuid[], %(near_since)s::text::xid8) w) r) n
WHERE n.position <= %(limit)s::int
ORDER BY n.list, n.position;
