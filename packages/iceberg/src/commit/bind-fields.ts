import { canTransform } from '../spec/apply-transform.ts'
import { InvalidInputError, ValidationFailedError } from '../spec/errors.ts'
import type { UnboundPartitionField } from '../spec/partition-spec.ts'
import type { SchemaIndex } from '../spec/schema-index.ts'
import type { SortField } from '../spec/sort-order.ts'
import { printTransform } from '../spec/transform-text.ts'
import type { IcebergType } from '../spec/type.ts'

type Named = Pick<UnboundPartitionField, 'name' | 'sourceIds'>

/**
 * Throws InvalidInputError when partition field names are empty or repeated, or when one is the name of a column that
 * is not its source. A field whose source was dropped is history and may share its name with a later column.
 */
export function checkPartitionNames(fields: readonly Named[], index: SchemaIndex): void {
  const names = new Set<string>()
  for (const { name, sourceIds } of fields) {
    if (name === '') throw new InvalidInputError('Cannot use empty partition name')
    if (names.has(name))
      throw new InvalidInputError(`Cannot use partition name more than once: ${name}`)
    names.add(name)
    const columnId = index.idsByName.get(name)
    const isLive = sourceIds.some((sourceId) => index.fieldsById.has(sourceId))
    if (columnId !== undefined && isLive && !sourceIds.includes(columnId)) {
      throw new InvalidInputError(
        `Cannot create partition ${name}: a column with another source has that name`,
      )
    }
  }
}

/**
 * Throws InvalidInputError unless every source column exists, is primitive, lies in structs only and suits the
 * transform. `void` needs no source: v1 tables keep it in the place of a dropped field. Spec: Partitioning.
 */
export function checkPartitionSources(
  fields: readonly UnboundPartitionField[],
  index: SchemaIndex,
): void {
  for (const { name, sourceIds, transform } of fields) {
    if (transform.kind === 'void') continue
    for (const sourceId of sourceIds) {
      const source = `partition field ${name}: ${printTransform(transform)}(${sourceId})`
      checkSource(index, { sourceId, transform }, source)
      checkParents(index, sourceId, source)
    }
  }
}

/** Throws InvalidInputError unless every source column exists, is primitive and suits the transform. Spec: Sorting. */
export function checkSortSources(fields: readonly SortField[], index: SchemaIndex): void {
  for (const { sourceIds, transform } of fields) {
    for (const sourceId of sourceIds) {
      checkSource(
        index,
        { sourceId, transform },
        `sort field ${printTransform(transform)}(${sourceId})`,
      )
    }
  }
}

interface SourceUse {
  readonly sourceId: number
  readonly transform: SortField['transform']
}

function checkSource(index: SchemaIndex, { sourceId, transform }: SourceUse, what: string): void {
  const type = index.fieldsById.get(sourceId)?.type
  if (type === undefined) throw new ValidationFailedError(`Cannot find source column for ${what}`)
  if (isNested(type))
    throw new InvalidInputError(`Cannot use non-primitive source column for ${what}`)
  if (!canTransform(transform, type))
    throw new InvalidInputError(`Invalid source type ${type.kind} for ${what}`)
}

function checkParents(index: SchemaIndex, sourceId: number, what: string): void {
  let parentId = index.parentsById.get(sourceId)
  while (parentId !== undefined) {
    const parent = index.fieldsById.get(parentId)?.type.kind
    if (parent !== 'struct')
      throw new InvalidInputError(`Invalid parent ${parent} of source column for ${what}`)
    parentId = index.parentsById.get(parentId)
  }
}

/** Whether a value has inner values; a variant has, too. */
function isNested({ kind }: IcebergType): boolean {
  return kind === 'struct' || kind === 'list' || kind === 'map' || kind === 'variant'
}
