-- The door to the job queue (procrastinate, whose schema is installed before this file). Its tables hold ids only,
-- never content, so they are not keyed by tenant and are exempt from row-level security: a worker serves every tenant
-- and takes the tenant from the job. What a tenant may see of them goes through statements that name it.

GRANT SELECT, INSERT, UPDATE, DELETE ON procrastinate_jobs, procrastinate_events, procrastinate_workers,
  procrastinate_periodic_defers TO rearview_service;
GRANT USAGE, SELECT ON SEQUENCE procrastinate_jobs_id_seq, procrastinate_events_id_seq, procrastinate_workers_id_seq,
  procrastinate_periodic_defers_id_seq TO rearview_service;

-- Enqueues a job in the caller's transaction: it exists if and when that commits. Jobs of one `lock` run one at a
-- time in this order; `run_at` is the earliest start. A queue is named for its task, so that a worker fetches only
-- what it can run.
CREATE FUNCTION rearview_enqueue(task text, lock text, args jsonb, run_at timestamptz DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
#variable_conflict use_variable
DECLARE job bigint;
BEGIN
  IF jsonb_typeof(args) IS DISTINCT FROM 'object' THEN
    RAISE invalid_parameter_value USING MESSAGE = 'args must be a JSON object';
  END IF;
  IF rearview_tenant() IS NOT NULL AND args ->> 'tenant_id' IS DISTINCT FROM rearview_tenant()::text THEN
    RAISE insufficient_privilege USING MESSAGE = 'a transaction enqueues jobs of its own tenant only';
  END IF;
  INSERT INTO procrastinate_jobs (queue_name, task_name, lock, args, scheduled_at)
  VALUES (task, task, lock, args, run_at)
  RETURNING id INTO job;
  RETURN job;
END $$;
REVOKE ALL ON FUNCTION rearview_enqueue(text, text, jsonb, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_enqueue(text, text, jsonb, timestamptz) TO rearview_service;
