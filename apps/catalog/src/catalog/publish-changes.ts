import { commitTables, type RefusedSet, type TableStep } from '@timelake/database/commit-tables'
import { findLandedCommit } from '@timelake/database/landed-commits'
import { readPointers, type SettledPointer } from '@timelake/database/read-pointers'
import type { TableRow } from '@timelake/database/table-row'
import { snapshotsAdded } from '@timelake/iceberg/commit/snapshots-added'
import { invariant } from '@timelake/iceberg/spec/invariant'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { extraRoots } from '@timelake/iceberg/spec/table-roots'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import {
  CommitStateUnknownError,
  NoSuchNamespaceError,
  NoSuchTableError,
} from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { idempotencyOf, type StoredOutcome } from './mutation-scope.ts'
import { commitEventPayload } from './commit-event.ts'
import type { ExistingTarget } from './commit-target.ts'
import { deleteOldMetadata } from './delete-old-metadata.ts'
import { landedRecord } from './landed-request.ts'
import { movedRoots } from './moved-roots.ts'
import { settleChange } from './settle-change.ts'
import type { CommitSet } from './table-commit.ts'
import type { Warehouse } from './warehouse.ts'
import { discardChanges, type WrittenChange } from './write-changes.ts'
import type { WrittenMetadata } from './write-metadata.ts'

export interface Publication {
  readonly set: CommitSet
  /** At least one. */
  readonly written: readonly WrittenChange[]
  /** Tables that stay as they are and must not have moved since their requirements were checked. */
  readonly held: readonly ExistingTarget[]
}

/**
 * Moves the pointers of all tables to their written files and makes the new rows, with the events and the idempotency
 * outcome, in one transaction. `stale`: somebody else was first; the written files are deleted.
 * Throws NoSuchTableError and NoSuchNamespaceError when one is gone meanwhile, and what `settleChange` throws; the files are
 * kept only when the outcome is unknown.
 */
export async function publishChanges(
  catalog: Catalog,
  publication: Publication,
): Promise<'published' | 'stale'> {
  const { outcome, sent } = await send(catalog, publication)
  switch (outcome.outcome) {
    case 'committed':
      for (const one of sent) acknowledge(catalog, publication.set, one)
      return 'published'
    case 'stale':
    case 'exists':
      await withdraw(catalog, publication)
      return 'stale'
    case 'missing':
    case 'namespace-missing':
      await withdraw(catalog, publication)
      throw goneError(publication, outcome)
  }
}

type SetOutcome = { readonly outcome: 'committed' } | RefusedSet

/** A change and what the database was told of it. */
interface SentChange {
  readonly change: WrittenChange
  readonly step: TableStep
}

async function send(
  catalog: Catalog,
  publication: Publication,
): Promise<{ readonly outcome: SetOutcome; readonly sent: readonly SentChange[] }> {
  const { set, written } = publication
  try {
    const sent = written.map((change) => ({ change, step: stepOf(set, change) }))
    return { outcome: await settle(catalog, publication, sent), sent }
  } catch (error) {
    if (error instanceof CommitStateUnknownError) forgetPointers(catalog, publication)
    else await withdraw(catalog, publication)
    throw error
  }
}

function settle(
  catalog: Catalog,
  publication: Publication,
  sent: readonly SentChange[],
): Promise<SetOutcome> {
  const { set, held } = publication
  const { database, nowMs, reachFaultPoint } = catalog.context
  const steps = [...sent.map(({ step }) => step), ...held.map(holdOf)]
  const tables = {
    steps,
    nowMs: nowMs(),
    ...idempotencyOf(set, storedOutcome(publication)),
    betweenSteps: () => reachFaultPoint('transaction.half-swapped'),
  }
  return settleChange<SetOutcome>({
    what: 'the commit',
    send: () => commitTables(database, tables),
    isApplied: ({ outcome }) => outcome === 'committed',
    findApplied: async () =>
      (await wasPublished(catalog, publication)) ? { outcome: 'committed' } : undefined,
  })
}

/** Nothing was applied: our files go, and what we knew of the tables is not to be trusted. */
async function withdraw(catalog: Catalog, publication: Publication): Promise<void> {
  forgetPointers(catalog, publication)
  await discardChanges(catalog, publication.set.warehouse, publication.written)
}

function forgetPointers(catalog: Catalog, { set }: Publication): void {
  for (const { identifier } of set.commits) catalog.pointers.forget(set.warehouse.id, identifier)
}

function storedOutcome({ set, written: [first] }: Publication): StoredOutcome {
  if (set.answers === 'nothing' || first === undefined) return { status: 204 }
  return { status: 200, metadataLocation: first.written.loaded.location }
}

function stepOf({ warehouse, requestHash }: CommitSet, change: WrittenChange): TableStep {
  const { commit } = change.target
  const { location: next, metadata } = change.written.loaded
  const { tableUuid } = metadata
  const shared = {
    tableUuid,
    location: normalizeLocation(metadata.location),
    landed: landedRecord(commit, requestHash),
  }
  if (change.change === 'create') {
    const { namespace } = change.target
    return {
      ...shared,
      change: 'create',
      id: change.id,
      warehouseId: warehouse.id,
      namespaceId: namespace.id,
      name: commit.identifier.name,
      extraRoots: extraRoots(metadata).map((location) => ({ location })),
      metadataLocation: next,
      event: {
        kind: 'table-created',
        payload: commitEventPayload({ metadataLocation: next, metadata }),
      },
    }
  }
  const { row, base } = change.target
  const roots = movedRoots(base.metadata, metadata)
  return {
    ...shared,
    change: 'swap',
    moves: roots !== undefined,
    roots,
    tableId: row.id,
    expected: row.metadataLocation,
    next,
    event: {
      kind: 'table-committed',
      payload: commitEventPayload({
        metadataLocation: next,
        previousMetadataLocation: row.metadataLocation,
        metadata,
        addedSnapshotIds: commit.requests.flatMap(snapshotsAdded),
      }),
    },
  }
}

function holdOf({ row }: ExistingTarget): TableStep {
  return { change: 'hold', tableId: row.id, expected: row.metadataLocation }
}

function acknowledge(
  catalog: Catalog,
  { warehouse }: CommitSet,
  { change, step }: SentChange,
): void {
  if (change.change === 'create') {
    const { loaded, textBytes } = change.written
    catalog.pointers.forget(warehouse.id, change.target.commit.identifier)
    catalog.metadata.put(warehouse, loaded, textBytes)
    return
  }
  const { row, base } = change.target
  acknowledgeSwap(catalog, warehouse, { row, base, written: change.written })
  if (step.change === 'swap' && step.moves === true) catalog.pointers.forget(warehouse.id, row)
}

/** What this process knows of a table after it moved its pointer; metadata files that fell out of its log go. */
export function acknowledgeSwap(
  catalog: Catalog,
  warehouse: Warehouse,
  swap: {
    readonly row: TableRow
    readonly base: LoadedMetadata
    readonly written: WrittenMetadata
  },
): void {
  const { row, base } = swap
  const { loaded, textBytes } = swap.written
  // The old one first, or a large table would push every other table out on its way in.
  catalog.metadata.delete(warehouse, row.metadataLocation)
  catalog.metadata.put(warehouse, loaded, textBytes)
  catalog.pointers.remember({
    ...row,
    tableUuid: loaded.metadata.tableUuid,
    location: normalizeLocation(loaded.metadata.location),
    metadataLocation: loaded.location,
    version: row.version + 1n,
    commitTurn: undefined,
  })
  deleteOldMetadata(catalog, warehouse, { previous: base, current: loaded })
}

function goneError({ written, held }: Publication, { outcome, index }: RefusedSet): Error {
  const target = written[index]?.target ?? held[index - written.length]
  invariant(target !== undefined, 'a refused step is one of those that were sent')
  const { identifier } = target.commit
  return outcome === 'missing'
    ? new NoSuchTableError(identifier)
    : new NoSuchNamespaceError(identifier.levels)
}

/**
 * Whether the changes were applied by a send whose answer was lost. Their pointers, all read at one moment, tell: one at its
 * new file, or beyond it, proves that all were; one still at the old file proves that none was.
 */
async function wasPublished(catalog: Catalog, { set, written }: Publication): Promise<boolean> {
  const ids = written.map(tableIdOf)
  const pointers = await readPointers(catalog.context.database, ids)
  const signs: PointerSign[] = await Promise.all(
    written.map((change) => signOf(catalog, { set, change }, pointers.get(tableIdOf(change)))),
  )
  const [first] = written
  const isSeen = signs.some((sign) => sign !== 'elsewhere')
  if (first !== undefined && !isSeen) {
    const next = first.written.loaded.location
    const lost = { tableId: tableIdOf(first), next, requestHashes: [set.requestHash] }
    signs.push(await findTrace(catalog, lost))
  }
  const isPublished = signs.includes('moved')
  invariant(!isPublished || !signs.includes('not-moved'), 'a set of changes was applied in part')
  return isPublished
}

function tableIdOf(change: WrittenChange): string {
  return change.change === 'create' ? change.id : change.target.row.id
}

async function signOf(
  catalog: Catalog,
  { set, change }: { readonly set: CommitSet; readonly change: WrittenChange },
  pointer: SettledPointer | undefined,
): Promise<PointerSign> {
  if (change.change === 'create') return pointer === undefined ? 'not-moved' : 'moved'
  const moved = {
    expected: change.target.row.metadataLocation,
    next: change.written.loaded.location,
  }
  return signOfPointer(catalog, set.warehouse, { ...moved, pointer })
}

/** `elsewhere`: others have moved the pointer since, and it cannot be seen whether over this change or past it. */
export type PointerSign = 'moved' | 'not-moved' | 'elsewhere'

/** Where the pointer of a table is that was to move from `expected` to `next`. */
export async function pointerSign(
  catalog: Catalog,
  warehouse: Warehouse,
  swap: { readonly tableId: string; readonly expected: string; readonly next: string },
): Promise<PointerSign> {
  const pointers = await readPointers(catalog.context.database, [swap.tableId])
  return signOfPointer(catalog, warehouse, { ...swap, pointer: pointers.get(swap.tableId) })
}

/**
 * Where it is not seen whether the pointer moved over the file, what the commit left behind tells. Throws when there is
 * nothing, because traces go with their snapshots: then it cannot be told.
 */
export async function findTrace(
  catalog: Catalog,
  { tableId, next, requestHashes }: LostSwap,
): Promise<'moved'> {
  const { database } = catalog.context
  for (const requestHash of requestHashes) {
    const landed = await findLandedCommit(database, { tableId, requestHash })
    if (landed?.metadataLocation === next) return 'moved'
  }
  throw new Error(`no trace of metadata file ${next}`)
}

/** A swap whose answer was lost. */
export interface LostSwap {
  readonly tableId: string
  readonly next: string
  /** Of the commits that it was of. */
  readonly requestHashes: readonly string[]
}

async function signOfPointer(
  catalog: Catalog,
  warehouse: Warehouse,
  swap: {
    readonly expected: string
    readonly next: string
    readonly pointer: SettledPointer | undefined
  },
): Promise<PointerSign> {
  const { expected, next, pointer } = swap
  if (pointer === undefined) return 'elsewhere'
  if (pointer.metadataLocation === next) return 'moved'
  if (pointer.metadataLocation === expected) return 'not-moved'
  const { metadata } = await catalog.metadata.get(warehouse, pointer.metadataLocation)
  const isLogged = (file: string) => metadata.metadataLog.some((one) => one.metadataFile === file)
  if (isLogged(next)) return 'moved'
  // What came after the old file is in the log as well, and it is another one.
  return isLogged(expected) ? 'not-moved' : 'elsewhere'
}
