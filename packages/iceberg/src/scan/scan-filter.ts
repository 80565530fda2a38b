import type { LeafPredicate, Predicate } from '../expressions/expression.ts'
import { compileMetricsFilter } from '../expressions/metrics-filter.ts'
import { compileSpecFilter, type SpecFilter } from '../expressions/spec-filter.ts'
import { partitionType } from '../manifest/partition-type.ts'
import { schemasNewestFirst } from '../snapshot/new-snapshot.ts'
import { assertNever } from '../spec/invariant.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { MetricsTable } from './metrics-table.ts'

/** A filter made ready for all manifests of a table; immutable, so that many plans may share one. */
export interface ScanFilter {
  readonly predicate: Predicate
  /** The columns that it tests, each once. */
  readonly fieldIds: readonly number[]
  /** By spec id, of every spec of the table. */
  readonly specFilters: ReadonlyMap<number, SpecFilter>
  /** Whether a file may hold a row that matches, by its metrics. */
  readonly mightMatchFile: (table: MetricsTable) => (row: number) => boolean
}

/** Compiles a bound filter for all partition specs of a table. */
export function compileScanFilter(predicate: Predicate, metadata: TableMetadata): ScanFilter {
  const schemas = schemasNewestFirst(metadata)
  const specFilters = metadata.partitionSpecs.map((spec): [number, SpecFilter] => {
    const partition = partitionType(spec, schemas)
    return [spec.specId, compileSpecFilter(predicate, spec, { partition, schemas })]
  })
  return {
    predicate,
    fieldIds: fieldIdsOf(predicate),
    specFilters: new Map(specFilters),
    mightMatchFile: compileMetricsFilter(predicate),
  }
}

function fieldIdsOf(predicate: Predicate): number[] {
  const fieldIds = new Set<number>()
  for (const { term } of leavesOf(predicate)) fieldIds.add(term.fieldId)
  return [...fieldIds]
}

function* leavesOf(predicate: Predicate): Iterable<LeafPredicate> {
  switch (predicate.kind) {
    case 'true':
    case 'false':
      return
    case 'and':
    case 'or':
      for (const child of predicate.children) yield* leavesOf(child)
      return
    case 'unary':
    case 'compare':
    case 'set':
      yield predicate
      return
    default:
      assertNever(predicate, 'predicate')
  }
}
