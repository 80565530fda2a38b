import { InvalidInputError, ValidationFailedError } from '../spec/errors.ts'
import type { Schema } from '../spec/schema.ts'
import { highestFieldId, indexSchema } from '../spec/schema-index.ts'
import { validateSchema } from '../spec/validate-schema.ts'
import { checkPartitionNames } from './bind-fields.ts'
import { sameValue } from './same-value.ts'
import type { TableMetadataDraft } from './table-metadata-draft.ts'
import { LAST_ADDED } from './table-update.ts'

/**
 * Adds a schema with the client's field ids. An equal one (whatever its id) is used again; else the id is the next
 * after the highest, never the one sent. `last-column-id` rises to the highest field id and never falls.
 */
export function addSchema(draft: TableMetadataDraft, schema: Schema): void {
  validateSchema(schema, draft.formatVersion)
  const existing = draft.schemas.find((other) => isSameSchema(other, schema))
  const lastColumnId = Math.max(draft.lastColumnId, highestFieldId(schema))
  const added = existing ?? { ...schema, schemaId: nextSchemaId(draft) }
  draft.lastAddedSchemaId = added.schemaId
  if (existing !== undefined && lastColumnId === draft.lastColumnId) return
  draft.lastColumnId = lastColumnId
  if (existing === undefined) draft.schemas = [...draft.schemas, added]
  draft.record({ action: 'add-schema', schema: added })
}

/**
 * Makes a schema current. Throws InvalidInputError for an unknown id, and when a column would carry the name of a
 * partition field of another column: no reader could bind that spec again.
 */
export function setCurrentSchema(draft: TableMetadataDraft, schemaId: number): void {
  const id = schemaId === LAST_ADDED ? draft.lastAddedSchemaId : schemaId
  if (id === undefined)
    throw new ValidationFailedError('Cannot set last added schema: no schema has been added')
  if (id === draft.currentSchemaId) return
  const schema = draft.schemas.find((other) => other.schemaId === id)
  if (schema === undefined)
    throw new InvalidInputError(`Cannot set current schema to unknown schema: ${id}`)
  const index = indexSchema(schema)
  draft.partitionSpecs.forEach((spec) => checkPartitionNames(spec.fields, index))
  draft.currentSchemaId = id
  draft.record({ action: 'set-current-schema', schemaId: id })
}

/** Removes schemas; unknown ids are ignored. Throws InvalidInputError when the current one is among them. */
export function removeSchemas(draft: TableMetadataDraft, schemaIds: readonly number[]): void {
  const removedIds = new Set(schemaIds)
  if (removedIds.has(draft.currentSchemaId))
    throw new InvalidInputError('Cannot remove the current schema')
  const kept = draft.schemas.filter(({ schemaId }) => !removedIds.has(schemaId))
  if (kept.length === draft.schemas.length) return
  draft.schemas = kept
  draft.record({ action: 'remove-schemas', schemaIds })
}

/** Whether both have the same fields and identifier fields, whatever their ids. */
export function isSameSchema(left: Schema, right: Schema): boolean {
  const leftIds = left.identifierFieldIds.toSorted((a, b) => a - b)
  const rightIds = right.identifierFieldIds.toSorted((a, b) => a - b)
  return (
    sameValue(leftIds, rightIds) &&
    sameValue(left.fields, right.fields) &&
    sameValue(left.extra, right.extra)
  )
}

function nextSchemaId(draft: TableMetadataDraft): number {
  if (draft.schemas.length === 0) return draft.currentSchemaId
  return draft.schemas.reduce((highest, { schemaId }) => Math.max(highest, schemaId), -1) + 1
}
