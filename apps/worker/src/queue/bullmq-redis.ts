import { setTimeout } from 'node:timers/promises'
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { bullmqQueue, QUEUE_NAME, SENDER_OPTIONS, TAKER_OPTIONS } from './bullmq-queue.ts'
import type { JobQueue } from './job-queue.ts'
import type { Job } from './job.ts'
import { redisAddressOf, type RedisAddress } from './redis-address.ts'

export interface BullmqRedisOptions {
  /** `redis://[[user]:password@]host[:port][/db]`, `rediss://` for TLS. It appears in no error. */
  readonly url: string
  readonly concurrency: number
  /** Of every key: deployments that share one logical database need different ones. Default: `timelake`. */
  readonly prefix?: string
  /** Told of trouble with the server, freed of secrets; the queue recovers by itself. */
  readonly onError: (error: Error) => void
}

/** The queue's server did something else than was asked for. The message is the server's, freed of secrets. */
export class RedisQueueError extends Error {
  override readonly name = 'RedisQueueError'
}

const DEFAULT_PREFIX = 'timelake'
/** A message is sent within this or not at all; the survey sends it again. */
const SEND_TIMEOUT_MS = 5_000
const CONNECT_TIMEOUT_MS = 5_000
const RECONNECT_MS_MAX = 2_000
const RECONNECT_STEP_MS = 100

/**
 * The queue on Redis or Valkey. The server may be away, at the start too: `enqueue` rejects then at once, and messages
 * are taken again when it is back, whatever it remembers. Throws RedisUrlError; opens no connection then.
 */
export function openBullmqRedisQueue(options: BullmqRedisOptions): Promise<JobQueue> {
  return Promise.resolve().then(() => openQueue(options))
}

function openQueue(options: BullmqRedisOptions): JobQueue {
  const { concurrency, prefix = DEFAULT_PREFIX } = options
  const { password, ...address } = redisAddressOf(options.url)
  const clean = (error: unknown): RedisQueueError => withoutSecrets(error, password)
  const onError = (error: unknown): void => options.onError(clean(error))
  const connections = trackConnections(onError)
  const login = password === undefined ? address : { ...address, password }
  const sending = connections.open({
    ...login,
    ...CONNECTION_OPTIONS,
    // Fails at once instead of waiting for a server that may never come back: the database remembers what is due.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: SEND_TIMEOUT_MS,
  })
  sending.on('ready', () => void reportEviction(sending, onError))
  const answers = watchAnswers(sending)
  // The version check asks before it listens for errors, so a server that is away would end the process.
  const common = { prefix, skipVersionCheck: true }
  const queue = new Queue<Job>(QUEUE_NAME, {
    connection: sending,
    skipWaitingForReady: true,
    ...common,
    ...SENDER_OPTIONS,
  })
  queue.on('error', onError)
  return bullmqQueue({
    sender: {
      add: (name, data, jobOptions) =>
        queue.add(name, data, jobOptions).catch((error: unknown) => {
          answers.doubt()
          throw clean(error)
        }),
      close: () => queue.close(),
    },
    openTaker(process) {
      // BullMQ demands that commands of a taker wait for the server however long it is away.
      const taking = { ...login, ...CONNECTION_OPTIONS, maxRetriesPerRequest: null }
      const connection = connections.open(taking)
      const worker = new Worker(QUEUE_NAME, process, {
        connection,
        concurrency,
        ...common,
        ...TAKER_OPTIONS,
      })
      return worker.on('error', onError)
    },
    isUp: () => answers.areComing(),
    disconnect: () => connections.endAll(),
  })
}

const CONNECTION_OPTIONS = {
  connectTimeout: CONNECT_TIMEOUT_MS,
  retryStrategy: (attempt: number) => Math.min(RECONNECT_MS_MAX, attempt * RECONNECT_STEP_MS),
}

interface ConnectionOptions extends RedisAddress {
  readonly connectTimeout: number
  readonly retryStrategy: (attempt: number) => number
  /** How often a command is sent again after a lost connection; null: until it is answered. */
  readonly maxRetriesPerRequest: number | null
  readonly commandTimeout?: number
  readonly enableOfflineQueue?: boolean
}

/** Opens connections and remembers them and the duplicates that BullMQ makes, so that all of them can be ended. */
function trackConnections(onError: (error: unknown) => void) {
  const all = new Set<Redis>()
  const track = (connection: Redis): Redis => {
    all.add(connection)
    connection.on('error', onError)
    connection.on('end', () => all.delete(connection))
    const duplicate = connection.duplicate.bind(connection)
    connection.duplicate = (override) => track(duplicate(override))
    return connection
  }
  return {
    open: (options: ConnectionOptions): Redis => track(new Redis(options)),
    endAll(): void {
      for (const connection of all) connection.disconnect()
    },
  }
}

/** A server that hangs keeps its connections; once there is doubt it must answer a ping. */
function watchAnswers(connection: Redis) {
  let isInDoubt = false
  const ask = async (): Promise<void> => {
    while (isInDoubt && connection.status !== 'end') {
      isInDoubt = !(await connection.ping().then(
        () => true,
        () => false,
      ))
      if (isInDoubt) await setTimeout(RECONNECT_MS_MAX, undefined, { ref: false })
    }
  }
  return {
    areComing: () => connection.status === 'ready' && !isInDoubt,
    doubt(): void {
      if (isInDoubt) return
      isInDoubt = true
      void ask()
    },
  }
}

/** A server that evicts keys may forget messages; jobs then run late. Says so once per connection. */
async function reportEviction(connection: Redis, onError: (error: unknown) => void): Promise<void> {
  try {
    const policy = /^maxmemory_policy:(\S+)/m.exec(await connection.info('memory'))?.[1]
    if (policy === undefined || policy === 'noeviction') return
    onError(
      new Error(`the server evicts keys: expected maxmemory-policy noeviction, got ${policy}`),
    )
  } catch (error) {
    onError(error)
  }
}

/** Errors of the client carry the command with its arguments, so only their text is kept, without the password. */
function withoutSecrets(error: unknown, password: string | undefined): RedisQueueError {
  const text = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  const message = text === '' ? (code ?? 'no connection') : text
  return new RedisQueueError(
    password === undefined ? message : message.replaceAll(password, '[hidden]'),
  )
}
