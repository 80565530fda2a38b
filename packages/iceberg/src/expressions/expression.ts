import type { JsonValue } from '../spec/json-value.ts'
import type { SingleValue } from '../spec/single-value.ts'
import type { Transform } from '../spec/transform.ts'
import type { PrimitiveType } from '../spec/type.ts'

export type UnaryOperator = 'is-null' | 'not-null' | 'is-nan' | 'not-nan'
export type CompareOperator =
  'lt' | 'lt-eq' | 'gt' | 'gt-eq' | 'eq' | 'not-eq' | 'starts-with' | 'not-starts-with'
export type SetOperator = 'in' | 'not-in'

/** What a predicate tests: a column by name or id, or a transform of it. */
export interface Term {
  readonly reference: { readonly name: string } | { readonly id: number }
  /** `identity` for the column itself. */
  readonly transform: Transform
}

/** A literal as it came: what it means follows from the column it is compared with. */
export interface Literal {
  readonly json: JsonValue
  /** The type that the sender gave it; only the newer grammar can. */
  readonly type?: PrimitiveType
}

/** A filter that is not tied to a schema. `and` and `or` have two children or more. Spec: Expressions. */
export type Expression =
  | { readonly kind: 'true' }
  | { readonly kind: 'false' }
  | { readonly kind: 'not'; readonly child: Expression }
  | { readonly kind: 'and' | 'or'; readonly children: readonly Expression[] }
  | { readonly kind: 'unary'; readonly operator: UnaryOperator; readonly term: Term }
  | {
      readonly kind: 'compare'
      readonly operator: CompareOperator
      readonly term: Term
      readonly literal: Literal
    }
  | {
      readonly kind: 'set'
      readonly operator: SetOperator
      readonly term: Term
      readonly literals: readonly Literal[]
    }

/** A term tied to a column of a schema. */
export interface BoundTerm {
  readonly fieldId: number
  /** Full name in the schema, for example `points.element.x`. */
  readonly name: string
  /** Of the column; `variant` for a struct, list or map, which can only be null or not. */
  readonly type: PrimitiveType
  /** Whether neither the column nor anything around it can be null. */
  readonly isRequired: boolean
  readonly transform: Transform
  /** Of the transform's values, which the literals are of. */
  readonly resultType: PrimitiveType
}

/**
 * A filter tied to a schema: without `not`, literals in the form of PartitionValue for the term's result type. `and` and
 * `or` have two children or more, none of which is of the same kind, or `true`, or `false`. Sets have two distinct literals
 * or more, in ascending order; −0 and +0 are distinct. Literals are finite.
 */
export type Predicate =
  | { readonly kind: 'true' }
  | { readonly kind: 'false' }
  | { readonly kind: 'and' | 'or'; readonly children: readonly Predicate[] }
  | LeafPredicate

export type LeafPredicate =
  | { readonly kind: 'unary'; readonly operator: UnaryOperator; readonly term: BoundTerm }
  | {
      readonly kind: 'compare'
      readonly operator: CompareOperator
      readonly term: BoundTerm
      readonly literal: SingleValue
    }
  | {
      readonly kind: 'set'
      readonly operator: SetOperator
      readonly term: BoundTerm
      readonly literals: readonly SingleValue[]
    }

export const ALWAYS_TRUE = { kind: 'true' } as const
export const ALWAYS_FALSE = { kind: 'false' } as const
