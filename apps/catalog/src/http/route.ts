import type { Buffer } from 'node:buffer'
import type { AuditSubject } from '../access/audit.ts'
import type { RouteAccess } from '../access/route-access.ts'
import type { Caller } from '../access/caller.ts'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { Warehouse } from '../catalog/warehouse.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { IdempotencySlot, StoredOutcome } from '../catalog/mutation-scope.ts'
import type { HttpAnswer, HttpRequest } from './exchange.ts'
import { parseJsonBody } from './json.ts'
import { NoSuchWarehouseError } from '../catalog/catalog-errors.ts'
import type { HttpMethod, RawParameters } from './router.ts'

/** One row of the table of routes. */
export interface Route {
  readonly method: HttpMethod
  readonly template: string
  readonly operationId: string
  readonly handle: (call: RouteCall) => Promise<HttpAnswer>
  /** Makes the answer of a finished mutation again; present exactly for routes that honour Idempotency-Key. */
  readonly replay?: (call: RouteCall, outcome: StoredOutcome) => Promise<HttpAnswer>
  /** The answer for an error, where its clients expect another shape than everywhere else. */
  readonly answerError?: (error: unknown) => HttpAnswer
  /** What it asks of its caller. */
  readonly access: RouteAccess
}

/** What a route handler gets. Path parameters and the query are raw. */
export interface RouteCall {
  readonly catalog: Catalog
  readonly caller: Caller
  readonly request: HttpRequest
  readonly parameters: RawParameters
  readonly query: string
  /** The warehouse that the prefix names; absent for routes without a prefix. */
  readonly warehouse: Warehouse | undefined
  /** The body, read before a mutation that came with an Idempotency-Key. */
  readonly body: Buffer | undefined
  readonly slot: IdempotencySlot | undefined
  /** What the audit log says that the call was about; handlers complete what the path does not say. */
  readonly subject: AuditSubject
}

/** The warehouse of a route with a prefix. */
export function warehouseOf(call: RouteCall): Warehouse {
  if (call.warehouse === undefined) throw new NoSuchWarehouseError('')
  return call.warehouse
}

/** The request body within the configured limit. */
export async function readBody(call: RouteCall): Promise<Buffer> {
  return call.body ?? call.request.readBody(call.catalog.config.bodyBytesMax)
}

/** The JSON object in the request body, an empty one when there is no body. Throws InvalidInputError, BodyTooLargeError. */
export async function readOptionalJson(call: RouteCall): Promise<JsonObject> {
  const body = await readBody(call)
  return body.length === 0 ? {} : parseJsonBody(body)
}

/** The JSON object in the request body. Throws InvalidInputError, BodyTooLargeError. */
export async function readJson(call: RouteCall): Promise<JsonObject> {
  return parseJsonBody(await readBody(call))
}
