-- Who may ask, beside the operator. A service account has secrets of its own; a federated one stands for one subject of an
-- identity provider and a group for everybody whose tokens name it. Names are unique, and the client ids of service accounts.
create table account (
  id text collate "C" primary key,
  name text collate "C" not null unique,
  kind text collate "C" not null check (kind in ('service', 'federated', 'group')),
  issuer text collate "C",
  subject text collate "C",
  description text not null,
  disabled_at_ms bigint,
  version bigint not null default 0,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  check ((kind = 'service') = (issuer is null) and (kind = 'service') = (subject is null))
);

create unique index account_subject on account (issuer, kind, subject) where issuer is not null;

-- Hashes of secrets. Beside the newest one, an earlier one may be valid until its time is over.
create table account_secret (
  id text collate "C" primary key,
  account_id text collate "C" not null references account (id) on delete cascade,
  hash text not null,
  created_at_ms bigint not null,
  valid_until_ms bigint,
  last_used_at_ms bigint
);

create index account_secret_account on account_secret (account_id);

-- What an account may do: everywhere (without a warehouse), in a warehouse (without levels), or in a namespace and what is
-- below it. levels is spelled as in namespace; the namespace need not exist.
create table access_grant (
  id text collate "C" primary key,
  account_id text collate "C" not null references account (id) on delete cascade,
  warehouse_id text collate "C" references warehouse (id) on delete cascade,
  levels text collate "C" not null,
  role text collate "C" not null check (role in ('reader', 'writer', 'admin')),
  created_at_ms bigint not null,
  check (warehouse_id is not null or levels = '')
);

create unique index access_grant_scope on access_grant (account_id, (coalesce(warehouse_id, '')), levels);
create index access_grant_warehouse on access_grant (warehouse_id);

-- Who did what, was given access to what, and was refused what. warehouse is a name: it says what it was called then.
create table audit_entry (
  seq bigint generated always as identity primary key,
  at_ms bigint not null,
  caller_id text collate "C" not null,
  caller_name text not null,
  caller_kind text not null,
  action text collate "C" not null,
  outcome text collate "C" not null,
  status int not null,
  warehouse text collate "C",
  namespace text collate "C",
  object text collate "C",
  detail text,
  remote_address text
);

create index audit_entry_at on audit_entry (at_ms);

-- Keys that all processes of one database share, for what they sign for each other. key_text is sealed where the process
-- that made it has a key to seal with.
create table server_key (
  id text collate "C" primary key,
  purpose text collate "C" not null,
  key_text text not null,
  created_at_ms bigint not null
);
