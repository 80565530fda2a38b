import { findBatches, type LandedBatch } from '@timelake/database/append-batches'
import type { AppendedBatch } from '@timelake/database/swap-many'
import type { LandedCommit } from '@timelake/database/landed-commits'
import type { TableRow } from '@timelake/database/table-row'
import { applyCommit } from '@timelake/iceberg/commit/apply-commit'
import { snapshotsAdded } from '@timelake/iceberg/commit/snapshots-added'
import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import { trimHistory } from '@timelake/iceberg/commit/trim-history'
import {
  CommitFailedError,
  CorruptFileError,
  InvalidInputError,
} from '@timelake/iceberg/spec/errors'
import { invariant } from '@timelake/iceberg/spec/invariant'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import type { Catalog } from './catalog.ts'
import type { GroupDraft } from './group-draft.ts'
import type { AppendAsk, GroupMember, RequestAsk } from './group-member.ts'
import { hasLanded, isResultOf, landedRecord } from './landed-request.ts'
import { checkPlannedLocations } from './plan-changes.ts'
import { planAppends } from './plan-appends.ts'
import type { AppendVerdict } from './append-intent.ts'
import { rebaseRequest } from './rebase-request.ts'
import type { Warehouse } from './warehouse.ts'

/** The table of a group as it was found. */
export interface GroupTable {
  readonly warehouse: Warehouse
  readonly row: TableRow
  readonly base: LoadedMetadata
}

/** One event of the group: a commit, or the appends that share a snapshot. */
export interface GroupChange {
  readonly members: readonly GroupMember[]
  /** The table right after it. */
  readonly metadata: TableMetadata
  readonly addedSnapshotIds: readonly bigint[]
  readonly landed: LandedCommit | undefined
  readonly batches: readonly AppendedBatch[]
}

/**
 * What becomes of a member. `kept`: the table has what it wants already. `isOnBase`: said of the stored table, whatever
 * becomes of the others of the group.
 */
export type MemberVerdict =
  | { readonly outcome: 'changes'; readonly append?: AppendVerdict }
  | { readonly outcome: 'kept'; readonly isOnBase: boolean; readonly append?: AppendVerdict }
  | { readonly outcome: 'refused'; readonly isOnBase: boolean; readonly error: unknown }

export interface GroupPlan {
  readonly draft: GroupDraft
  /** None: there is nothing to write. */
  readonly changes: readonly GroupChange[]
  readonly verdicts: ReadonlyMap<GroupMember, MemberVerdict>
}

/**
 * What the members make of the table, each judged on what the ones before it leave; a refused one leaves it as it was.
 * Reads what rebasing and appending need of the table's manifests. Throws only what the database throws.
 */
export async function planGroup(
  catalog: Catalog,
  table: GroupTable,
  members: readonly GroupMember[],
): Promise<GroupPlan> {
  const planner = new GroupPlanner(catalog, table)
  for (const run of runsOf(members)) {
    if (run.kind === 'request') await planner.addRequest(run.member, run.ask)
    else await planner.addAppends(run.appends)
  }
  return planner.finish()
}

interface Append {
  readonly member: GroupMember
  readonly ask: AppendAsk
}

type Run =
  | { readonly kind: 'request'; readonly member: GroupMember; readonly ask: RequestAsk }
  | { readonly kind: 'appends'; readonly appends: Append[] }

/** Appends to one branch that follow each other share a snapshot. */
function runsOf(members: readonly GroupMember[]): Run[] {
  const runs: Run[] = []
  for (const member of members) {
    const { ask } = member
    if (ask.kind === 'request') {
      runs.push({ kind: 'request', member, ask })
      continue
    }
    const last = runs.at(-1)
    const isSame =
      last?.kind === 'appends' && last.appends[0]?.ask.intent.branch === ask.intent.branch
    if (isSame) last.appends.push({ member, ask })
    else runs.push({ kind: 'appends', appends: [{ member, ask }] })
  }
  return runs
}

class GroupPlanner {
  readonly #catalog: Catalog
  readonly #table: GroupTable
  readonly #changes: GroupChange[] = []
  readonly #verdicts = new Map<GroupMember, MemberVerdict>()
  readonly #hashes = new Set<string>()
  readonly #batches = new Map<string, LandedBatch>()
  #draft: GroupDraft

  constructor(catalog: Catalog, table: GroupTable) {
    this.#catalog = catalog
    this.#table = table
    this.#draft = { metadata: table.base.metadata, files: [], manifestLists: new Map() }
  }

  async addRequest(member: GroupMember, ask: RequestAsk): Promise<void> {
    try {
      if (await this.#isRepetition(member, ask)) return this.#keep(member)
      const before = this.#draft.metadata
      const applied = await this.#apply(ask)
      if (applied.metadata === before) return this.#keep(member)
      await checkPlannedLocations(this.#catalog, this.#table, {
        requests: ask.requests,
        base: before,
        metadata: applied.metadata,
      })
      this.#draft = applied
      this.#hashes.add(ask.requestHash)
      const commit = { identifier: member.identifier, requests: ask.requests }
      this.#change({
        members: [member],
        addedSnapshotIds: ask.requests.flatMap(snapshotsAdded),
        landed: landedRecord(commit, ask.requestHash, this.#changes.length),
        batches: [],
      })
      this.#verdicts.set(member, { outcome: 'changes' })
    } catch (error) {
      await this.#refuseUnlessResult(member, ask, error)
    }
  }

  async addAppends(appends: readonly Append[]): Promise<void> {
    const { database } = this.#catalog.context
    const { row, warehouse } = this.#table
    const intents = appends.map(({ ask }) => ask.intent)
    const batchIds = intents.map(({ batchId }) => batchId)
    const known = await findBatches(database, { tableId: row.id, batchIds })
    try {
      const batches = new Map([...known, ...this.#batches])
      const ask = { warehouse, row, draft: this.#draft, intents, batches }
      const planned = await planAppends(this.#catalog, ask)
      this.#takeAppends(appends, planned)
    } catch (error) {
      if (!isRefusal(error)) throw error
      for (const { member } of appends) this.#refuse(member, error)
    }
  }

  finish(): GroupPlan {
    const last = this.#changes.at(-1)
    if (last === undefined) return this.#plan()
    const addedIds = this.#changes.flatMap(({ addedSnapshotIds }) => addedSnapshotIds)
    const nowMs = this.#catalog.context.nowMs()
    const trimmed = trimHistory(this.#draft.metadata, { nowMs, addedIds })
    if (trimmed.trimmed.length > 0) {
      this.#draft = { ...this.#draft, metadata: trimmed.metadata }
      const gone = trimmed.trimmed.map(({ snapshotId }) => snapshotId)
      const landed = last.landed ?? { requestHash: '', snapshotIds: [], forgetSnapshotIds: [] }
      const forgetSnapshotIds = [...landed.forgetSnapshotIds, ...gone]
      this.#changes[this.#changes.length - 1] = {
        ...last,
        landed: { ...landed, forgetSnapshotIds },
      }
    }
    return this.#plan()
  }

  #plan(): GroupPlan {
    return { draft: this.#draft, changes: this.#changes, verdicts: this.#verdicts }
  }

  /** The same request landed earlier, or stands in front in this group. */
  async #isRepetition(member: GroupMember, ask: RequestAsk): Promise<boolean> {
    if (this.#hashes.has(ask.requestHash)) return true
    const { row, base } = this.#table
    const commit = { identifier: member.identifier, requests: ask.requests }
    return hasLanded(this.#catalog, { kind: 'existing', commit, row, base }, ask.requestHash)
  }

  async #apply({ requests, isRebaseAsked }: RequestAsk): Promise<GroupDraft> {
    let draft = this.#draft
    for (const request of requests) draft = await this.#applyOne(draft, request, isRebaseAsked)
    return draft
  }

  async #applyOne(
    draft: GroupDraft,
    request: CommitRequest,
    isAsked: boolean,
  ): Promise<GroupDraft> {
    try {
      return { ...draft, metadata: this.#applied(draft.metadata, request) }
    } catch (error) {
      if (!(error instanceof Error) || !mayRebase(error, draft, request)) throw error
      const { warehouse } = this.#table
      const answer = await rebaseRequest(this.#catalog, { warehouse, draft, request, isAsked })
      switch (answer.outcome) {
        case 'not-asked':
          throw error
        case 'refused':
          throw new CommitFailedError(`${error.message} (not rebased: ${answer.reason})`)
        case 'rebased':
          return this.#withFiles(
            { ...draft, metadata: this.#applied(draft.metadata, answer.request) },
            answer,
          )
      }
    }
  }

  #applied(before: TableMetadata, request: CommitRequest): TableMetadata {
    // The file of the base enters the log with the first change; what comes between has no file.
    const isFirst = before === this.#table.base.metadata
    const logged = isFirst ? { baseMetadataLocation: this.#table.row.metadataLocation } : {}
    return applyCommit(before, request, { nowMs: this.#catalog.context.nowMs(), ...logged })
  }

  #withFiles(
    draft: GroupDraft,
    { files, manifestLists }: Pick<GroupDraft, 'files' | 'manifestLists'>,
  ): GroupDraft {
    return {
      metadata: draft.metadata,
      files: [...draft.files, ...files],
      manifestLists: new Map([...draft.manifestLists, ...manifestLists]),
    }
  }

  #takeAppends(appends: readonly Append[], planned: Awaited<ReturnType<typeof planAppends>>): void {
    const added: GroupMember[] = []
    // What is said of one of them may rest on another one that is not in the table yet.
    const isOnBase = this.#changes.length === 0 && planned.request === undefined
    appends.forEach(({ member }, index) => {
      const verdict = planned.verdicts[index]
      invariant(verdict !== undefined, 'every append of a group gets a verdict')
      if (verdict.outcome === 'refused') {
        this.#verdicts.set(member, { outcome: 'refused', isOnBase, error: verdict.error })
      } else if (verdict.outcome === 'landed-before') {
        this.#verdicts.set(member, { outcome: 'kept', isOnBase, append: verdict })
      } else {
        added.push(member)
        this.#verdicts.set(member, { outcome: 'changes', append: verdict })
      }
    })
    if (planned.request === undefined) return
    const metadata = this.#applied(this.#draft.metadata, planned.request)
    this.#draft = this.#withFiles({ ...this.#draft, metadata }, planned)
    for (const batch of planned.landed) this.#batches.set(batch.batchId, batch)
    this.#change({
      members: added,
      addedSnapshotIds: snapshotsAdded(planned.request),
      landed: undefined,
      batches: planned.landed,
    })
  }

  #change(change: Omit<GroupChange, 'metadata'>): void {
    this.#changes.push({ ...change, metadata: this.#draft.metadata })
  }

  #keep(member: GroupMember): void {
    this.#verdicts.set(member, { outcome: 'kept', isOnBase: this.#changes.length === 0 })
  }

  #refuse(member: GroupMember, error: unknown): void {
    const isOnBase = this.#changes.length === 0
    this.#verdicts.set(member, { outcome: 'refused', isOnBase, error })
  }

  /** A requirement that fails because this very request is what made the table as it is was met before. */
  async #refuseUnlessResult(member: GroupMember, ask: RequestAsk, error: unknown): Promise<void> {
    if (!isRefusal(error)) throw error
    const addsNothing = ask.requests.every((request) => snapshotsAdded(request).length === 0)
    const { row } = this.#table
    const isResult =
      error instanceof CommitFailedError &&
      addsNothing &&
      this.#changes.length === 0 &&
      (await isResultOf(this.#catalog, row, ask.requestHash))
    if (isResult) this.#keep(member)
    else this.#refuse(member, error)
  }
}

/** A stale state, also one that was of an older format version, in which snapshots have no row ids. */
function mayRebase(error: Error, { metadata }: GroupDraft, { updates }: CommitRequest): boolean {
  if (error instanceof CommitFailedError) return true
  const lacksRowIds = updates.some(
    (update) => update.action === 'add-snapshot' && update.snapshot.firstRowId === undefined,
  )
  return error instanceof InvalidInputError && metadata.formatVersion === 3 && lacksRowIds
}

/** What is wrong with one member, and not with the world. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof CommitFailedError ||
    error instanceof InvalidInputError ||
    error instanceof CorruptFileError
  )
}
