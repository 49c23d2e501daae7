/** Table of the jobs of graphile-worker; a database that was never served has none. */
export const JOB_TABLE = "graphile_worker._private_jobs";

/** Jobs that wait or run, as rows of `JOB_COLUMNS`. An attempt that runs does not count. */
export const JOBS_TO_COPY = `
  select task.identifier, job.payload, queue.queue_name, job.run_at,
    greatest(job.attempts - case when job.locked_at is null then 0 else 1 end, 0), job.max_attempts::integer, job.key, job.priority::integer
  from ${JOB_TABLE} job
  join graphile_worker._private_tasks task on task.id = job.task_id
  left join graphile_worker._private_job_queues queue on queue.id = job.job_queue_id`;
