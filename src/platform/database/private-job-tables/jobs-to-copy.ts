/** graphile-worker's table of jobs; missing in a database that was never used by a server. */
export const JOB_TABLE = "graphile_worker._private_jobs";

/** Waiting and running jobs, as rows of `JOB_COLUMNS`. A running attempt is not counted. */
export const JOBS_TO_COPY = `
  select task.identifier, job.payload, queue.queue_name, job.run_at,
    greatest(job.attempts - case when job.locked_at is null then 0 else 1 end, 0), job.max_attempts::integer, job.key, job.priority::integer
  from ${JOB_TABLE} job
  join graphile_worker._private_tasks task on task.id = job.task_id
  left join graphile_worker._private_job_queues queue on queue.id = job.job_queue_id`;
