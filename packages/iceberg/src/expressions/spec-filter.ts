import type { PartitionFieldSummary } from '../manifest/manifest-file.ts'
import type { PartitionType } from '../manifest/partition-type.ts'
import { assertNever } from '../spec/invariant.ts'
import type { PartitionField, PartitionSpec, PartitionValue } from '../spec/partition-spec.ts'
import { indexSchema } from '../spec/schema-index.ts'
import type { Schema } from '../spec/schema.ts'
import type { Transform } from '../spec/transform.ts'
import type { IcebergType } from '../spec/type.ts'
import type { LeafPredicate, Predicate } from './expression.ts'
import { ALWAYS_FALSE, ALWAYS_TRUE } from './expression.ts'
import type { ProjectedPredicate } from './project-predicate.ts'
import { projectPredicate } from './project-predicate.ts'
import { and, or } from './simplify.ts'
import { readSummary } from './summary-range.ts'
import type { ValueRange } from './value-test.ts'
import { mightMatchRange } from './value-test.ts'

/** A filter seen from the partitions of one spec. */
export interface SpecFilter {
  /** False only when no file of a manifest with these summaries has a row that matches. */
  mightMatchManifest(summaries: readonly PartitionFieldSummary[] | undefined): boolean
  /** False only when no row of the partition matches. Values in the form of the partition type. */
  mightMatchPartition(partition: readonly PartitionValue[]): boolean
  /**
   * What is left to ask of the rows of the partition: `true` only when its values prove that all match, `false` only when none
   * does. What they do not decide stays as it was. Spec: Scan Planning.
   */
  residual(partition: readonly PartitionValue[]): Predicate
}

export interface SpecFilterOptions {
  /** Of the spec, as partitionType gives it. */
  readonly partition: PartitionType
  /** All schemas of the table: a column that had another type may have left values that mean something else. */
  readonly schemas: readonly Schema[]
}

/**
 * Compiles a filter for the manifests and files of one spec. The guarantee holds for partition values as other writers left
 * them: times before 1970 one unit too large, values of a type that the column has no more, and NaN as a bound of a summary.
 */
export function compileSpecFilter(
  predicate: Predicate,
  spec: PartitionSpec,
  options: SpecFilterOptions,
): SpecFilter {
  const node = compileNode(predicate, spec, options)
  const types = options.partition.fields.map((field) => field.type)
  return {
    mightMatchManifest: (summaries) =>
      summaries === undefined || mightMatchSummaries(node, summaryReader(types, summaries)),
    mightMatchPartition: (partition) => mightMatchValues(node, partition),
    residual: (partition) => residualOf(node, partition),
  }
}

type Node =
  | { readonly kind: 'constant'; readonly predicate: Predicate; readonly mightMatch: boolean }
  | {
      readonly kind: 'and' | 'or'
      readonly predicate: Predicate
      readonly children: readonly Node[]
    }
  | {
      readonly kind: 'leaf'
      readonly predicate: Predicate
      readonly tests: readonly FieldTest[]
    }

/** What a predicate says of the partition value at an index. */
interface FieldTest extends ProjectedPredicate {
  readonly index: number
}

function compileNode(predicate: Predicate, spec: PartitionSpec, options: SpecFilterOptions): Node {
  switch (predicate.kind) {
    case 'true':
    case 'false':
      return { kind: 'constant', predicate, mightMatch: predicate.kind === 'true' }
    case 'and':
    case 'or': {
      const children = predicate.children.map((child) => compileNode(child, spec, options))
      const isOpen = children.every((child) => child.kind === 'constant' && child.mightMatch)
      return isOpen
        ? { kind: 'constant', predicate, mightMatch: true }
        : { kind: predicate.kind, predicate, children }
    }
    default: {
      const tests = compileLeaf(predicate, spec, options)
      return tests.length === 0
        ? { kind: 'constant', predicate, mightMatch: true }
        : { kind: 'leaf', predicate, tests }
    }
  }
}

function compileLeaf(
  leaf: LeafPredicate,
  spec: PartitionSpec,
  { partition, schemas }: SpecFilterOptions,
): FieldTest[] {
  return spec.fields.flatMap((field, index) => {
    const type = partition.fields[index]?.type
    if (!isOnlySource(field, leaf.term.fieldId) || type === undefined) return []
    const sources = [leaf.term.type, ...typesOf(leaf.term.fieldId, schemas)]
    if (type.kind === 'unknown' || !keepTheirMeaning(sources, field.transform)) return []
    const isOldDate = sources.every((source) => source.kind === 'date')
    const projected = projectPredicate(leaf, field.transform, isOldDate)
    const isSilent = projected.inclusive === undefined && projected.strict === undefined
    return isSilent ? [] : [{ index, ...projected }]
  })
}

function isOnlySource(field: PartitionField, fieldId: number): boolean {
  return field.sourceIds.length === 1 && field.sourceIds[0] === fieldId
}

function typesOf(fieldId: number, schemas: readonly Schema[]): IcebergType[] {
  return schemas.flatMap((schema) => indexSchema(schema).fieldsById.get(fieldId)?.type ?? [])
}

const DATE_TRANSFORMS: ReadonlySet<Transform['kind']> = new Set(['year', 'month', 'day'])
const DATED_KINDS: ReadonlySet<IcebergType['kind']> = new Set(['date', 'timestamp', 'timestamp_ns'])

/** Whether partition values made from a column of any of the types can be read as made from the first. */
function keepTheirMeaning(types: readonly IcebergType[], transform: Transform): boolean {
  const kinds = new Set(types.filter(({ kind }) => kind !== 'unknown').map(({ kind }) => kind))
  if (DATE_TRANSFORMS.has(transform.kind) && [...kinds].every((kind) => DATED_KINDS.has(kind))) {
    return true
  }
  const scales = new Set(types.flatMap((type) => (type.kind === 'decimal' ? type.scale : [])))
  if (scales.size > 1) return false
  const widest = [...kinds].map((kind) => WIDENED.get(kind) ?? kind)
  return new Set(widest).size <= 1
}

const WIDENED: ReadonlyMap<IcebergType['kind'], IcebergType['kind']> = new Map([
  ['int', 'long'],
  ['float', 'double'],
])

type ReadSummary = (index: number) => ValueRange | undefined

/** Reads each summary once, when it is first asked for. */
function summaryReader(
  types: readonly IcebergType[],
  summaries: readonly PartitionFieldSummary[],
): ReadSummary {
  const ranges: (ValueRange | undefined)[] = []
  return (index) => {
    const summary = summaries[index]
    const type = types[index]
    if (summary === undefined || type === undefined) return undefined
    return (ranges[index] ??= readSummary(type, summary))
  }
}

function mightMatchSummaries(node: Node, read: ReadSummary): boolean {
  switch (node.kind) {
    case 'constant':
      return node.mightMatch
    case 'and':
      return node.children.every((child) => mightMatchSummaries(child, read))
    case 'or':
      return node.children.some((child) => mightMatchSummaries(child, read))
    case 'leaf':
      return node.tests.every(({ index, inclusive }) => {
        const range = inclusive && read(index)
        return range === undefined || inclusive === undefined || mightMatchRange(inclusive, range)
      })
    default:
      return assertNever(node, 'node')
  }
}

function mightMatchValues(node: Node, partition: readonly PartitionValue[]): boolean {
  switch (node.kind) {
    case 'constant':
      return node.mightMatch
    case 'and':
      return node.children.every((child) => mightMatchValues(child, partition))
    case 'or':
      return node.children.some((child) => mightMatchValues(child, partition))
    case 'leaf':
      return node.tests.every(
        ({ index, inclusive }) => inclusive === undefined || inclusive.mightMatch(partition[index]),
      )
    default:
      return assertNever(node, 'node')
  }
}

function residualOf(node: Node, partition: readonly PartitionValue[]): Predicate {
  switch (node.kind) {
    case 'constant':
      return node.predicate
    case 'and':
      return and(node.children.map((child) => residualOf(child, partition)))
    case 'or':
      return or(node.children.map((child) => residualOf(child, partition)))
    case 'leaf':
      return leafResidual(node.tests, partition) ?? node.predicate
    default:
      return assertNever(node, 'node')
  }
}

function leafResidual(
  tests: readonly FieldTest[],
  partition: readonly PartitionValue[],
): Predicate | undefined {
  for (const { index, inclusive, strict } of tests) {
    const value = partition[index]
    if (strict?.mustMatch(value) === true) return ALWAYS_TRUE
    if (inclusive?.mightMatch(value) === false) return ALWAYS_FALSE
  }
  return undefined
}
