import { bool, object, optional, stringMap, text } from '../spec/decode.ts'
import type { Filled } from '../spec/decode.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { decodeUnboundPartitionSpec, encodePartitionSpec } from '../spec/partition-spec-json.ts'
import type { UnboundPartitionSpec } from '../spec/partition-spec.ts'
import { decodeSchema, encodeSchema } from '../spec/schema-json.ts'
import type { Schema } from '../spec/schema.ts'
import { decodeSortOrder, encodeSortOrder } from '../spec/sort-order-json.ts'
import type { SortOrder } from '../spec/sort-order.ts'
import { checkName } from './name-rules.ts'

/** Spec: REST catalog, CreateTableRequest. The ids are the client's own; the catalog assigns new ones. */
export interface CreateTableRequest {
  readonly name: string
  readonly location?: string
  readonly schema: Schema
  readonly partitionSpec?: UnboundPartitionSpec
  readonly writeOrder?: SortOrder
  readonly stageCreate: boolean
  readonly properties: Readonly<Record<string, string>>
}

/** Reads a create request. Throws InvalidInputError naming the member; the schema's rules are not checked here. */
export function decodeCreateTableRequest(json: JsonValue): CreateTableRequest {
  const raw = object(json, 'request')
  const name = text(raw['name'], 'name')
  checkName(name, 'name')
  const request: Filled<CreateTableRequest> = {
    name,
    schema: decodeSchema(raw['schema'], 'schema'),
    stageCreate: optional(raw['stage-create'], 'stage-create', bool) ?? false,
    properties: optional(raw['properties'], 'properties', stringMap) ?? {},
  }
  const location = optional(raw['location'], 'location', text)
  if (location !== undefined) request.location = location
  const partitionSpec = optional(
    raw['partition-spec'],
    'partition-spec',
    decodeUnboundPartitionSpec,
  )
  if (partitionSpec !== undefined) request.partitionSpec = partitionSpec
  const writeOrder = optional(raw['write-order'], 'write-order', decodeSortOrder)
  if (writeOrder !== undefined) request.writeOrder = writeOrder
  return request
}

/** The JSON form of a create request. Inverse of decodeCreateTableRequest. */
export function encodeCreateTableRequest(request: CreateTableRequest): JsonObject {
  return {
    name: request.name,
    location: request.location,
    schema: encodeSchema(request.schema),
    'partition-spec':
      request.partitionSpec === undefined ? undefined : encodePartitionSpec(request.partitionSpec),
    'write-order':
      request.writeOrder === undefined ? undefined : encodeSortOrder(request.writeOrder),
    'stage-create': request.stageCreate,
    properties: request.properties,
  }
}
