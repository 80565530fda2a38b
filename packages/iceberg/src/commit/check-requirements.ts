import { CommitFailedError, InvalidInputError } from '../spec/errors.ts'
import { assertNever, invariant } from '../spec/invariant.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import { snapshotRef } from './snapshot-ref.ts'
import type { CommitRequest, TableRequirement } from './table-update.ts'

/**
 * Whether the request creates its table (`assert-create`). Throws InvalidInputError when other requirements stand
 * beside that one, because they could never hold together.
 */
export function createsTable(request: CommitRequest): boolean {
  const others = request.requirements.filter(({ type }) => type !== 'assert-create')
  if (others.length === request.requirements.length) return false
  if (others.length > 0) {
    const types = others.map(({ type }) => type).join(', ')
    throw new InvalidInputError(
      `Invalid create requirements: assert-create must stand alone, got also ${types}`,
    )
  }
  return true
}

/**
 * Returns when every requirement holds for the table as it is now (`undefined`: it does not exist).
 * Throws CommitFailedError with the text that clients read, `Requirement failed: …`, for the first one that does not.
 * The caller answers "no such table" before it comes here with a missing table and anything but `assert-create`.
 */
export function checkRequirements(base: TableMetadata | undefined, request: CommitRequest): void {
  const creates = createsTable(request)
  invariant(
    base !== undefined || creates,
    'requirements of an update checked against a missing table',
  )
  if (base === undefined) return
  for (const requirement of request.requirements) {
    const failure = failureOf(base, requirement)
    if (failure !== undefined) throw new CommitFailedError(`Requirement failed: ${failure}`)
  }
}

function failureOf(base: TableMetadata, requirement: TableRequirement): string | undefined {
  switch (requirement.type) {
    case 'assert-create':
      return 'table already exists'
    case 'assert-table-uuid':
      if (requirement.uuid.toLowerCase() === base.tableUuid.toLowerCase()) return undefined
      return `UUID does not match: expected ${base.tableUuid} != ${requirement.uuid}`
    case 'assert-ref-snapshot-id':
      return refFailure(base, requirement.ref, requirement.snapshotId)
    case 'assert-last-assigned-field-id':
      return difference(
        'last assigned field id',
        requirement.lastAssignedFieldId,
        base.lastColumnId,
      )
    case 'assert-current-schema-id':
      return difference('current schema', requirement.currentSchemaId, base.currentSchemaId)
    case 'assert-last-assigned-partition-id':
      return difference(
        'last assigned partition id',
        requirement.lastAssignedPartitionId,
        base.lastPartitionId,
      )
    case 'assert-default-spec-id':
      return difference('default partition spec', requirement.defaultSpecId, base.defaultSpecId)
    case 'assert-default-sort-order-id':
      return difference(
        'default sort order',
        requirement.defaultSortOrderId,
        base.defaultSortOrderId,
      )
    default:
      return assertNever(requirement, 'table requirement')
  }
}

function difference(what: string, expectedId: number, actualId: number): string | undefined {
  return expectedId === actualId
    ? undefined
    : `${what} changed: expected id ${expectedId} != ${actualId}`
}

function refFailure(
  base: TableMetadata,
  name: string,
  expected: bigint | undefined,
): string | undefined {
  // @NOTE Some clients send -1 where the protocol has null for "must not exist"; no snapshot has that id.
  const expectedId = expected === -1n ? undefined : expected
  const ref = snapshotRef(base, name)
  if (ref?.snapshotId === expectedId) return undefined
  if (ref === undefined) return `branch or tag ${name} is missing, expected ${expectedId}`
  if (expectedId === undefined) return `${ref.type} ${name} was created concurrently`
  return `${ref.type} ${name} has changed: expected id ${expectedId} != ${ref.snapshotId}`
}
