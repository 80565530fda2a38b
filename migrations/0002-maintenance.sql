-- What is to be done to tables and what was done: the queue carries only identities, the truth is here.

-- One row per table and kind of job. due_at_ms is null while nothing is asked for.
create table maintenance_schedule (
  table_id text collate "C" not null,
  job_kind text collate "C" not null,
  due_at_ms bigint,
  reason text,
  pending_commits bigint not null,
  first_pending_at_ms bigint,
  last_commit_at_ms bigint,
  last_decision text,
  decided_at_ms bigint,
  primary key (table_id, job_kind)
);

create index maintenance_schedule_due on maintenance_schedule (due_at_ms) where due_at_ms is not null;

create table job_run (
  id text collate "C" primary key,
  job_kind text collate "C" not null,
  table_id text collate "C" not null,
  worker_id text collate "C" not null,
  state text collate "C" not null
    check (state in ('running', 'succeeded', 'nothing-to-do', 'skipped', 'failed', 'abandoned')),
  reason text,
  outcome text,
  started_at_ms bigint not null,
  lease_until_ms bigint not null,
  deadline_ms bigint not null,
  finished_at_ms bigint
);

-- At most one run of a kind per table.
create unique index job_run_running on job_run (table_id, job_kind) where state = 'running';
create index job_run_history on job_run (table_id, started_at_ms);

-- Objects that a run is about to write, recorded before the first byte, until it is known whether they are used.
create table job_output (
  run_id text collate "C" not null references job_run (id) on delete cascade,
  location text collate "C" not null,
  primary key (run_id, location)
);
