-- The rows of the catalog: what the objects of a warehouse cannot say atomically.
-- Conventions: ids are UUID texts made by the caller; times are epoch milliseconds given by the caller; texts compare
-- by code point (collation "C"), so names differ by case and by normal form, and keyset paging has one order.

create table schema_migration (
  version int primary key,
  name text not null,
  checksum text not null
);

create table warehouse (
  id text collate "C" primary key,
  name text collate "C" not null unique,
  location text collate "C" not null,
  created_at_ms bigint not null
);

-- levels holds all levels joined by U+001F, which no level may hold; name is the last of them.
-- properties is a JSON object of strings, kept as text because jsonb cannot hold every string.
create table namespace (
  id text collate "C" primary key,
  warehouse_id text collate "C" not null references warehouse (id),
  parent_id text collate "C" references namespace (id),
  levels text collate "C" not null,
  name text collate "C" not null,
  properties text not null,
  default_location text collate "C" not null,
  event_number bigint not null,
  created_at_ms bigint not null,
  unique (warehouse_id, levels)
);

create index namespace_children on namespace (warehouse_id, parent_id, name);

-- One row per live table: the pointer to its newest metadata file. version counts the metadata files it has had,
-- event_number the events, so that the events of one table are numbered without gaps.
create table catalog_table (
  id text collate "C" primary key,
  warehouse_id text collate "C" not null references warehouse (id),
  namespace_id text collate "C" not null references namespace (id),
  name text collate "C" not null,
  table_uuid text collate "C" not null,
  location text collate "C" not null,
  metadata_location text collate "C" not null,
  version bigint not null,
  event_number bigint not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  unique (namespace_id, name)
) with (fillfactor = 70);

-- Equal, containing and contained locations are found by this index: '/' sorts directly before '0'.
create index catalog_table_location on catalog_table (warehouse_id, location);

-- The last state of every dropped table, for undo, purge and audits.
create table dropped_table (
  id text collate "C" primary key,
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
  dropped_at_ms bigint not null
);

-- Snapshots that were added by a commit, with the hash of its request: the same request again is a repeat.
create table landed_commit (
  table_id text collate "C" not null,
  snapshot_id bigint not null,
  request_hash text collate "C" not null,
  metadata_location text collate "C" not null,
  landed_at_ms bigint not null,
  primary key (table_id, snapshot_id)
);

create index landed_commit_request on landed_commit (table_id, request_hash);

-- status is null while the call runs; the outcome is written in the transaction of the change.
create table idempotency_key (
  warehouse_id text collate "C" not null,
  key text collate "C" not null,
  operation text collate "C" not null,
  request_hash text collate "C" not null,
  lease_until_ms bigint not null,
  expires_at_ms bigint not null,
  status int,
  body text,
  metadata_location text collate "C",
  primary key (warehouse_id, key)
);

create index idempotency_key_expiry on idempotency_key (expires_at_ms);

-- Written in the transaction of the change that it tells of. event_id is the subject's id and its event number.
create table outbox_event (
  seq bigint generated always as identity primary key,
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
  dispatched_at_ms bigint
);

create index outbox_event_waiting on outbox_event (seq) where dispatched_at_ms is null;
create index outbox_event_dispatched on outbox_event (dispatched_at_ms) where dispatched_at_ms is not null;
