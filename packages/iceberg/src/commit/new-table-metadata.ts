import { InvalidInputError } from '../spec/errors.ts'
import type { UnboundPartitionField, UnboundPartitionSpec } from '../spec/partition-spec.ts'
import type { Schema } from '../spec/schema.ts'
import { type SortOrder, UNSORTED } from '../spec/sort-order.ts'
import {
  FORMAT_VERSION_DEFAULT,
  type FormatVersion,
  type TableMetadata,
} from '../spec/table-metadata.ts'
import { validateSchema } from '../spec/validate-schema.ts'
import { applyCommit } from './apply-commit.ts'
import { renumberColumns, type RenumberedSchema } from './renumber-columns.ts'
import { formatVersionOf } from './table-attribute-updates.ts'
import { LAST_ADDED } from './table-update.ts'

/** What Java stores in new tables, so that every writer compresses alike; the client's own value wins. */
const DEFAULT_PROPERTIES = { 'write.parquet.compression-codec': 'zstd' }

/** The members of a create request that shape the table. */
export interface NewTable {
  readonly schema: Schema
  readonly partitionSpec?: UnboundPartitionSpec
  readonly writeOrder?: SortOrder
  readonly properties: Readonly<Record<string, string>>
}

export interface NewTableContext {
  readonly tableUuid: string
  readonly location: string
  readonly nowMs: number
}

/**
 * The first metadata of a table that the server creates or stages: columns renumbered, partition and sort sources
 * rewritten to the new ids, partition fields from 1000, ids 0 and 1, the format version taken from the property
 * `format-version` (2 without one), reserved properties left out. Throws InvalidInputError for a table that breaks
 * the format's rules. Create commits (`assert-create`) do not come here: they keep the client's ids.
 */
export function newTableMetadata(table: NewTable, context: NewTableContext): TableMetadata {
  const formatVersion = formatVersionIn(table.properties)
  validateSchema(table.schema, formatVersion)
  const renumbered = renumberColumns(table.schema)
  const { fields } = table.partitionSpec ?? { fields: [] }
  const writeOrder = table.writeOrder ?? UNSORTED
  return applyCommit(
    undefined,
    {
      requirements: [{ type: 'assert-create' }],
      updates: [
        { action: 'assign-uuid', uuid: context.tableUuid },
        { action: 'upgrade-format-version', formatVersion },
        { action: 'add-schema', schema: renumbered.schema },
        { action: 'set-current-schema', schemaId: LAST_ADDED },
        {
          action: 'add-spec',
          spec: { fields: fields.map((field) => newPartitionField(field, renumbered)) },
        },
        { action: 'set-default-spec', specId: LAST_ADDED },
        {
          action: 'add-sort-order',
          sortOrder: {
            orderId: writeOrder.orderId,
            fields: writeOrder.fields.map((field) => withNewSources(field, renumbered)),
          },
        },
        { action: 'set-default-sort-order', sortOrderId: LAST_ADDED },
        { action: 'set-location', location: context.location },
        { action: 'set-properties', updates: { ...DEFAULT_PROPERTIES, ...table.properties } },
      ],
    },
    { nowMs: context.nowMs },
  )
}

function formatVersionIn(properties: Readonly<Record<string, string>>): FormatVersion {
  const text = Object.hasOwn(properties, 'format-version')
    ? properties['format-version']
    : undefined
  if (text === undefined) return FORMAT_VERSION_DEFAULT
  if (!/^\d{1,9}$/.test(text)) {
    throw new InvalidInputError(`cannot read property format-version: expected 1 to 3, got ${text}`)
  }
  return formatVersionOf(Number(text))
}

function newPartitionField(
  field: UnboundPartitionField,
  renumbered: RenumberedSchema,
): UnboundPartitionField {
  const { fieldId: _fieldId, ...unnumbered } = field
  return withNewSources(unnumbered, renumbered)
}

function withNewSources<Field extends { readonly sourceIds: readonly number[] }>(
  field: Field,
  { newIds }: RenumberedSchema,
): Field {
  const sourceIds = field.sourceIds.map((sourceId) => {
    const newId = newIds.get(sourceId)
    if (newId === undefined) throw new InvalidInputError(`Cannot find source column: ${sourceId}`)
    return newId
  })
  return { ...field, sourceIds }
}
