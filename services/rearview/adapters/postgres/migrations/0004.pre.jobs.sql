-- The door to the job queue (procrastinate, whose schema is installed before this file). Its tables hold ids only,
-- never content, so they are not keyed by tenant and are exempt from row-level security: a worker serves every tenant
-- and takes the tenant from the job. What a tenant may see of them goes through statements that name it.

GRANT SELECT, INSERT, UPDATE, DELETE ON procrastinate_jobs, procrastinate_events, procrastinate_workers,
  procrastinate_periodic_defers TO rearview_service;
GRANT USAGE, SELECT ON SEQUENCE procrastinate_jobs_id_seq, procrastinate_events_id_seq, procrastinate_workers_id_seq,
  procrastinate_periodic_defers_id_seq TO rearview_service;

-- Fetching looks for earlier jobs of the same lock. Without this index a fetch among 100,000 waiting jobs takes
-- 2.2 to 3.9 ms, with it .4 to 1.2.
CREATE INDEX job_by_lock ON procrastinate_jobs (lock, priority DESC, id) WHERE lock IS NOT NULL;
CREATE INDEX job_dead_letter ON procrastinate_jobs ((args ->> 'tenant_id'), id DESC) WHERE status = 'failed';

-- Waking the workers is rearview_enqueue's: one notification a task and transaction. procrastinate's trigger sends two
-- for every job, and a hundred thousand of them keep a worker from its work for a minute.
ALTER TABLE procrastinate_jobs DISABLE TRIGGER procrastinate_jobs_notify_queue_job_inserted_v1;

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
  -- Jobs for later stand behind all others: fetching walks jobs by priority, and with 100,000 of them in front it
  -- takes 12 to 20 ms, with them behind .4.
  INSERT INTO procrastinate_jobs (queue_name, task_name, lock, args, scheduled_at, priority)
  VALUES (task, task, lock, args, run_at, CASE WHEN run_at IS NULL THEN 0 ELSE -1 END)
  RETURNING id INTO job;
  IF run_at IS NULL THEN
    PERFORM pg_notify('rearview_jobs', task);
  END IF;
  RETURN job;
END $$;
REVOKE ALL ON FUNCTION rearview_enqueue(text, text, jsonb, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_enqueue(text, text, jsonb, timestamptz) TO rearview_service;

-- Why a job failed the last time, in words without content.
CREATE TABLE job_failure (
  tenant_id uuid NOT NULL,
  job_id    bigint NOT NULL,
  error     text NOT NULL,
  failed_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, job_id)
);
ALTER TABLE job_failure ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON job_failure TO rearview_service USING (tenant_id = (SELECT rearview_tenant()));
GRANT SELECT ON job_failure TO rearview_service;

-- What a worker says of a job that failed (or, with NULL, of one that went well after all). It knows the job, and the
-- tenant comes from the job.
CREATE FUNCTION rearview_note_job_failure(p_job bigint, p_error text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE tenant uuid;
BEGIN
  SELECT (args ->> 'tenant_id')::uuid INTO tenant FROM procrastinate_jobs WHERE id = p_job;
  IF tenant IS NULL THEN RETURN; END IF;
  IF p_error IS NULL THEN
    DELETE FROM job_failure WHERE tenant_id = tenant AND job_id = p_job;
  ELSE
    INSERT INTO job_failure AS f (tenant_id, job_id, error, failed_at) VALUES (tenant, p_job, p_error, now())
    ON CONFLICT (tenant_id, job_id) DO UPDATE SET error = excluded.error, failed_at = excluded.failed_at;
  END IF;
END $$;
REVOKE ALL ON FUNCTION rearview_note_job_failure(bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_note_job_failure(bigint, text) TO rearview_service;
