import { bool, object, optional, text } from '../spec/decode.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { checkName } from './name-rules.ts'
import { decodeTableIdentifier, encodeTableIdentifier } from './table-identifier.ts'
import type { TableIdentifier } from './table-identifier.ts'

/** Spec: REST catalog, RegisterTableRequest. */
export interface RegisterTableRequest {
  readonly name: string
  readonly metadataLocation: string
  readonly overwrite: boolean
}

/** Spec: REST catalog, RenameTableRequest. */
export interface RenameTableRequest {
  readonly source: TableIdentifier
  readonly destination: TableIdentifier
}

/** What the catalog keeps of a scan or commit report. Spec: REST catalog, ReportMetricsRequest. */
export interface MetricsReport {
  /** `scan-report`, `commit-report` or any other text. */
  readonly reportType: string
  readonly body: JsonObject
}

/** Reads a register request. Throws InvalidInputError naming the member. */
export function decodeRegisterTableRequest(json: JsonValue): RegisterTableRequest {
  const raw = object(json, 'request')
  const name = text(raw['name'], 'name')
  checkName(name, 'name')
  return {
    name,
    metadataLocation: text(raw['metadata-location'], 'metadata-location'),
    overwrite: optional(raw['overwrite'], 'overwrite', bool) ?? false,
  }
}

/** The JSON form of a register request. */
export function encodeRegisterTableRequest(request: RegisterTableRequest): JsonObject {
  return {
    name: request.name,
    'metadata-location': request.metadataLocation,
    overwrite: request.overwrite,
  }
}

/** Reads a rename request. Throws InvalidInputError naming the member. */
export function decodeRenameTableRequest(json: JsonValue): RenameTableRequest {
  const raw = object(json, 'request')
  return {
    source: decodeTableIdentifier(raw['source'], 'source'),
    destination: decodeTableIdentifier(raw['destination'], 'destination'),
  }
}

/** The JSON form of a rename request. */
export function encodeRenameTableRequest(request: RenameTableRequest): JsonObject {
  return {
    source: encodeTableIdentifier(request.source),
    destination: encodeTableIdentifier(request.destination),
  }
}

/** Reads a metrics report of any type; only the type is looked at. Throws InvalidInputError without one. */
export function decodeMetricsReport(json: JsonValue): MetricsReport {
  const body = object(json, 'request')
  return { reportType: text(body['report-type'], 'report-type'), body }
}
