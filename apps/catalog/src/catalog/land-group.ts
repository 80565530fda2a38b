import { IdempotencyKeyLostError } from '@timelake/database/database-errors'
import type { SwapVerdict } from '@timelake/database/swap-many'
import { CommitFailedError } from '@timelake/iceberg/spec/errors'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import { CommitStateUnknownError, NoSuchTableError, NotAppliedError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { findAnyRow } from './find-row.ts'
import type { GroupMember } from './group-member.ts'
import { planGroup, type GroupPlan, type GroupTable } from './plan-group.ts'
import { acknowledgeGroup, publishGroup, type GroupPublication } from './publish-group.ts'
import { identifierKey } from './table-identifier.ts'
import { discardGroup, writeGroup } from './write-group.ts'

/**
 * Lands commits of one table that waited at the same moment: each is checked on what the ones before it leave, all that pass
 * share one metadata file and one swap, and every caller gets its own answer. A lost race with another process is tried
 * again on the new state, requirements included, when it is this process's turn. Never rejects: the members learn what
 * became of them, with the errors that `landCommits` names.
 */
export async function landGroup(catalog: Catalog, members: readonly GroupMember[]): Promise<void> {
  observeGroup(catalog, members)
  // Commits that came before and after a rename wait in one lane under two names.
  for (const sameName of byName(members)) {
    await landMembers(catalog, sameName).catch((error: unknown) => {
      for (const member of sameName) member.reject(error)
    })
  }
}

function observeGroup({ metrics, context }: Catalog, members: readonly GroupMember[]): void {
  const nowMs = context.nowMs()
  metrics.commitGroupSize.observe(members.length)
  for (const { joinedAtMs, orderingClass } of members) {
    metrics.commitWaitSeconds.observe({ class: orderingClass }, (nowMs - joinedAtMs) / 1_000)
  }
}

function byName(members: readonly GroupMember[]): GroupMember[][] {
  const groups = new Map<string, GroupMember[]>()
  for (const member of members) {
    const key = identifierKey(member.warehouse.id, member.identifier)
    const known = groups.get(key)
    if (known === undefined) groups.set(key, [member])
    else known.push(member)
  }
  return [...groups.values()]
}

async function landMembers(catalog: Catalog, members: readonly GroupMember[]): Promise<void> {
  const { commitAttemptsMax } = catalog.config
  let waiting = members
  for (let attempt = 1; attempt <= commitAttemptsMax; attempt += 1) {
    const outcome = await landOnce(catalog, waiting, attempt)
    if (outcome === 'landed') return
    if (outcome === 'stale') catalog.metrics.commitRaces.inc()
    else waiting = rejectKeys(waiting, outcome.keys)
    if (waiting.length === 0) return
  }
  throw new CommitFailedError(`the table changed ${commitAttemptsMax} times during the commit`)
}

type Attempt =
  'landed' | 'stale' | { readonly outcome: 'keys-lost'; readonly keys: readonly string[] }

async function landOnce(
  catalog: Catalog,
  members: readonly GroupMember[],
  attempt: number,
): Promise<Attempt> {
  const { reachFaultPoint } = catalog.context
  const table = await findGroupTable(catalog, members, attempt)
  const plan = await planGroup(catalog, table, members)
  reachFaultPoint('commit.requirements-checked')
  if (plan.changes.length === 0) {
    answerAll(members, plan, table.base)
    return endGroup(catalog, table, members)
  }
  try {
    const attempted = await land(catalog, table, { members, plan })
    return attempted === 'landed' ? endGroup(catalog, table, members) : attempted
  } catch (error) {
    failAll(members, plan, { table, error })
    return endGroup(catalog, table, members)
  }
}

/** All have their answers; the turn may be over. */
async function endGroup(
  { lanes, turns }: Catalog,
  { row }: GroupTable,
  members: readonly GroupMember[],
): Promise<'landed'> {
  const memberCount = members.length
  const group = {
    hadExpected: members.some(({ orderingClass }) => orderingClass !== 'append'),
    memberCount,
    waitingCount: Math.max(0, lanes.depthOf(row.id) - memberCount),
  }
  // Whoever waits for a turn that cannot be passed on takes it after a while.
  await turns.afterGroup(row, group).catch(ignore)
  return 'landed'
}

/** The table of the group as it is now, when it is this process's turn. Throws NoSuchTableError. */
async function findGroupTable(
  catalog: Catalog,
  members: readonly GroupMember[],
  attempt: number,
): Promise<GroupTable> {
  const { config, turns } = catalog
  const [first] = members
  if (first === undefined) throw new Error('a group has members')
  const { warehouse, identifier, known } = first
  const find = async () => {
    const row = await findAnyRow(catalog, warehouse, identifier)
    if (row === undefined || row.kind === 'view') throw new NoSuchTableError(identifier)
    return row
  }
  const isAlone = attempt === 1 && members.length === 1 && !turns.isShared(first.known?.id ?? '')
  let row = (isAlone ? known : undefined) ?? (await find())
  if (!config.isOnlyWriter && (turns.isOfAnother(row) || attempt > 1)) {
    await turns.take(row)
    row = await find()
  }
  return { warehouse, row, base: await catalog.metadata.get(warehouse, row.metadataLocation) }
}

interface Judged {
  readonly members: readonly GroupMember[]
  readonly plan: GroupPlan
}

async function land(
  catalog: Catalog,
  table: GroupTable,
  { members, plan }: Judged,
): Promise<Attempt> {
  const { reachFaultPoint } = catalog.context
  const group = await catalog.swaps.before(() => writeGroup(catalog, table, plan.draft))
  reachFaultPoint('commit.metadata-written')
  const verdict = await publish(catalog, { table, plan, group }, members)
  if (verdict === 'swapped') {
    // From here on the files of the group are the table: whatever goes wrong, they stay.
    acknowledgeGroup(catalog, table, group)
    reachFaultPoint('commit.swapped')
    answerAll(members, plan, group.written.loaded)
    return 'landed'
  }
  forgetPointers(catalog, members)
  await discardGroup(catalog, table, group)
  for (const { slot } of members) slot?.withdraw()
  if (verdict === 'missing') throw new NoSuchTableError(table.row)
  return verdict
}

async function publish(
  catalog: Catalog,
  publication: GroupPublication,
  members: readonly GroupMember[],
): Promise<SwapVerdict> {
  try {
    return await publishGroup(catalog, publication)
  } catch (error) {
    forgetPointers(catalog, members)
    if (!(error instanceof CommitStateUnknownError)) {
      await discardGroup(catalog, publication.table, publication.group)
    }
    throw error
  }
}

function forgetPointers(catalog: Catalog, members: readonly GroupMember[]): void {
  for (const { warehouse, identifier } of members) {
    catalog.pointers.forget(warehouse.id, identifier)
  }
}

/** Tells every member what became of it, once the group has landed. */
function answerAll(
  members: readonly GroupMember[],
  { verdicts }: GroupPlan,
  loaded: LoadedMetadata,
): void {
  for (const member of members) {
    const verdict = verdicts.get(member)
    if (verdict === undefined) member.reject(new NotAppliedError('the commit was not looked at'))
    else if (verdict.outcome === 'refused') member.reject(verdict.error)
    else member.resolve({ loaded, append: verdict.append })
  }
}

/**
 * The same when it did not land. Who was judged on the stored table gets that answer; who was refused because of what others
 * of the group did may try again; the rest shares the fate of the group.
 */
function failAll(
  members: readonly GroupMember[],
  { verdicts }: GroupPlan,
  { table, error }: { readonly table: GroupTable; readonly error: unknown },
): void {
  for (const member of members) {
    const verdict = verdicts.get(member)
    if (verdict?.outcome === 'kept' && verdict.isOnBase) {
      member.resolve({ loaded: table.base, append: verdict.append })
    } else if (verdict?.outcome === 'refused') {
      const text = 'the commit was refused for a state of the table that did not come about'
      member.reject(verdict.isOnBase ? verdict.error : new NotAppliedError(text, { cause: error }))
    } else member.reject(error)
  }
}

/** Members whose key has an outcome already learn that; the others go on. */
function rejectKeys(members: readonly GroupMember[], keys: readonly string[]): GroupMember[] {
  return members.filter((member) => {
    const key = member.slot?.key
    if (key === undefined || !keys.includes(key)) return true
    member.reject(new IdempotencyKeyLostError())
    return false
  })
}

function ignore(): void {}
