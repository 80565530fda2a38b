-- Purges: when the files of a dropped table were deleted; null while they are there or nobody asked.
alter table dropped_table add column purged_at_ms bigint;
