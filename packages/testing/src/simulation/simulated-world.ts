import type { Database } from '@timelake/database/sql-session'
import { newTableMetadata } from '@timelake/iceberg/commit/new-table-metadata'
import { encodeTableMetadata } from '@timelake/iceberg/spec/table-metadata-json'
import type { ObjectStore } from '@timelake/storage/object-store'
import { seededIds } from '../seeded-ids.ts'
import { faultPlan } from './fault-plan.ts'
import { type ModelDatabase, modelDatabase, type ModelStatements } from './model-database.ts'
import { noRows } from './model-rows.ts'
import { seededRandom, type SeededRandom } from './seeded-random.ts'
import type { SimulatedServer } from './simulated-server.ts'
import { ConnectionLostError, type ServerAnswer, type ServerRequest } from './simulated-server.ts'
import { simulatedObjects, type SimulatedObjects } from './simulated-store.ts'
import { type StepOwner, StepScheduler } from './step-scheduler.ts'
import type { ClientTable } from './table-client.ts'

/** What a catalog process gets of the world. */
export interface ProcessParts {
  readonly database: Database
  readonly store: ObjectStore
  readonly isOnlyWriter: boolean
  nowMs(): number
  delay(ms: number, signal?: AbortSignal): Promise<void>
  newUuid(): string
}

/** Starts a catalog process; what it returns answers a request, whose signal aborts when the caller has gone. */
export type StartProcess = (
  parts: ProcessParts,
) => (request: ServerRequest, signal: AbortSignal) => Promise<ServerAnswer>

/** Puts a mistake between a process and the store. */
export type WrapStore = (store: ObjectStore, objects: Map<string, Uint8Array>) => ObjectStore

/** What a world is like. All of it follows from the seed. */
export interface WorldShape {
  readonly processes: number
  readonly tables: number
  /** Names that have no table when the world begins. */
  readonly freeNames: number
  readonly formatVersion: 1 | 2 | 3
  readonly properties: Readonly<Record<string, string>>
  /** Failing calls of each kind, at most. */
  readonly faultsMax: number
}

export interface SimulatedWorld {
  readonly seed: number
  readonly random: SeededRandom
  readonly scheduler: StepScheduler
  readonly objects: SimulatedObjects
  readonly database: ModelDatabase
  readonly tables: readonly ClientTable[]
  /** Names under which tables are made, dropped and made again. */
  readonly loose: readonly ClientTable[]
  /** The catalog as this client reaches it. */
  serverFor(client: StepOwner): SimulatedServer
  /** Kills a process in the middle of whatever it does; another one takes its place. */
  killOne(): void
}

export const WAREHOUSE_LOCATION = 'file:///lake/w'
const START_MS = 1_700_000_000_000

export const SCHEMA = {
  schemaId: 0,
  identifierFieldIds: [],
  fields: [{ id: 1, name: 'id', required: false, type: { kind: 'long' as const } }],
}

interface Process {
  readonly owner: StepOwner
  readonly answer: ReturnType<StartProcess>
  /** Rejects when the process dies. */
  readonly death: Promise<never>
  die(): void
}

export interface WorldOptions {
  readonly shape: WorldShape
  /** A database that ends a transaction with each of its statements, which is a mistake that the simulation must find. */
  readonly commitsEachStatement?: boolean | undefined
  readonly statements: ModelStatements
  readonly startProcess: StartProcess
  readonly wrapStore?: WrapStore | undefined
}

/** A warehouse with empty tables, and processes that serve it. */
export function openWorld(seed: number, options: WorldOptions): SimulatedWorld {
  const { shape, statements, commitsEachStatement = false } = options
  const random = seededRandom(seed)
  const scheduler = new StepScheduler(random, START_MS)
  const objects = simulatedObjects(scheduler)
  const rows = noRows(seededIds(`feed ${seed}`)())
  const database = modelDatabase(scheduler, { rows, statements, commitsEachStatement })
  const world = { seed, random, scheduler, objects, database }
  const tables = Array.from({ length: shape.tables }, (_, index) =>
    makeTable(world, shape, `t${index}`),
  )
  const free = Array.from({ length: shape.freeNames }, (_, index) =>
    clientTable(`t${shape.tables + index}`),
  )
  let startedCount = 0
  const start = (): Process => {
    startedCount += 1
    return startProcess(world, options, startedCount)
  }
  const processes = Array.from({ length: shape.processes }, start)
  const network = faultPlan(random, shape.faultsMax)
  return {
    ...world,
    tables: [...tables, ...free],
    loose: free.length === 0 ? [] : [...tables.slice(0, 1), ...free],
    serverFor: (client) => ({
      call: (request) => send({ ...world, processes, network }, client, request),
    }),
    killOne() {
      const place = random.below(processes.length)
      const process = processes[place]
      if (process === undefined) return
      scheduler.kill(process.owner)
      database.disconnect(process.owner)
      process.die()
      processes[place] = start()
    },
  }
}

type WorldParts = Pick<SimulatedWorld, 'seed' | 'random' | 'scheduler' | 'objects' | 'database'>

function startProcess(
  { seed, random, scheduler, objects, database }: WorldParts,
  { shape, startProcess: startWith, wrapStore = (inner) => inner }: WorldOptions,
  number: number,
): Process {
  const owner: StepOwner = { name: `process ${number}` }
  let die: () => void = () => {}
  const death = new Promise<never>((_, reject) => {
    die = () => reject(new ConnectionLostError('the process died'))
  })
  death.catch(() => {})
  const answer = startWith({
    database: database.databaseFor(owner, faultPlan(random, shape.faultsMax)),
    store: wrapStore(objects.storeFor(owner, faultPlan(random, shape.faultsMax)), objects.objects),
    // A database that others reach has more than one writer, also after a restart.
    isOnlyWriter: shape.processes === 1 && shape.faultsMax === 0,
    nowMs: () => scheduler.nowMs(),
    delay: (ms, signal) => scheduler.delay(owner, ms, signal),
    newUuid: seededIds(`${seed} process ${number}`),
  })
  return { owner, answer, death, die }
}

interface Network extends Pick<WorldParts, 'random' | 'scheduler'> {
  readonly processes: readonly Process[]
  readonly network: ReturnType<typeof faultPlan>
}

async function send(
  { random, scheduler, processes, network }: Network,
  client: StepOwner,
  request: ServerRequest,
): Promise<ServerAnswer> {
  const fault = network.next(request.method === 'GET' ? 'read' : 'write')
  const what = `${request.method} ${request.path}${fault === undefined ? '' : ` (${fault})`}`
  const process = await scheduler.park({ owner: client, what }, () => random.pick(processes))
  if (fault === 'unsent' || fault === 'lost' || fault === 'refused') {
    throw new ConnectionLostError(`the request was lost: ${fault}`)
  }
  const gone = new AbortController()
  const answered = Promise.race([process.answer(request, gone.signal), process.death])
  if (fault === 'late') {
    answered.catch(() => {})
    await scheduler.park({ owner: client, what: 'hangs up' }, () => gone.abort())
    throw new ConnectionLostError('the client went away')
  }
  const answer = await answered
  await scheduler.park({ owner: client, what: `answer ${answer.status}` }, () => {})
  if (fault === 'unanswered') throw new ConnectionLostError('the answer was lost')
  return answer
}

const IDS = { warehouse: 'w', namespace: 'n' }

/** A table that somebody has made before the world begins. */
function makeTable(
  { seed, objects, database }: WorldParts,
  shape: WorldShape,
  name: string,
): ClientTable {
  const { rows } = database
  rows.warehouses.set(IDS.warehouse, {
    id: IDS.warehouse,
    name: 'main',
    location: WAREHOUSE_LOCATION,
    storage_profile: '{"type":"file"}',
    sealed_credentials: null,
    settings: '{}',
    version: 1n,
  })
  rows.namespaces.set(IDS.namespace, {
    id: IDS.namespace,
    warehouse_id: IDS.warehouse,
    levels: 'ns',
    properties: '{}',
    default_location: `${WAREHOUSE_LOCATION}/ns`,
  })
  const tableUuid = seededIds(`${seed} ${name}`)()
  const location = `${WAREHOUSE_LOCATION}/ns/${name}`
  const properties = tableProperties(shape)
  const metadata = newTableMetadata(
    { schema: SCHEMA, properties },
    { tableUuid, location, nowMs: START_MS },
  )
  const metadataLocation = `${location}/metadata/00000-${tableUuid}.metadata.json`
  objects.objects.set(metadataLocation, new TextEncoder().encode(encodeTableMetadata(metadata)))
  rows.tables.set(name, {
    id: name,
    kind: 'table',
    warehouse_id: IDS.warehouse,
    namespace_id: IDS.namespace,
    name,
    table_uuid: tableUuid,
    location,
    metadata_location: metadataLocation,
    version: 0n,
    extra_roots: 'none',
    event_number: 0n,
    commit_turn: null,
    commit_next: null,
  })
  return clientTable(name)
}

/** Those that tables of the world are made with. */
export function tableProperties(shape: WorldShape): Readonly<Record<string, string>> {
  return { 'format-version': String(shape.formatVersion), ...shape.properties }
}

function clientTable(name: string): ClientTable {
  return {
    name,
    path: `/v1/main/namespaces/ns/tables/${name}`,
    lakePath: `/lake/v1/main/namespaces/ns/tables/${name}`,
  }
}
