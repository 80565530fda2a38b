-- What the migrations add up to. Written by packages/database/src/print-schema.ts; do not edit.

create table access_grant (
  id text collate "C" not null,
  account_id text collate "C" not null,
  warehouse_id text collate "C",
  levels text collate "C" not null,
  role text collate "C" not null,
  created_at_ms bigint not null,
  constraint access_grant_check CHECK (((warehouse_id IS NOT NULL) OR (levels = ''::text))),
  constraint access_grant_role_check CHECK ((role = ANY (ARRAY['reader'::text, 'writer'::text, 'admin'::text]))),
  constraint access_grant_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint access_grant_warehouse_id_fkey FOREIGN KEY (warehouse_id) REFERENCES warehouse(id) ON DELETE CASCADE,
  constraint access_grant_pkey PRIMARY KEY (id)
);
CREATE INDEX access_grant_warehouse ON public.access_grant USING btree (warehouse_id);
CREATE UNIQUE INDEX access_grant_scope ON public.access_grant USING btree (account_id, COALESCE(warehouse_id, ''::text), levels);

create table account (
  id text collate "C" not null,
  name text collate "C" not null,
  kind text collate "C" not null,
  issuer text collate "C",
  subject text collate "C",
  description text not null,
  disabled_at_ms bigint,
  version bigint not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  constraint account_check CHECK ((((kind = 'service'::text) = (issuer IS NULL)) AND ((kind = 'service'::text) = (subject IS NULL)))),
  constraint account_kind_check CHECK ((kind = ANY (ARRAY['service'::text, 'federated'::text, 'group'::text]))),
  constraint account_pkey PRIMARY KEY (id),
  constraint account_name_key UNIQUE (name)
);
CREATE UNIQUE INDEX account_subject ON public.account USING btree (issuer, kind, subject) WHERE (issuer IS NOT NULL);

create table account_secret (
  id text collate "C" not null,
  account_id text collate "C" not null,
  hash text not null,
  created_at_ms bigint not null,
  valid_until_ms bigint,
  last_used_at_ms bigint,
  constraint account_secret_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint account_secret_pkey PRIMARY KEY (id)
);
CREATE INDEX account_secret_account ON public.account_secret USING btree (account_id);

create table append_batch (
  table_id text collate "C" not null,
  batch_id text collate "C" not null,
  request_hash text collate "C" not null,
  snapshot_id bigint not null,
  landed_at_ms bigint not null,
  expires_at_ms bigint not null,
  constraint append_batch_pkey PRIMARY KEY (table_id, batch_id)
);
CREATE INDEX append_batch_expiry ON public.append_batch USING btree (expires_at_ms);

create table audit_entry (
  seq bigint generated always as identity not null,
  at_ms bigint not null,
  caller_id text collate "C" not null,
  caller_name text not null,
  caller_kind text not null,
  action text collate "C" not null,
  outcome text collate "C" not null,
  status integer not null,
  warehouse text collate "C",
  namespace text collate "C",
  object text collate "C",
  detail text,
  remote_address text,
  constraint audit_entry_pkey PRIMARY KEY (seq)
);
CREATE INDEX audit_entry_at ON public.audit_entry USING btree (at_ms);

create table catalog_table (
  id text collate "C" not null,
  warehouse_id text collate "C" not null,
  namespace_id text collate "C" not null,
  name text collate "C" not null,
  table_uuid text collate "C" not null,
  location text collate "C" not null,
  metadata_location text collate "C" not null,
  version bigint not null,
  event_number bigint not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  kind text collate "C" not null,
  commit_turn text collate "C",
  commit_next text collate "C",
  extra_roots text collate "C" not null,
  constraint catalog_table_extra_roots_check CHECK ((extra_roots = ANY (ARRAY['unknown'::text, 'none'::text, 'some'::text]))),
  constraint catalog_table_kind_check CHECK ((kind = ANY (ARRAY['table'::text, 'view'::text]))),
  constraint catalog_table_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES namespace(id),
  constraint catalog_table_warehouse_id_fkey FOREIGN KEY (warehouse_id) REFERENCES warehouse(id),
  constraint catalog_table_pkey PRIMARY KEY (id),
  constraint catalog_table_namespace_id_name_key UNIQUE (namespace_id, name)
) with (fillfactor=70);
CREATE INDEX catalog_table_location ON public.catalog_table USING btree (warehouse_id, location);
CREATE INDEX catalog_table_unknown_roots ON public.catalog_table USING btree (id) WHERE (extra_roots = 'unknown'::text);

create table dropped_table (
  id text collate "C" not null,
  warehouse_id text collate "C" not null,
  namespace_id text collate "C" not null,
  levels text collate "C" not null,
  name text collate "C" not null,
  table_uuid text collate "C" not null,
  location text collate "C" not null,
  metadata_location text collate "C" not null,
  version bigint not null,
  event_number bigint not null,
  purge_requested boolean not null,
  dropped_at_ms bigint not null,
  purged_at_ms bigint,
  kind text collate "C" not null,
  purge_requested_at_ms bigint,
  purge_started_at_ms bigint,
  constraint dropped_table_kind_check CHECK ((kind = ANY (ARRAY['table'::text, 'view'::text]))),
  constraint dropped_table_pkey PRIMARY KEY (id)
);
CREATE INDEX dropped_table_newest ON public.dropped_table USING btree (warehouse_id, dropped_at_ms DESC, id);

create table event_details (
  seq bigint not null,
  details text not null,
  constraint event_details_seq_fkey FOREIGN KEY (seq) REFERENCES outbox_event(seq) ON DELETE CASCADE,
  constraint event_details_pkey PRIMARY KEY (seq)
);

create table event_feed (
  is_only boolean not null,
  id text collate "C" not null,
  pruned_transaction_id xid8 not null,
  pruned_seq bigint not null,
  constraint event_feed_is_only_check CHECK (is_only),
  constraint event_feed_pkey PRIMARY KEY (is_only)
);

create table idempotency_key (
  warehouse_id text collate "C" not null,
  key text collate "C" not null,
  operation text collate "C" not null,
  request_hash text collate "C" not null,
  lease_until_ms bigint not null,
  expires_at_ms bigint not null,
  status integer,
  body text,
  metadata_location text collate "C",
  constraint idempotency_key_pkey PRIMARY KEY (warehouse_id, key)
);
CREATE INDEX idempotency_key_expiry ON public.idempotency_key USING btree (expires_at_ms);

create table job_output (
  run_id text collate "C" not null,
  location text collate "C" not null,
  constraint job_output_run_id_fkey FOREIGN KEY (run_id) REFERENCES job_run(id) ON DELETE CASCADE,
  constraint job_output_pkey PRIMARY KEY (run_id, location)
);

create table job_run (
  id text collate "C" not null,
  job_kind text collate "C" not null,
  table_id text collate "C" not null,
  worker_id text collate "C" not null,
  state text collate "C" not null,
  reason text,
  outcome text,
  started_at_ms bigint not null,
  lease_until_ms bigint not null,
  deadline_ms bigint not null,
  finished_at_ms bigint,
  constraint job_run_state_check CHECK ((state = ANY (ARRAY['running'::text, 'succeeded'::text, 'nothing-to-do'::text, 'skipped'::text, 'failed'::text, 'abandoned'::text]))),
  constraint job_run_pkey PRIMARY KEY (id)
);
CREATE INDEX job_run_history ON public.job_run USING btree (table_id, started_at_ms);
CREATE UNIQUE INDEX job_run_running ON public.job_run USING btree (table_id, job_kind) WHERE (state = 'running'::text);

create table landed_commit (
  table_id text collate "C" not null,
  snapshot_id bigint not null,
  request_hash text collate "C" not null,
  metadata_location text collate "C" not null,
  landed_at_ms bigint not null,
  constraint landed_commit_pkey PRIMARY KEY (table_id, snapshot_id)
);
CREATE INDEX landed_commit_request ON public.landed_commit USING btree (table_id, request_hash);

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
  constraint maintenance_schedule_pkey PRIMARY KEY (table_id, job_kind)
);
CREATE INDEX maintenance_schedule_due ON public.maintenance_schedule USING btree (due_at_ms) WHERE (due_at_ms IS NOT NULL);

create table namespace (
  id text collate "C" not null,
  warehouse_id text collate "C" not null,
  parent_id text collate "C",
  levels text collate "C" not null,
  name text collate "C" not null,
  properties text not null,
  default_location text collate "C" not null,
  event_number bigint not null,
  created_at_ms bigint not null,
  constraint namespace_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES namespace(id),
  constraint namespace_warehouse_id_fkey FOREIGN KEY (warehouse_id) REFERENCES warehouse(id),
  constraint namespace_pkey PRIMARY KEY (id),
  constraint namespace_warehouse_id_levels_key UNIQUE (warehouse_id, levels)
);
CREATE INDEX namespace_children ON public.namespace USING btree (warehouse_id, parent_id, name);

create table outbox_event (
  seq bigint generated always as identity not null,
  event_id text collate "C" not null,
  warehouse_id text collate "C" not null,
  table_id text collate "C",
  table_uuid text collate "C",
  event_number bigint not null,
  kind text collate "C" not null,
  levels text collate "C" not null,
  name text collate "C",
  payload text not null,
  created_at_ms bigint not null,
  dispatched_at_ms bigint,
  transaction_id xid8 not null,
  constraint outbox_event_pkey PRIMARY KEY (seq)
);
CREATE INDEX outbox_event_dispatched ON public.outbox_event USING btree (dispatched_at_ms) WHERE (dispatched_at_ms IS NOT NULL);
CREATE INDEX outbox_event_order ON public.outbox_event USING btree (transaction_id, seq);
CREATE INDEX outbox_event_waiting ON public.outbox_event USING btree (seq) WHERE (dispatched_at_ms IS NULL);

create table scan_plan (
  id text collate "C" not null,
  warehouse_id text collate "C" not null,
  scan text not null,
  pages text,
  failure text,
  expires_at_ms bigint not null,
  constraint scan_plan_warehouse_id_fkey FOREIGN KEY (warehouse_id) REFERENCES warehouse(id) ON DELETE CASCADE,
  constraint scan_plan_pkey PRIMARY KEY (id)
);
CREATE INDEX scan_plan_expires_at ON public.scan_plan USING btree (expires_at_ms);

create table schema_migration (
  version integer not null,
  name text not null,
  checksum text not null,
  constraint schema_migration_pkey PRIMARY KEY (version)
);

create table server_key (
  id text collate "C" not null,
  purpose text collate "C" not null,
  key_text text not null,
  created_at_ms bigint not null,
  constraint server_key_pkey PRIMARY KEY (id)
);

create table table_root (
  table_id text collate "C" not null,
  warehouse_id text collate "C" not null,
  location text collate "C" not null,
  left_at_ms bigint,
  constraint table_root_warehouse_id_fkey FOREIGN KEY (warehouse_id) REFERENCES warehouse(id) ON DELETE CASCADE,
  constraint table_root_pkey PRIMARY KEY (table_id, location)
);
CREATE INDEX table_root_location ON public.table_root USING btree (warehouse_id, location);

create table warehouse (
  id text collate "C" not null,
  name text collate "C" not null,
  location text collate "C" not null,
  created_at_ms bigint not null,
  storage_profile text not null,
  sealed_credentials text,
  settings text not null,
  version bigint not null,
  updated_at_ms bigint not null,
  constraint warehouse_pkey PRIMARY KEY (id),
  constraint warehouse_name_key UNIQUE (name)
);

create table webhook (
  id text collate "C" not null,
  name text collate "C" not null,
  url text not null,
  filter text not null,
  sealed_secret text not null,
  sealed_old_secret text,
  old_secret_until_ms bigint,
  attempts_max integer not null,
  retry_for_ms bigint not null,
  version bigint not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  paused_reason text,
  feed_cursor text collate "C" not null,
  place_version bigint not null,
  lease_holder text collate "C",
  lease_until_ms bigint not null,
  failure_count integer not null,
  failing_since_ms bigint,
  next_attempt_at_ms bigint not null,
  last_failure text,
  last_failed_at_ms bigint,
  last_delivered_at_ms bigint,
  delivered_count bigint not null,
  events_lost_at_ms bigint,
  test_id text collate "C",
  test_outcome text,
  events_lost bigint not null,
  constraint webhook_pkey PRIMARY KEY (id),
  constraint webhook_name_key UNIQUE (name)
) with (fillfactor=70);

create table webhook_delivery (
  webhook_id text collate "C" not null,
  event_id text collate "C" not null,
  subject text collate "C" not null,
  event_number bigint not null,
  kind text collate "C" not null,
  body text not null,
  attempts integer not null,
  first_attempt_at_ms bigint,
  next_attempt_at_ms bigint not null,
  last_failure text,
  given_up_at_ms bigint,
  constraint webhook_delivery_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhook(id) ON DELETE CASCADE,
  constraint webhook_delivery_pkey PRIMARY KEY (webhook_id, event_id)
);
CREATE INDEX webhook_delivery_given_up ON public.webhook_delivery USING btree (webhook_id, given_up_at_ms, event_id) WHERE (given_up_at_ms IS NOT NULL);
CREATE INDEX webhook_delivery_waiting ON public.webhook_delivery USING btree (webhook_id, subject, event_number) WHERE (given_up_at_ms IS NULL);
