import type { JsonObject, JsonValue } from './json-value.ts'

/** Primitive types without parameters. Spec: Primitive Types; the last six exist since v3. */
export type SimpleTypeKind =
  | 'boolean'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'string'
  | 'uuid'
  | 'binary'
  | 'timestamp_ns'
  | 'timestamptz_ns'
  | 'unknown'
  | 'variant'

export type PrimitiveType =
  | { readonly kind: SimpleTypeKind }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'fixed'; readonly lengthBytes: number }
  | { readonly kind: 'geometry'; readonly crs?: string }
  | { readonly kind: 'geography'; readonly crs?: string; readonly algorithm?: string }

export interface StructType {
  readonly kind: 'struct'
  readonly fields: readonly NestedField[]
  readonly extra?: JsonObject
}

export interface ListType {
  readonly kind: 'list'
  readonly elementId: number
  readonly elementRequired: boolean
  readonly element: IcebergType
  readonly extra?: JsonObject
}

export interface MapType {
  readonly kind: 'map'
  readonly keyId: number
  readonly key: IcebergType
  readonly valueId: number
  readonly valueRequired: boolean
  readonly value: IcebergType
  readonly extra?: JsonObject
}

export type IcebergType = PrimitiveType | StructType | ListType | MapType

/** A column or a struct member. Defaults are kept in their JSON single-value form (Appendix D). */
export interface NestedField {
  readonly id: number
  readonly name: string
  readonly required: boolean
  readonly type: IcebergType
  readonly doc?: string
  readonly initialDefault?: JsonValue
  readonly writeDefault?: JsonValue
  /** Members that this version of Timelake does not know; written back as they came. */
  readonly extra?: JsonObject
}
