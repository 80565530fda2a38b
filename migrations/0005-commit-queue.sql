-- Several catalog processes on one hot table take turns: whose turn it is, and who comes next. A hint that saves wasted
-- work, never a lock: what decides is the comparison of metadata_location.
alter table catalog_table add column commit_turn text collate "C";
alter table catalog_table add column commit_next text collate "C";

-- Batches of appended files that landed, each once for as long as its row lives, whatever becomes of the snapshot.
create table append_batch (
  table_id text collate "C" not null,
  batch_id text collate "C" not null,
  request_hash text collate "C" not null,
  snapshot_id bigint not null,
  landed_at_ms bigint not null,
  expires_at_ms bigint not null,
  primary key (table_id, batch_id)
);

create index append_batch_expiry on append_batch (expires_at_ms);
