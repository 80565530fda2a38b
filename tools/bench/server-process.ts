import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const START_TIMEOUT_MS = 120_000
const STOP_TIMEOUT_MS = 30_000
const POLL_MS = 20
const CLOCK_TICKS_PER_SECOND = 100

/** A running catalog: ours, started here, or another one that the caller named by URI and process id. */
export interface ServerUnderTest {
  readonly uri: string
  /** Roots of the process trees whose CPU and memory count as the server's; empty when unknown. */
  readonly processIds: readonly number[]
  stop(): Promise<void>
}

/**
 * What `npm start` runs, on a free port and a new data directory that stop() removes; `settings` are variables for it.
 * Maintenance is off: the histories that the benchmarks fabricate name manifests that do not exist.
 */
export async function startOwnServer(
  settings: Readonly<Record<string, string>> = {},
): Promise<ServerUnderTest> {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const directory = mkdtempSync(join(tmpdir(), 'timelake-bench-'))
  const port = await freePort()
  const log = openSync(join(directory, 'log'), 'a')
  const child = spawn(process.execPath, ['scripts/run.mjs', 'start'], {
    cwd: root,
    stdio: ['ignore', log, log],
    env: {
      ...process.env,
      TIMELAKE_DATA_DIR: join(directory, 'data'),
      TIMELAKE_PORT: String(port),
      TIMELAKE_MAINTENANCE: 'off',
      TIMELAKE_LOG_LEVEL: 'warn',
      ...settings,
    },
  })
  const uri = `http://127.0.0.1:${port}`
  await untilReady(uri, child, join(directory, 'log'))
  return {
    uri,
    processIds: child.pid === undefined ? [] : [child.pid],
    stop: async () => {
      await endChild(child)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer()
  probe.listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('no free port found')
  return address.port
}

async function untilReady(uri: string, child: ChildProcess, logFile: string): Promise<void> {
  const end = performance.now() + START_TIMEOUT_MS
  while (performance.now() < end) {
    if (child.exitCode !== null) break
    const isUp = await fetch(`${uri}/v1/config`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) return
    await setTimeout(POLL_MS)
  }
  child.kill('SIGKILL')
  throw new Error(`the server did not start:\n${readFileSync(logFile, 'utf8').slice(-2000)}`)
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const killing = new AbortController()
  void killLater(child, killing.signal)
  await ended
  killing.abort()
}

async function killLater(child: ChildProcess, signal: AbortSignal): Promise<void> {
  const isDue = await setTimeout(STOP_TIMEOUT_MS, true, { signal, ref: false }).catch(() => false)
  if (isDue) child.kill('SIGKILL')
}

/** CPU that some process trees have used since they started, and the memory they hold now. Linux only. */
export interface ProcessSample {
  readonly cpuMs: number
  readonly rssBytes: number
}

/** Zeros for processes that have ended. Living children count; CPU of ended ones counts through their parents. */
export function sampleProcesses(processIds: readonly number[]): ProcessSample {
  const all = new Set(processIds.flatMap(processTree))
  let cpuMs = 0
  let rssBytes = 0
  for (const id of all) {
    const [userTicks = 0, systemTicks = 0, endedUser = 0, endedSystem = 0] = statFields(id)
    const ticks = userTicks + systemTicks + endedUser + endedSystem
    cpuMs += (ticks * 1000) / CLOCK_TICKS_PER_SECOND
    rssBytes += residentBytes(id)
  }
  return { cpuMs, rssBytes }
}

function processTree(id: number): readonly number[] {
  const tasks = orDefault<string[]>([], () => readdirSync(`/proc/${id}/task`))
  const children = tasks.flatMap((task) => {
    const text = orDefault('', () => readFileSync(`/proc/${id}/task/${task}/children`, 'utf8'))
    return text.trim() === '' ? [] : text.trim().split(/\s+/).map(Number)
  })
  return [id, ...children.flatMap(processTree)]
}

function statFields(id: number): readonly number[] {
  const text = orDefault('', () => readFileSync(`/proc/${id}/stat`, 'utf8'))
  // Fields 14 to 17 of proc(5), counted after the name in parentheses.
  return text === ''
    ? []
    : text
        .slice(text.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 15)
        .map(Number)
}

function residentBytes(id: number): number {
  const text = orDefault('', () => readFileSync(`/proc/${id}/status`, 'utf8'))
  return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) * 1024
}

// A process that ends between two reads is not an error of the measurement.
function orDefault<Value>(otherwise: Value, read: () => Value): Value {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause) return otherwise
    throw cause
  }
}
