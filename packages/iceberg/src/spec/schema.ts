import type { JsonObject } from './json-value.ts'
import type { NestedField } from './type.ts'

/** One schema of a table. Spec: Schemas. */
export interface Schema {
  readonly schemaId: number
  readonly fields: readonly NestedField[]
  readonly identifierFieldIds: readonly number[]
  readonly extra?: JsonObject
}
