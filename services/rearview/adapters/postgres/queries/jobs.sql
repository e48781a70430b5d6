-- Statements of the job workers; they work for every tenant and take the tenant from the job.

-- name: take_over
-- Jobs whose worker is gone or silent go back into the queue, or to the dead letters after their last attempt. A job
-- that kills its worker each time thus ends, too. Each is taken over by one of those who try.
WITH orphan AS (
  SELECT j.id FROM procrastinate_jobs j
  WHERE j.status = 'doing' AND j.queue_name = ANY (%(queues)s)
    AND (j.worker_id IS NULL OR EXISTS (
      SELECT FROM procrastinate_workers w
      WHERE w.id = j.worker_id AND w.last_heartbeat < now() - make_interval(secs => %(silent_seconds)s)))
  FOR UPDATE OF j SKIP LOCKED
)
UPDATE procrastinate_jobs j
SET status = (CASE WHEN j.attempts + 1 >= %(max_attempts)s THEN 'failed' ELSE 'todo' END)::procrastinate_job_status,
    attempts = j.attempts + 1, worker_id = NULL
FROM orphan WHERE j.id = orphan.id
RETURNING j.id, j.task_name, j.status = 'failed' AS dead

-- name: forget_silent_workers
DELETE FROM procrastinate_workers w
WHERE w.last_heartbeat < now() - make_interval(secs => %(silent_seconds)s)
  AND NOT EXISTS (SELECT FROM procrastinate_jobs j WHERE j.worker_id = w.id AND j.status = 'doing')

-- name: note_failure
SELECT rearview_note_job_failure(%(job)s, %(error)s)

-- name: admit_due
SELECT rearview_admit_due_jobs(%(queues)s::text[], 1000)
