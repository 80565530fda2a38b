import { InvalidInputError, ValidationFailedError } from '../spec/errors.ts'
import {
  PARTITION_FIELD_ID_BEFORE_FIRST,
  type PartitionField,
  type PartitionSpec,
  type UnboundPartitionField,
} from '../spec/partition-spec.ts'
import { indexSchema } from '../spec/schema-index.ts'
import { printTransform } from '../spec/transform-text.ts'
import { checkPartitionNames, checkPartitionSources } from './bind-fields.ts'
import type { TableMetadataDraft } from './table-metadata-draft.ts'
import { LAST_ADDED } from './table-update.ts'

const PARTITION_FIELD_ID_FIRST = PARTITION_FIELD_ID_BEFORE_FIRST + 1

/**
 * Adds a partition spec, bound to the schema that is current at this point of the request. A spec with the same
 * fields in the same order is used again; else its id is the next after the highest, never the one sent. A field
 * without an id gets that of an equal field (source and transform) of an older spec, or the next free one; in v1
 * ids go by position from 1000, as they do wherever v1 writes them. Spec: Partition Evolution.
 */
export function addSpec(draft: TableMetadataDraft, fields: readonly UnboundPartitionField[]): void {
  const index = indexSchema(draft.currentSchema)
  checkPartitionNames(fields, index)
  checkPartitionSources(fields, index)
  const existing = draft.partitionSpecs.find((spec) => hasSameFields(spec.fields, fields))
  if (existing !== undefined) {
    draft.lastAddedSpecId = existing.specId
    return
  }
  const spec = { specId: nextSpecId(draft), fields: withFieldIds(draft, fields) }
  checkFieldIds(draft, spec.fields)
  draft.partitionSpecs = [...draft.partitionSpecs, spec]
  draft.lastPartitionId = highestId(draft.lastPartitionId, spec.fields)
  draft.lastAddedSpecId = spec.specId
  draft.record({ action: 'add-spec', spec })
}

/** Makes a partition spec the default of new files. Throws InvalidInputError for an unknown id. */
export function setDefaultSpec(draft: TableMetadataDraft, specId: number): void {
  const id = specId === LAST_ADDED ? draft.lastAddedSpecId : specId
  if (id === undefined)
    throw new ValidationFailedError('Cannot set last added spec: no spec has been added')
  if (id === draft.defaultSpecId) return
  if (!draft.partitionSpecs.some((spec) => spec.specId === id)) {
    throw new InvalidInputError(`Cannot set default spec to unknown spec: ${id}`)
  }
  draft.defaultSpecId = id
  draft.record({ action: 'set-default-spec', specId: id })
}

/** Removes partition specs; unknown ids are ignored. Throws InvalidInputError when the default is among them. */
export function removePartitionSpecs(draft: TableMetadataDraft, specIds: readonly number[]): void {
  const removedIds = new Set(specIds)
  if (removedIds.has(draft.defaultSpecId))
    throw new InvalidInputError('Cannot remove the default partition spec')
  const kept = draft.partitionSpecs.filter(({ specId }) => !removedIds.has(specId))
  if (kept.length === draft.partitionSpecs.length) return
  draft.partitionSpecs = kept
  draft.record({ action: 'remove-partition-specs', specIds })
}

/** Throws InvalidInputError unless the default spec exists and can be bound to the current schema. */
export function checkDefaultSpec(draft: TableMetadataDraft): void {
  const spec = draft.partitionSpecs.find(({ specId }) => specId === draft.defaultSpecId)
  if (spec === undefined)
    throw new InvalidInputError(`Cannot find default partition spec: ${draft.defaultSpecId}`)
  checkPartitionSources(spec.fields, indexSchema(draft.currentSchema))
}

function hasSameFields(
  left: readonly PartitionField[],
  right: readonly UnboundPartitionField[],
): boolean {
  if (left.length !== right.length) return false
  return left.every((field, position) => {
    const other = right[position]
    return other !== undefined && field.name === other.name && fieldKey(field) === fieldKey(other)
  })
}

function fieldKey({
  sourceIds,
  transform,
}: Pick<PartitionField, 'sourceIds' | 'transform'>): string {
  return `${sourceIds.join(',')} ${printTransform(transform)}`
}

function nextSpecId(draft: TableMetadataDraft): number {
  return draft.partitionSpecs.reduce((highest, { specId }) => Math.max(highest, specId), -1) + 1
}

function withFieldIds(
  draft: TableMetadataDraft,
  fields: readonly UnboundPartitionField[],
): readonly PartitionField[] {
  if (draft.formatVersion === 1) {
    return fields.map((field, position) => ({
      ...field,
      fieldId: field.fieldId ?? PARTITION_FIELD_ID_FIRST + position,
    }))
  }
  const earlierIds = fieldIdsByKey(draft.partitionSpecs)
  const takenIds = new Set(fields.map(({ fieldId }) => fieldId))
  let lastId = highestId(draft.lastPartitionId, fields)
  return fields.map((field) => {
    if (field.fieldId !== undefined) return { ...field, fieldId: field.fieldId }
    const earlierId = earlierIds.get(fieldKey(field))
    const fieldId = earlierId === undefined || takenIds.has(earlierId) ? (lastId += 1) : earlierId
    takenIds.add(fieldId)
    return { ...field, fieldId }
  })
}

function fieldIdsByKey(specs: readonly PartitionSpec[]): ReadonlyMap<string, number> {
  const ids = new Map<string, number>()
  for (const field of specs.flatMap((spec) => spec.fields)) {
    const key = fieldKey(field)
    ids.set(key, Math.max(ids.get(key) ?? field.fieldId, field.fieldId))
  }
  return ids
}

function checkFieldIds(draft: TableMetadataDraft, fields: readonly PartitionField[]): void {
  const ids = fields.map(({ fieldId }) => fieldId)
  if (new Set(ids).size < ids.length)
    throw new InvalidInputError('Cannot use partition field id more than once')
  const isSequential = ids.every((id, position) => id === PARTITION_FIELD_ID_FIRST + position)
  if (draft.formatVersion === 1 && !isSequential) {
    throw new InvalidInputError(
      `Spec does not use sequential IDs that are required in v1: ${ids.join(', ')} (first ${PARTITION_FIELD_ID_FIRST})`,
    )
  }
}

function highestId(atLeast: number, fields: readonly UnboundPartitionField[]): number {
  return fields.reduce((highest, { fieldId }) => Math.max(highest, fieldId ?? highest), atLeast)
}
