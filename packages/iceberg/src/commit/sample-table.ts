import type { Schema } from '../spec/schema.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { NestedField } from '../spec/type.ts'
import { applyCommit } from './apply-commit.ts'
import { newTableMetadata } from './new-table-metadata.ts'
import type { TableRequirement, TableUpdate } from './table-update.ts'

/** Tables and requests for the tests of this folder. */

export const SAMPLE_UUID = '9c12d441-03fe-4693-9a96-a0705ddf69c1'
export const SAMPLE_LOCATION = 'file:///warehouse/ns/t'
export const CREATED_AT_MS = 1_700_000_000_000
export const NOW_MS = CREATED_AT_MS + 60_000

export const ID_COLUMN: NestedField = { id: 1, name: 'id', required: true, type: { kind: 'long' } }
export const TS_COLUMN: NestedField = {
  id: 2,
  name: 'ts',
  required: false,
  type: { kind: 'timestamptz' },
}
export const DATA_COLUMN: NestedField = {
  id: 3,
  name: 'data',
  required: false,
  type: { kind: 'string' },
}

/** A schema with id 0 and no identifier fields. */
export function schemaOf(...fields: readonly NestedField[]): Schema {
  return { schemaId: 0, fields, identifierFieldIds: [] }
}

/** id long, ts timestamptz, data string; partitioned by day(ts); unsorted; no snapshot. */
export function sampleTable(formatVersion: 1 | 2 | 3 = 2): TableMetadata {
  return newTableMetadata(
    {
      schema: schemaOf(ID_COLUMN, TS_COLUMN, DATA_COLUMN),
      partitionSpec: { fields: [{ sourceIds: [2], name: 'ts_day', transform: { kind: 'day' } }] },
      properties: { 'format-version': String(formatVersion) },
    },
    { tableUuid: SAMPLE_UUID, location: SAMPLE_LOCATION, nowMs: CREATED_AT_MS },
  )
}

/** A snapshot as a writer of the table's version sends it, on top of what the table has. */
export function snapshotOf(
  table: TableMetadata,
  snapshotId: bigint,
  changes: Partial<Snapshot> = {},
): Snapshot {
  return {
    snapshotId,
    ...(table.currentSnapshotId === undefined ? {} : { parentSnapshotId: table.currentSnapshotId }),
    sequenceNumber: table.formatVersion === 1 ? 0n : table.lastSequenceNumber + 1n,
    timestampMs: NOW_MS,
    manifestList: `${SAMPLE_LOCATION}/metadata/snap-${snapshotId}.avro`,
    summary: { operation: 'append' },
    ...(table.nextRowId === undefined ? {} : { firstRowId: table.nextRowId, addedRows: 10n }),
    ...changes,
  }
}

/** The updates of an append to `main`. */
export function appendOf(snapshot: Snapshot): readonly TableUpdate[] {
  return [{ action: 'add-snapshot', snapshot }, setMain(snapshot.snapshotId)]
}

/** The update that points `main` at a snapshot. */
export function setMain(snapshotId: bigint): TableUpdate {
  return { action: 'set-snapshot-ref', refName: 'main', ref: { snapshotId, type: 'branch' } }
}

/** The table after these updates, at NOW_MS unless told otherwise. */
export function commit(
  table: TableMetadata,
  updates: readonly TableUpdate[],
  nowMs: number = NOW_MS,
): TableMetadata {
  return applyCommit(table, { requirements: [], updates }, { nowMs })
}

/** The table after an append of each snapshot in turn. */
export function appended(table: TableMetadata, ...snapshotIds: readonly bigint[]): TableMetadata {
  return snapshotIds.reduce((last, id) => commit(last, appendOf(snapshotOf(last, id))), table)
}

/** The table that these updates create. */
export function created(
  updates: readonly TableUpdate[],
  requirements: readonly TableRequirement[] = [{ type: 'assert-create' }],
): TableMetadata {
  return applyCommit(undefined, { requirements, updates }, { nowMs: NOW_MS })
}
