import { seededIds } from '../seeded-ids.ts'
import { appendOneFile, type AppendStyle } from './append-writer.ts'
import { checkWorld } from './check-world.ts'
import { ClientLedger } from './client-ledger.ts'
import { feedReader, serialReader, type SeenEvent } from './feed-follower.ts'
import { sendOneBatch } from './intent-writer.ts'
import type { ModelStatements } from './model-database.ts'
import { dropTable, makeTable } from './name-writer.ts'
import { rewriteSomeFiles } from './rewrite-writer.ts'
import { seededRandom, type SeededRandom } from './seeded-random.ts'
import {
  openWorld,
  SCHEMA,
  type SimulatedWorld,
  type StartProcess,
  tableProperties,
  type WorldShape,
  type WrapStore,
} from './simulated-world.ts'
import type { StepOwner } from './step-scheduler.ts'
import { type ClientTable, type SimulatedClient, unlessGone } from './table-client.ts'
import { appendToAll } from './transaction-writer.ts'

const SHAPE_SALT = 0x5eed
/** Worlds in which tables are made and dropped. */
const LOOSE_SHARE = 0.35
const NAME_CHANGES_MAX = 4
const CLIENTS_MIN = 2
const CLIENTS_MAX = 5
const CHANGES_MAX = 3
const STRICT_ATTEMPTS_MAX = 5
const NAME_PAUSE_MS_MAX = 60
const KILLS_MAX = 2
const KILL_WITHIN_MS = 200
const DAY_MS = 86_400_000
/** Clocks of clients: most are right, some slow, some a day ahead. */
const CLOCK_SKEWS_MS = [0, 0, 0, -300_000, DAY_MS]

/** Metadata files go soon after they were replaced. */
const SHORT_LOG = {
  'write.metadata.previous-versions-max': '1',
  'write.metadata.delete-after-commit.enabled': 'true',
}
/** The server merges manifests of rebased appends as soon as there are a few. */
const EAGER_MERGING = { 'commit.manifest.min-count-to-merge': '2' }

export interface ScheduleOptions {
  readonly statements: ModelStatements
  readonly startProcess: StartProcess
  /** How the feed is followed; `serial` is a mistake that the simulation must find. */
  readonly feedOrder?: 'transaction' | 'serial'
  /** See `WorldOptions`; a mistake that the simulation must find. */
  readonly commitsEachStatement?: boolean
  /** Puts a mistake between the processes and the store. */
  readonly wrapStore?: WrapStore
}

export interface ScheduleReport {
  readonly seed: number
  /** Sentences; none when all is well. */
  readonly problems: readonly string[]
  /** Every step that was taken. */
  readonly trace: readonly string[]
  /** Changes by their outcome, for the tests of the simulation itself. */
  readonly outcomes: Readonly<Record<string, number>>
}

/**
 * Lives through one schedule: clients change tables through processes that share a database and a store, while calls fail, answers
 * get lost and processes die; then everybody comes to rest, and what must not happen is looked for. The same seed gives
 * the same schedule.
 */
export async function runSchedule(seed: number, options: ScheduleOptions): Promise<ScheduleReport> {
  const random = seededRandom(seed ^ SHAPE_SALT)
  const shape = shapeOf(random)
  const world = openWorld(seed, { ...options, shape })
  const ledger = new ClientLedger()
  const problems: string[] = []
  try {
    const seen = await liveThrough(world, { ...options, random, shape, ledger, problems })
    problems.push(...(await checkWorld(world, { ledger, seen })))
  } catch (error) {
    problems.push(String(error))
  }
  for (const text of world.database.unknownTexts) problems.push(`unknown statement: ${text}`)
  return { seed, problems, trace: world.scheduler.trace, outcomes: countOutcomes(ledger) }
}

function shapeOf(random: SeededRandom): WorldShape {
  return {
    processes: random.pick([1, 2, 2, 3]),
    tables: 2,
    freeNames: random.chance(LOOSE_SHARE) ? 1 : 0,
    formatVersion: random.pick<1 | 2 | 3>([1, 2, 2, 3, 3]),
    properties: {
      ...(random.chance(0.4) ? { 'commit.rebase-appends': 'true' } : {}),
      ...(random.chance(0.3) ? SHORT_LOG : {}),
      ...(random.chance(0.3) ? EAGER_MERGING : {}),
    },
    faultsMax: random.pick([0, 2, 5]),
  }
}

interface Life extends ScheduleOptions {
  readonly random: SeededRandom
  readonly shape: WorldShape
  readonly ledger: ClientLedger
  readonly problems: string[]
}

/** Everything that happens, until nothing goes on any more; answers what the follower of the feed saw. */
async function liveThrough(world: SimulatedWorld, life: Life): Promise<readonly SeenEvent[]> {
  const { scheduler, database } = world
  const { random, shape, problems } = life
  const seen: SeenEvent[] = []
  let working = 0
  let isOver = false
  const work = (what: Promise<unknown>): void => {
    working += 1
    what.catch((error: unknown) => void problems.push(String(error))).finally(() => (working -= 1))
  }
  const owner: StepOwner = { name: 'follower' }
  const connection = database.databaseFor(owner)
  const read = life.feedOrder === 'serial' ? serialReader(connection) : feedReader(connection)
  const follow = async (): Promise<void> => {
    for (let known = 0; !isOver; known = database.rows.events.length) {
      seen.push(...(await read()))
      const isReady = (): boolean => isOver || database.rows.events.length > known
      await scheduler.park({ owner, what: 'looks for news', isReady }, () => {})
    }
  }
  const clientCount = CLIENTS_MIN + random.below(CLIENTS_MAX - CLIENTS_MIN + 1)
  for (let count = 1; count <= clientCount; count += 1)
    work(runClient(world, life, `client ${count}`))
  if (shape.faultsMax > 0) work(killSome(world, random))
  const followed = follow()
  await scheduler.runUntil(() => working === 0)
  isOver = true
  await scheduler.runUntil(() => scheduler.isIdle)
  await followed
  work(
    (async () => {
      for (let news = await read(); news.length > 0; news = await read()) seen.push(...news)
    })(),
  )
  await scheduler.runUntil(() => working === 0)
  return seen
}

async function killSome(world: SimulatedWorld, random: SeededRandom): Promise<void> {
  const owner: StepOwner = { name: 'chaos' }
  for (let count = random.below(KILLS_MAX + 1); count > 0; count -= 1) {
    await world.scheduler.delay(owner, random.below(KILL_WITHIN_MS))
    world.killOne()
  }
}

/** A client with a character of its own, which makes a few changes. */
async function runClient(world: SimulatedWorld, life: Life, name: string): Promise<void> {
  const { random, ledger } = life
  const { scheduler, objects, tables } = world
  const owner: StepOwner = { name }
  const skewMs = random.pick(CLOCK_SKEWS_MS)
  const client: SimulatedClient = {
    name: name.replace(' ', ''),
    server: world.serverFor(owner),
    store: objects.storeFor(owner),
    ledger,
    random,
    newUuid: seededIds(`${world.seed} ${name}`),
    nowMs: () => scheduler.nowMs() + skewMs,
    delay: (ms) => scheduler.delay(owner, ms),
  }
  const { change, countMax } = characterOf(world, life, name)
  for (let count = 1 + random.below(countMax); count > 0; count -= 1) {
    await unlessGone([], () => change(client, random.pick(tables), tables))
  }
}

/** Makes one change of a table; `tables`: those that there are. */
type Change = (
  client: SimulatedClient,
  table: ClientTable,
  tables: readonly ClientTable[],
) => Promise<void>

/** Where tables come and go, the first client is the one who makes and drops them; who else does is left to chance. */
function characterOf(
  { loose }: SimulatedWorld,
  { random, shape }: Life,
  name: string,
): { readonly change: Change; readonly countMax: number } {
  if (loose.length > 0 && (name === FIRST_CLIENT || random.chance(0.25))) {
    return { change: keepingNames(random, loose, shape), countMax: NAME_CHANGES_MAX }
  }
  return { change: random.pick(CHARACTERS)(random), countMax: CHANGES_MAX }
}

const FIRST_CLIENT = 'client 1'

/** Gives names up and makes tables of them, in no order that fits. */
function keepingNames(
  random: SeededRandom,
  loose: readonly ClientTable[],
  shape: WorldShape,
): Change {
  const names = { usesKeys: random.chance(0.4), schema: SCHEMA, properties: tableProperties(shape) }
  return async (client) => {
    const table = random.pick(loose)
    const isDrop = random.chance(0.5)
    await (isDrop ? dropTable(client, table, names) : makeTable(client, table, names))
    // Others get time to do something with it.
    await client.delay(random.below(NAME_PAUSE_MS_MAX))
  }
}

const style = (random: SeededRandom, asksForRebase: boolean): AppendStyle => ({
  attemptsMax: asksForRebase ? 1 : random.pick([1, STRICT_ATTEMPTS_MAX]),
  asksForRebase,
  usesKeys: random.chance(0.4),
  mergesManifests: random.chance(0.25),
  asTransaction: !asksForRebase && random.chance(0.25),
})

/** What clients are like. */
const CHARACTERS: readonly ((random: SeededRandom) => Change)[] = [
  (random) => {
    const strict = style(random, false)
    return (client, table) => appendOneFile(client, table, strict)
  },
  (random) => {
    const rebased = style(random, true)
    return (client, table) => appendOneFile(client, table, rebased)
  },
  (random) => {
    const asksForRebase = random.chance(0.5)
    return (client, table) =>
      rewriteSomeFiles(client, table, { attemptsMax: STRICT_ATTEMPTS_MAX, asksForRebase })
  },
  (random) => {
    const intents = { sendsTwice: random.chance(0.3), usesKeys: random.chance(0.4) }
    return (client, table) => sendOneBatch(client, table, intents)
  },
  (random) => {
    const transaction = {
      attemptsMax: STRICT_ATTEMPTS_MAX,
      usesKeys: random.chance(0.4),
      onlyLooksAtOthers: random.chance(0.2),
    }
    return (client, table, tables) => {
      const other = random.pick(tables.filter((one) => one !== table))
      return appendToAll(client, [table, other], transaction)
    }
  },
]

/** Changes of tables by their outcome; transactions and names once more under names of their own. */
function countOutcomes({ entries, names }: ClientLedger): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  const count = (what: string): void => void (counts[what] = (counts[what] ?? 0) + 1)
  for (const { outcome, transaction } of entries) {
    count(outcome)
    if (transaction !== undefined) count(`transaction ${outcome}`)
  }
  for (const { change, outcome } of names) count(`${change} ${outcome}`)
  return counts
}
