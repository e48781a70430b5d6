-- Workers look every few seconds for running jobs whose worker died, among however many waiting ones.
CREATE INDEX job_running ON procrastinate_jobs (queue_name) WHERE status = 'doing';
