-- Figures for the metrics, of all tenants together. The job queue's tables hold ids only and are exempt from row-level
-- security; sizes are the database's own counts, which no policy hides and which cost nothing to read.

-- name: queue
SELECT task_name,
  count(*) FILTER (WHERE status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now())),
  count(*) FILTER (WHERE status = 'todo' AND scheduled_at > now()),
  count(*) FILTER (WHERE status = 'doing'),
  count(*) FILTER (WHERE status = 'failed'),
  min(id) FILTER (WHERE status = 'todo' AND scheduled_at IS NULL),
  -- Jobs for later, and those that are tried again.
  coalesce(extract(epoch FROM now() - min(scheduled_at) FILTER (WHERE status = 'todo' AND scheduled_at <= now())), 0)::float8
FROM procrastinate_jobs GROUP BY task_name

-- name: last_id
SELECT last_value FROM procrastinate_jobs_id_seq

-- name: stored
SELECT
  coalesce(sum(n_live_tup) FILTER (WHERE relname ~ '^search_unit_(fresh_)?[0-9]+$'), 0)::bigint AS hot_units,
  coalesce(sum(n_live_tup) FILTER (WHERE relname ~ '^search_unit_warm_[0-9]+$'), 0)::bigint AS warm_units,
  coalesce(sum(pg_total_relation_size(relid)) FILTER (WHERE relname ~ '^search_unit_(fresh_)?[0-9]+$'), 0)::bigint
    AS hot_bytes,
  coalesce(sum(pg_total_relation_size(relid)) FILTER (WHERE relname ~ '^search_unit_warm_[0-9]+$'), 0)::bigint
    AS warm_bytes,
  coalesce(sum(n_live_tup) FILTER (WHERE relname = 'cold_segment'), 0)::bigint AS cold_segments,
  -- The index holds cold memories alone.
  (SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'memory_by_segment'::regclass) AS cold_memories,
  coalesce(sum(n_live_tup) FILTER (WHERE relname = 'memory'), 0)::bigint AS memories
FROM pg_stat_user_tables WHERE schemaname = 'public'
