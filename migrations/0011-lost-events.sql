-- Events that went from the feed before a webhook had sent them.
alter table webhook add column events_lost bigint not null default 0;
