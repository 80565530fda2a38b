import type { DroppedTableRow } from '@timelake/database/dropped-tables'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { tableRowJson } from './table-by-id.ts'

/** How the admin routes show a dropped table: its last state, and what becomes of its files. */
export function droppedTableJson(row: DroppedTableRow): JsonObject {
  const { purgeStartedAtMs, purgedAtMs } = row
  return {
    ...tableRowJson(row),
    'dropped-ms': msJson(row.droppedAtMs),
    'can-come-back': purgeStartedAtMs === undefined && purgedAtMs === undefined,
    'purge-requested': row.purgeRequested,
    'purge-requested-ms': msJson(row.purgeRequestedAtMs),
    'purge-started-ms': msJson(purgeStartedAtMs),
    'purged-ms': msJson(purgedAtMs),
  }
}

/** Epoch milliseconds; null when it has not happened. */
export function msJson(ms: number | undefined): JsonValue {
  return ms === undefined ? null : BigInt(Math.trunc(ms))
}
