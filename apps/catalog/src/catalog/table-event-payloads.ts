import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { TableIdentifier } from './table-identifier.ts'

/** JSON text for `table-dropped`: what the table's last metadata was, and whether a purge was asked for. */
export function droppedPayload(metadataLocation: string, purgeRequested: boolean): string {
  return printJson({ 'metadata-location': metadataLocation, 'purge-requested': purgeRequested })
}

/** JSON text for `table-renamed`. */
export function renamedPayload(source: TableIdentifier, destination: TableIdentifier): string {
  return printJson({ source: identifierJson(source), destination: identifierJson(destination) })
}

function identifierJson({ levels, name }: TableIdentifier): JsonObject {
  return { namespace: [...levels], name }
}
