import { applyCommit } from '@timelake/iceberg/commit/apply-commit'
import { locationsIn } from '@timelake/iceberg/commit/introduced-locations'
import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import { mapBounded } from '@timelake/iceberg/io/map-bounded'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { invariant } from '@timelake/iceberg/spec/invariant'
import { isLocationBelow, isSameLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import type { TableRow } from '@timelake/database/table-row'
import type { Catalog } from './catalog.ts'
import type { CommitTarget, ExistingTarget, NewTarget } from './commit-target.ts'
import { checkIntroducedFiles, checkTableRoots } from './location-rules.ts'
import type { Warehouse } from './warehouse.ts'

/** What a commit does to its table; nothing of it is written yet. `hold`: it only has requirements, or changes nothing. */
export type PlannedChange =
  { readonly change: 'hold'; readonly target: ExistingTarget } | MetadataChange

/** A change that needs a metadata file. */
export type MetadataChange =
  | {
      readonly change: 'swap'
      readonly target: ExistingTarget
      readonly metadata: TableMetadata
    }
  | {
      readonly change: 'create'
      readonly target: NewTarget
      /** Of the new row. */
      readonly id: string
      readonly metadata: TableMetadata
    }

/**
 * What the commit does to what it found: each of its requests checked against, and applied to, what the one before it
 * leaves. Throws CommitFailedError and InvalidInputError.
 */
export function planChange(catalog: Catalog, target: CommitTarget): PlannedChange {
  const { nowMs, newUuid } = catalog.context
  const { requests } = target.commit
  if (target.kind === 'new') {
    const metadata = requests.reduce<TableMetadata | undefined>(
      (made, request) => applyCommit(made, request, { nowMs: nowMs() }),
      undefined,
    )
    invariant(metadata !== undefined, 'a commit to a table that is not there creates it')
    return { change: 'create', target, id: newUuid(), metadata }
  }
  const { base, row } = target
  const metadata = requests.reduce((made, request) => {
    // The file of the base enters the log with the first change; what comes between has no file.
    const logged = made === base.metadata ? { baseMetadataLocation: row.metadataLocation } : {}
    return applyCommit(made, request, { nowMs: nowMs(), ...logged })
  }, base.metadata)
  return metadata === base.metadata
    ? { change: 'hold', target }
    : { change: 'swap', target, metadata }
}

/** Look-ups of locations at one time. */
const LOCATION_CHECKS_MAX = 4

/**
 * Refuses (InvalidInputError) folders and files that the tables may not have: see `checkTableRoots` and
 * `checkIntroducedFiles`; what one commit of the set takes is not free for another.
 */
export async function checkLocations(
  catalog: Catalog,
  warehouse: Warehouse,
  changes: readonly MetadataChange[],
): Promise<void> {
  for (const { target, metadata } of changes) {
    const locations = target.commit.requests.flatMap(locationsIn)
    checkIntroducedFiles(locations, metadata, baseOf(target))
  }
  checkApart(changes)
  await mapBounded(changes, LOCATION_CHECKS_MAX, ({ target, metadata }) => {
    const base = baseOf(target)
    return checkTableRoots(catalog, warehouse, {
      metadata,
      ...(target.kind === 'existing' ? { id: target.row.id } : {}),
      ...(base === undefined ? {} : { base }),
    })
  })
}

/**
 * The same for one commit of a group, which moves no table: `base` is what the ones before it leave.
 */
export async function checkPlannedLocations(
  catalog: Catalog,
  { warehouse, row }: { readonly warehouse: Warehouse; readonly row: TableRow },
  planned: {
    readonly requests: readonly CommitRequest[]
    readonly base: TableMetadata
    readonly metadata: TableMetadata
  },
): Promise<void> {
  const { requests, base, metadata } = planned
  checkIntroducedFiles(requests.flatMap(locationsIn), metadata, base)
  await checkTableRoots(catalog, warehouse, { id: row.id, metadata, base })
}

function baseOf(target: CommitTarget): TableMetadata | undefined {
  return target.kind === 'existing' ? target.base.metadata : undefined
}

function checkApart(changes: readonly MetadataChange[]): void {
  const owned = changes.flatMap((change) =>
    tableRoots(change.metadata).map((root) => ({ change, root })),
  )
  for (const change of changes) {
    const base = baseOf(change.target)
    const known = new Set(base === undefined ? [] : tableRoots(base))
    for (const root of tableRoots(change.metadata)) {
      if (known.has(root)) continue
      const other = owned.find((one) => one.change !== change && overlaps(one.root, root))
      if (other === undefined) continue
      throw new InvalidInputError(
        `table location ${root} overlaps with the location of another table of the request: ` +
          'choose one that is neither inside nor above it',
      )
    }
  }
}

function overlaps(a: string, b: string): boolean {
  return isSameLocation(a, b) || isLocationBelow(a, b) || isLocationBelow(b, a)
}
