-- Plans of scans that outlive one answer: those made while the caller polls, and those whose filter is too large for plan
-- tasks that describe themselves. scan, pages and failure are JSON: what is scanned, where its pages begin and end, and why
-- there are none.
create table scan_plan (
  id text collate "C" primary key,
  warehouse_id text collate "C" not null references warehouse (id) on delete cascade,
  scan text not null,
  pages text,
  failure text,
  expires_at_ms bigint not null
);

create index scan_plan_expires_at on scan_plan (expires_at_ms);
