-- Folders of tables and views beside their location: where properties put data and metadata, and, with left_at_ms, those that
-- were given up but may still have live files. No other table may lie in or around one; they outlive a drop, for an undo.
create table table_root (
  table_id text collate "C" not null,
  warehouse_id text collate "C" not null references warehouse (id) on delete cascade,
  location text collate "C" not null,
  left_at_ms bigint,
  primary key (table_id, location)
);

create index table_root_location on table_root (warehouse_id, location);

-- Whether a table has such rows; 'unknown' until its metadata was looked at, as for every table that is older than this.
alter table catalog_table add column extra_roots text collate "C" not null default 'unknown'
  check (extra_roots in ('unknown', 'none', 'some'));

create index catalog_table_unknown_roots on catalog_table (id) where extra_roots = 'unknown';
