-- Where events are sent to, signed. What an operator says comes first, then how far the sending is. filter is JSON; secrets
-- are sealed with the key of the process. Everything up to feed_cursor is delivered, waits in webhook_delivery, or does not
-- pass the filter. place_version counts how often somebody else than the sender moved the cursor.
create table webhook (
  id text collate "C" primary key,
  name text collate "C" not null unique,
  url text not null,
  filter text not null,
  sealed_secret text not null,
  sealed_old_secret text,
  old_secret_until_ms bigint,
  attempts_max int not null,
  retry_for_ms bigint not null,
  version bigint not null default 0,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  paused_reason text,
  feed_cursor text collate "C" not null,
  place_version bigint not null default 0,
  lease_holder text collate "C",
  lease_until_ms bigint not null default 0,
  failure_count int not null default 0,
  failing_since_ms bigint,
  next_attempt_at_ms bigint not null default 0,
  last_failure text,
  last_failed_at_ms bigint,
  last_delivered_at_ms bigint,
  delivered_count bigint not null default 0,
  events_lost_at_ms bigint,
  test_id text collate "C",
  test_outcome text
) with (fillfactor = 70);

-- Events that a receiver did not take yet, those of the same subject behind them, and those that were given up. body is
-- what is sent, byte for byte.
create table webhook_delivery (
  webhook_id text collate "C" not null references webhook (id) on delete cascade,
  event_id text collate "C" not null,
  subject text collate "C" not null,
  event_number bigint not null,
  kind text collate "C" not null,
  body text not null,
  attempts int not null,
  first_attempt_at_ms bigint,
  next_attempt_at_ms bigint not null,
  last_failure text,
  given_up_at_ms bigint,
  primary key (webhook_id, event_id)
);

create index webhook_delivery_waiting on webhook_delivery (webhook_id, subject, event_number) where given_up_at_ms is null;
create index webhook_delivery_given_up on webhook_delivery (webhook_id, given_up_at_ms, event_id)
  where given_up_at_ms is not null;
