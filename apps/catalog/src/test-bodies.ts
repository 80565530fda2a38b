import type { JsonObject } from '@timelake/iceberg/spec/json-value'

/** A schema of two columns; a create renumbers its ids to 1 and 2. */
export const SCHEMA: JsonObject = {
  type: 'struct',
  'schema-id': 0n,
  fields: [
    { id: 10n, name: 'ts', required: true, type: 'timestamptz' },
    { id: 20n, name: 'value', required: false, type: 'double' },
  ],
}

/** The requirements and updates of an append, as clients send them; the manifest list is never opened. */
export function appendBody(snapshot: {
  readonly id: bigint
  readonly parent?: bigint
  readonly sequenceNumber: bigint
  readonly location: string
  readonly timestampMs?: bigint
}): JsonObject {
  const { id, parent, sequenceNumber, location } = snapshot
  return {
    requirements: [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': parent ?? null }],
    updates: [
      {
        action: 'add-snapshot',
        snapshot: {
          'snapshot-id': id,
          'parent-snapshot-id': parent,
          'sequence-number': sequenceNumber,
          'timestamp-ms': snapshot.timestampMs ?? 1_700_000_000_000n,
          'manifest-list': `${location}/metadata/snap-${id}.avro`,
          summary: { operation: 'append', 'added-records': '1' },
          'schema-id': 0n,
        },
      },
      { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': id },
    ],
  }
}

/** A create commit (`assert-create`) with the ids of the client. */
export function createCommitBody(table: {
  readonly uuid: string
  readonly location: string
  readonly more?: readonly JsonObject[]
}): JsonObject {
  return {
    requirements: [{ type: 'assert-create' }],
    updates: [
      { action: 'assign-uuid', uuid: table.uuid },
      { action: 'upgrade-format-version', 'format-version': 2n },
      { action: 'add-schema', schema: SCHEMA, 'last-column-id': 20n },
      { action: 'set-current-schema', 'schema-id': -1n },
      { action: 'add-spec', spec: { 'spec-id': 0n, fields: [] } },
      { action: 'set-default-spec', 'spec-id': -1n },
      { action: 'add-sort-order', 'sort-order': { 'order-id': 0n, fields: [] } },
      { action: 'set-default-sort-order', 'sort-order-id': -1n },
      { action: 'set-location', location: table.location },
      { action: 'set-properties', updates: { owner: 'test' } },
      ...(table.more ?? []),
    ],
  }
}
