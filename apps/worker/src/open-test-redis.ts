import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@timelake/testing/wait-for'

/** A Redis server of a test's own, which it may stop. */
export interface TestRedis {
  readonly url: string
  /** Starts it, empty. Resolves once it takes connections. */
  start(): Promise<void>
  /** Kills it; what it held is gone. */
  kill(): Promise<void>
  /** Stops answering without closing connections, until `resume`. */
  pause(): void
  resume(): void
  close(): Promise<void>
}

const START_TIMEOUT_MS = 10_000
const PASSWORD = 'secret-of-the-test'

/** Whether this machine has `redis-server`. */
export function hasRedisServer(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0
}

/** A server on a free port of this machine that demands a password; not started yet. */
export async function openTestRedis(settings: readonly string[] = []): Promise<TestRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'timelake-redis-'))
  const port = await freePort()
  let server: ChildProcess | undefined
  const kill = async (): Promise<void> => {
    const killed = server
    server = undefined
    if (killed === undefined || killed.exitCode !== null) return
    const exited = once(killed, 'exit')
    killed.kill('SIGKILL')
    await exited
  }
  return {
    url: `redis://:${PASSWORD}@127.0.0.1:${port}`,
    async start() {
      const flags = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory]
      const memoryOnly = ['--save', '', '--appendonly', 'no', '--requirepass', PASSWORD]
      server = spawn('redis-server', [...flags, ...memoryOnly, ...settings], { stdio: 'ignore' })
      await waitFor(() => takesConnections(port), { timeoutMs: START_TIMEOUT_MS })
    },
    kill,
    pause: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    async close() {
      await kill()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (isOpen: boolean) => () => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', end(true)).once('error', end(false))
  })
}
