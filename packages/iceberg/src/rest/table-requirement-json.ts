import type { TableRequirement } from '../commit/table-update.ts'
import { int, object, text } from '../spec/decode.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { assertNever } from '../spec/invariant.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { decodeOptionalSnapshotId } from '../spec/snapshot-json.ts'

/**
 * Reads a requirement; its type is compared without regard to case. For `assert-ref-snapshot-id` a snapshot id that is
 * null, missing or −1 means that the ref must not exist. Throws InvalidInputError naming an unknown type.
 * Spec: REST catalog, TableRequirement.
 */
export function decodeTableRequirement(
  json: JsonValue | undefined,
  path: string,
): TableRequirement {
  const raw = object(json, path)
  const type = text(raw['type'], `${path}.type`)
  const number = (name: string): number => int(raw[name], `${path}.${name}`)
  switch (type.toLowerCase()) {
    case 'assert-create':
      return { type: 'assert-create' }
    case 'assert-table-uuid':
      return { type: 'assert-table-uuid', uuid: text(raw['uuid'], `${path}.uuid`) }
    case 'assert-ref-snapshot-id':
      return decodeRefRequirement(raw, path)
    case 'assert-last-assigned-field-id':
      return {
        type: 'assert-last-assigned-field-id',
        lastAssignedFieldId: number('last-assigned-field-id'),
      }
    case 'assert-current-schema-id':
      return { type: 'assert-current-schema-id', currentSchemaId: number('current-schema-id') }
    case 'assert-last-assigned-partition-id':
      return {
        type: 'assert-last-assigned-partition-id',
        lastAssignedPartitionId: number('last-assigned-partition-id'),
      }
    case 'assert-default-spec-id':
      return { type: 'assert-default-spec-id', defaultSpecId: number('default-spec-id') }
    case 'assert-default-sort-order-id':
      return {
        type: 'assert-default-sort-order-id',
        defaultSortOrderId: number('default-sort-order-id'),
      }
    default:
      throw new InvalidInputError(`unknown requirement type "${type}"`, `${path}.type`)
  }
}

/** The JSON form of a requirement. Inverse of decodeTableRequirement. */
export function encodeTableRequirement(requirement: TableRequirement): JsonObject {
  const { type } = requirement
  switch (requirement.type) {
    case 'assert-create':
      return { type }
    case 'assert-table-uuid':
      return { type, uuid: requirement.uuid }
    case 'assert-ref-snapshot-id':
      return { type, ref: requirement.ref, 'snapshot-id': requirement.snapshotId ?? null }
    case 'assert-last-assigned-field-id':
      return { type, 'last-assigned-field-id': BigInt(requirement.lastAssignedFieldId) }
    case 'assert-current-schema-id':
      return { type, 'current-schema-id': BigInt(requirement.currentSchemaId) }
    case 'assert-last-assigned-partition-id':
      return { type, 'last-assigned-partition-id': BigInt(requirement.lastAssignedPartitionId) }
    case 'assert-default-spec-id':
      return { type, 'default-spec-id': BigInt(requirement.defaultSpecId) }
    case 'assert-default-sort-order-id':
      return { type, 'default-sort-order-id': BigInt(requirement.defaultSortOrderId) }
    default:
      return assertNever(requirement, 'table requirement')
  }
}

function decodeRefRequirement(raw: JsonObject, path: string): TableRequirement {
  const ref = text(raw['ref'], `${path}.ref`)
  const snapshotId = decodeOptionalSnapshotId(raw['snapshot-id'], `${path}.snapshot-id`)
  const requirement = { type: 'assert-ref-snapshot-id', ref } as const
  return snapshotId === undefined ? requirement : { ...requirement, snapshotId }
}
