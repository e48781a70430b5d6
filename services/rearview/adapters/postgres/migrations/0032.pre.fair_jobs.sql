-- Tenants take turns in the job queue. A fetch takes the waiting job of the highest priority, so each job is given, when
-- it begins to wait, a priority one below the last of its tenant's that waits, yet none above the first of all that wait
-- (start-time fair queueing). The 100,000th waiting job of one tenant thus stands far behind the first of another, which
-- waits for one job of each tenant that has some; and a tenant that comes later cannot keep one back that was there before.

-- Whose worker runs a task. Each service's jobs are a queue of their own: those of a service that is down or slow, and
-- so keep their places, must not decide where the other's are put.
CREATE FUNCTION rearview_job_service(task text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN task IN ('purge', 'sweep', 'operation', 'erase_tenant') THEN 'lifecycle' ELSE 'writer' END
$$;
REVOKE ALL ON FUNCTION rearview_job_service(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_job_service(text) TO rearview_service;

-- Jobs for later stand behind all others, at the least of all priorities, until they are due (rearview_admit_due_jobs).
-- Jobs that are tried again keep their places, before the later ones of their lock, and do not count. Each index is over
-- an expression of its own: a plan could else walk one of the others, which are in the same order, through a whole backlog.
CREATE INDEX job_first_waiting ON procrastinate_jobs (rearview_job_service(queue_name), (- priority))
  WHERE status = 'todo' AND attempts = 0 AND priority > -2147483648;
CREATE INDEX job_last_of_tenant
  ON procrastinate_jobs (rearview_job_service(queue_name), (args ->> 'tenant_id'), (~ priority))
  WHERE status = 'todo' AND attempts = 0 AND priority > -2147483648;
CREATE INDEX job_for_later ON procrastinate_jobs (queue_name, scheduled_at)
  WHERE status = 'todo' AND priority = -2147483648;

-- The priority of a job that begins to wait now. Those of one lock keep their order whatever has become of the earlier
-- ones. Planned for a full queue, always: a plan made while it is empty would read all of it for every job.
CREATE FUNCTION rearview_job_priority(task text, tenant text, lock text) RETURNS integer
LANGUAGE plpgsql SET search_path = public, pg_temp SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_variable
DECLARE first_of_all integer; last_of_tenant integer; last_of_lock integer;
BEGIN
  SELECT
    (SELECT j.priority FROM procrastinate_jobs j
     WHERE rearview_job_service(j.queue_name) = rearview_job_service(task)
       AND j.status = 'todo' AND j.attempts = 0 AND j.priority > -2147483648
     ORDER BY (- j.priority) LIMIT 1),
    (SELECT j.priority FROM procrastinate_jobs j
     WHERE rearview_job_service(j.queue_name) = rearview_job_service(task) AND j.args ->> 'tenant_id' = tenant
       AND j.status = 'todo' AND j.attempts = 0 AND j.priority > -2147483648
     ORDER BY (~ j.priority) DESC LIMIT 1),
    (SELECT j.priority FROM procrastinate_jobs j
     WHERE j.lock = lock AND j.status IN ('todo', 'doing') AND j.priority > -2147483648
     ORDER BY j.priority LIMIT 1)
  INTO first_of_all, last_of_tenant, last_of_lock;
  -- LEAST passes over what is unknown. Nobody comes so far as the end; there it is first come, first served.
  RETURN greatest(least(coalesce(first_of_all, 0), last_of_tenant - 1, last_of_lock), -2147483647);
END $$;
REVOKE ALL ON FUNCTION rearview_job_priority(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_job_priority(text, text, text) TO rearview_service;

-- As before, but for the priority.
CREATE OR REPLACE FUNCTION rearview_enqueue(task text, lock text, args jsonb, run_at timestamptz DEFAULT NULL)
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
  INSERT INTO procrastinate_jobs (queue_name, task_name, lock, args, scheduled_at, priority)
  VALUES (task, task, lock, args, run_at,
          CASE WHEN run_at IS NULL THEN rearview_job_priority(task, args ->> 'tenant_id', lock) ELSE -2147483648 END)
  RETURNING id INTO job;
  IF run_at IS NULL THEN
    PERFORM pg_notify('rearview_jobs', task);
  END IF;
  RETURN job;
END $$;

-- Gives jobs for later that are due their turn among those that wait, the earliest first; returns how many they were.
CREATE FUNCTION rearview_admit_due_jobs(queues text[], p_limit integer) RETURNS integer
LANGUAGE plpgsql SET search_path = public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE due record; admitted integer := 0;
BEGIN
  FOR due IN
    SELECT j.id, j.task_name, j.args ->> 'tenant_id' AS tenant, j.lock FROM procrastinate_jobs j
    WHERE j.queue_name = ANY (queues) AND j.status = 'todo' AND j.priority = -2147483648
      AND j.scheduled_at <= now()
    ORDER BY j.scheduled_at LIMIT p_limit FOR UPDATE SKIP LOCKED
  LOOP
    UPDATE procrastinate_jobs SET priority = rearview_job_priority(due.task_name, due.tenant, due.lock) WHERE id = due.id;
    admitted := admitted + 1;
  END LOOP;
  RETURN admitted;
END $$;
REVOKE ALL ON FUNCTION rearview_admit_due_jobs(text[], integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rearview_admit_due_jobs(text[], integer) TO rearview_service;

-- What waited for later stood at -1.
UPDATE procrastinate_jobs SET priority = -2147483648
WHERE status = 'todo' AND priority = -1 AND scheduled_at IS NOT NULL;
