import type { BoundsColumn, CountColumn, MetricsTable } from '../scan/metrics-table.ts'
import { assertNever } from '../spec/invariant.ts'
import { compileDenseTest } from './dense-test.ts'
import type { LeafPredicate, Predicate } from './expression.ts'
import { compileTerm, isMute } from './project-predicate.ts'
import { compareLoosely, formOfType } from './value-order.ts'
import type { ValueTest } from './value-test.ts'

/** Whether a file, by its row in the table, might hold a row that matches. */
export type RowTest = (row: number) => boolean

/**
 * Compiles a filter for column metrics: the function that it gives answers false only when no row of the file can match.
 * What is absent is unknown and keeps the file: counts, bounds, columns that the file was written without (their rows read as null or
 * as an initial default). Beyond what Java's planner keeps it keeps files with NaN, counted or not counted, under `gt`, `gt-eq`, `not-eq` and
 * `not-in`, for engines that sort NaN highest, and zeros of either sign under comparisons with zero. Spec: Scan Planning.
 */
export function compileMetricsFilter(predicate: Predicate): (table: MetricsTable) => RowTest {
  const open = compileNode(predicate)
  if (open === undefined) return () => always
  return (table) => {
    const test = open(table)
    // Most rows fail here, so what is asked of each of them comes last.
    return (row) => test(row) && table.recordCount(row) > 0
  }
}

type OpenTest = (table: MetricsTable) => RowTest

const always: RowTest = () => true
const never: RowTest = () => false

/** Undefined where metrics say nothing. */
function compileNode(predicate: Predicate): OpenTest | undefined {
  switch (predicate.kind) {
    case 'true':
      return undefined
    case 'false':
      return () => never
    case 'and': {
      const children = cheapFirst(predicate.children).flatMap((child) => compileNode(child) ?? [])
      return children.length === 0 ? undefined : (table) => every(children, table)
    }
    case 'or': {
      const children = predicate.children.map(compileNode)
      const known = children.flatMap((child) => child ?? [])
      return known.length < children.length ? undefined : (table) => some(known, table)
    }
    default:
      return compileLeaf(predicate)
  }
}

/** Numbers are compared faster than texts and bytes, and a file that fails one test needs no other. */
function cheapFirst(children: readonly Predicate[]): readonly Predicate[] {
  const isCheap = (child: Predicate): boolean =>
    'term' in child && formOfType(child.term.type) === 'numeric'
  return [...children.filter(isCheap), ...children.filter((child) => !isCheap(child))]
}

function every(children: readonly OpenTest[], table: MetricsTable): RowTest {
  const tests = children.map((open) => open(table)).filter((test) => test !== always)
  const [first = always, second] = tests
  if (second === undefined) return first
  if (tests.length === 2) return (row) => first(row) && second(row)
  return (row) => {
    for (const test of tests) if (!test(row)) return false
    return true
  }
}

function some(children: readonly OpenTest[], table: MetricsTable): RowTest {
  const tests = children.map((open) => open(table))
  if (tests.includes(always)) return always
  return (row) => {
    for (const test of tests) if (test(row)) return true
    return false
  }
}

function compileLeaf(leaf: LeafPredicate): OpenTest | undefined {
  // Of structs, lists and maps no metrics are kept.
  if (leaf.term.type.kind === 'unknown' || isMute(leaf.term.transform)) return undefined
  return leaf.kind === 'unary' ? compileUnary(leaf) : compileComparison(leaf)
}

function compileUnary({
  operator,
  term,
}: Extract<LeafPredicate, { kind: 'unary' }>): OpenTest | undefined {
  return (table) => {
    const counts = table.counts(term.fieldId)
    if (counts === undefined) return always
    switch (operator) {
      case 'is-null':
        return (row) => counts.nullCount(row) !== 0
      case 'not-null':
        return (row) => !isNullOnly(counts, row)
      case 'is-nan':
        return (row) => counts.nanCount(row) !== 0 && !isNullOnly(counts, row)
      case 'not-nan':
        return (row) => !isNanOnly(counts, row)
      default:
        return assertNever(operator, 'operator')
    }
  }
}

function compileComparison(leaf: Exclude<LeafPredicate, { kind: 'unary' }>): OpenTest {
  const { fieldId, type, transform } = leaf.term
  const test = compileTerm(leaf)
  const dense = compileDenseTest(leaf)
  const mayHoldNan = type.kind === 'float' || type.kind === 'double'
  const isNanSought = mayHoldNan && test.matchesNan !== 'never'
  return (table) => {
    const counts = table.counts(fieldId)
    const bounds = table.bounds(fieldId, type)
    const isBetween = bounds === undefined ? always : betweenTest(bounds, test, dense)
    if (counts === undefined) return test.matchesNull || isNanSought ? always : isBetween
    if (test.matchesNull) {
      return (row) =>
        isBetween(row) || counts.nullCount(row) !== 0 || (isNanSought && counts.nanCount(row) !== 0)
    }
    if (isNanSought) {
      return (row) => (counts.nanCount(row) !== 0 || isBetween(row)) && !isNullOnly(counts, row)
    }
    if (mayHoldNan && transform.kind === 'identity') {
      return (row) => isBetween(row) && !isNullOnly(counts, row) && !isNanOnly(counts, row)
    }
    return (row) => isBetween(row) && !isNullOnly(counts, row)
  }
}

/** Whether a value between a file's bounds might match; `always` where no bound is there. */
function betweenTest(
  bounds: BoundsColumn,
  test: ValueTest,
  dense: ReturnType<typeof compileDenseTest>,
): RowTest {
  const fast = bounds.dense && dense(bounds.dense)
  if (fast !== undefined) return fast
  return (row) => {
    const lower = bounds.lower(row)
    const upper = bounds.upper(row)
    // Bounds in the wrong order, as of a writer that ordered bytes or UUIDs as signed, bound nothing.
    const isWrong = lower !== undefined && upper !== undefined && compareLoosely(lower, upper) > 0
    return isWrong || test.mightMatchBetween(lower, upper)
  }
}

function isNullOnly(counts: CountColumn, row: number): boolean {
  const valueCount = counts.valueCount(row)
  return valueCount >= 0 && counts.nullCount(row) === valueCount
}

function isNanOnly(counts: CountColumn, row: number): boolean {
  const valueCount = counts.valueCount(row)
  return valueCount >= 0 && counts.nanCount(row) === valueCount
}
