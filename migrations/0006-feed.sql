-- The feed of events: its identity, which a lost and rebuilt database does not share with the one before, and up to where
-- its oldest events were pruned. One row, made by the first process that opens the feed.
create table event_feed (
  is_only boolean primary key check (is_only),
  id text collate "C" not null,
  pruned_transaction_id xid8 not null,
  pruned_seq bigint not null
);

-- What a commit did to each partition, as JSON: read from its manifests after the commit, and kept.
create table event_details (
  seq bigint primary key references outbox_event (seq) on delete cascade,
  details text not null
);
