-- One name space for tables and views: a row of catalog_table is either.
alter table catalog_table add column kind text collate "C" not null default 'table' check (kind in ('table', 'view'));
alter table dropped_table add column kind text collate "C" not null default 'table' check (kind in ('table', 'view'));

-- Warehouses as data. Texts are JSON; credentials are sealed with the key of the process and never leave it in the clear.
alter table warehouse add column storage_profile text not null default '{"type":"file"}';
alter table warehouse add column sealed_credentials text;
alter table warehouse add column settings text not null default '{}';
alter table warehouse add column version bigint not null default 0;
alter table warehouse add column updated_at_ms bigint not null default 0;

-- A purge may be asked for later than the drop, and its grace counts from then (null: with the drop). Once it has started,
-- the table cannot come back.
alter table dropped_table add column purge_requested_at_ms bigint;
alter table dropped_table add column purge_started_at_ms bigint;
create index dropped_table_newest on dropped_table (warehouse_id, dropped_at_ms desc, id);

-- With several connections, sequence numbers become visible out of order; followers stay behind open transactions.
alter table outbox_event add column transaction_id xid8 not null default pg_current_xact_id();
create index outbox_event_order on outbox_event (transaction_id, seq);
