import { fork, type ChildProcess } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { EngineRow } from './duckdb.ts'
import type { MergeChildReply, MergeChildRequest } from './merge-child.ts'

export interface MergeProcessOptions {
  /** Working files go below it; the process makes a directory of its own there. Local. */
  readonly jobsDirectory: string
  readonly memoryBytesMax: number
  readonly threadCount: number
  readonly spillBytesMax: number
  /** An idle process is ended after this long, so that a quiet catalog stays small. */
  readonly idleMsMax: number
}

/** The engine in a child process, started when it is needed and kept warm between statements. */
export interface MergeProcess {
  /** Runs one statement; an abort kills the process, so nothing goes on behind the caller's back. */
  query(sql: string, signal?: AbortSignal): Promise<readonly EngineRow[]>
  /** Ends the process and removes its spill directory. */
  stop(): Promise<void>
}

/** The statement failed, or the process died under it. `cause` or the message holds the engine's words. */
export class MergeEngineError extends Error {
  override readonly name = 'MergeEngineError'
}

/** A handle; the child process starts with the first statement. Statements run one after another. */
export function createMergeProcess(options: MergeProcessOptions): MergeProcess {
  return new WarmProcess(options)
}

interface Pending {
  readonly resolve: (rows: readonly EngineRow[]) => void
  readonly reject: (error: Error) => void
}

class WarmProcess implements MergeProcess {
  readonly #options: MergeProcessOptions
  readonly #spillDirectory: string
  readonly #pending = new Map<number, Pending>()
  #child: ChildProcess | undefined
  #idle: NodeJS.Timeout | undefined
  #nextId = 1

  constructor(options: MergeProcessOptions) {
    this.#options = options
    this.#spillDirectory = join(options.jobsDirectory, 'spill')
  }

  async query(sql: string, signal?: AbortSignal): Promise<readonly EngineRow[]> {
    signal?.throwIfAborted()
    if (this.#child === undefined) await this.#start()
    const kill = (): void => this.#kill('aborted')
    signal?.addEventListener('abort', kill, { once: true })
    try {
      return await this.#send({ kind: 'query', sql })
    } catch (cause) {
      signal?.throwIfAborted()
      throw cause
    } finally {
      signal?.removeEventListener('abort', kill)
      this.#scheduleIdleStop()
    }
  }

  async stop(): Promise<void> {
    this.#kill('stopped')
    await rm(this.#spillDirectory, { recursive: true, force: true })
  }

  async #start(): Promise<void> {
    await mkdir(this.#spillDirectory, { recursive: true })
    if (this.#child !== undefined) return
    const child = fork(fileURLToPath(new URL('./merge-child.ts', import.meta.url)), {
      execArgv: typeScriptLoader(),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // Nothing of the environment is its business: no token, no inspector, no test settings.
      env: {},
    })
    this.#child = child
    child.unref()
    child.channel?.unref()
    child.on('message', (reply: MergeChildReply) => this.#settle(reply))
    child.on('error', (error) => this.#lost(child, error.message))
    child.on('exit', (code, signal) => this.#lost(child, `exit ${code ?? signal ?? 'unknown'}`))
    const { memoryBytesMax, threadCount, spillBytesMax } = this.#options
    const spillDirectory = this.#spillDirectory
    const engine = { memoryBytesMax, threadCount, spillBytesMax, spillDirectory }
    await this.#send({ kind: 'open', options: engine })
  }

  #send(
    message: { kind: 'query'; sql: string } | { kind: 'open'; options: OpenOptions },
  ): Promise<readonly EngineRow[]> {
    clearTimeout(this.#idle)
    const id = this.#nextId++
    const request: MergeChildRequest = { ...message, id }
    return new Promise((resolve, reject) => {
      const child = this.#child
      if (child === undefined) {
        reject(new MergeEngineError('the merge process has ended'))
        return
      }
      this.#pending.set(id, { resolve, reject })
      child.ref()
      child.channel?.ref()
      child.send(request, (error) => {
        if (error !== null) this.#lost(child, error.message)
      })
    })
  }

  #settle(reply: MergeChildReply): void {
    const pending = this.#pending.get(reply.id)
    this.#pending.delete(reply.id)
    if (this.#pending.size === 0) this.#release()
    if ('error' in reply) pending?.reject(new MergeEngineError(`merge engine: ${reply.error}`))
    else pending?.resolve(reply.rows)
  }

  /** An idle child does not keep the parent alive. */
  #release(): void {
    this.#child?.unref()
    this.#child?.channel?.unref()
  }

  #lost(child: ChildProcess, how: string): void {
    if (this.#child !== child) return
    this.#child = undefined
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    for (const { reject } of pending) {
      reject(new MergeEngineError(`the merge process ended while it worked: ${how}`))
    }
  }

  #kill(how: string): void {
    clearTimeout(this.#idle)
    const child = this.#child
    if (child === undefined) return
    this.#lost(child, how)
    child.kill('SIGKILL')
  }

  #scheduleIdleStop(): void {
    clearTimeout(this.#idle)
    if (this.#child === undefined) return
    this.#idle = setTimeout(() => this.#kill('idle'), this.#options.idleMsMax)
    this.#idle.unref()
  }
}

type OpenOptions = Extract<MergeChildRequest, { kind: 'open' }>['options']

/**
 * How a child of this Node runs TypeScript: by itself where it strips types (the image without development packages),
 * else by tsx, wherever that is installed. Throws MergeEngineError where neither can.
 */
export function typeScriptLoader(
  stripsTypes = 'typescript' in process.features && Boolean(process.features['typescript']),
  resolve: (name: string) => string = createRequire(import.meta.url).resolve,
): string[] {
  if (stripsTypes) return []
  try {
    return ['--import', pathToFileURL(resolve('tsx')).href]
  } catch (cause) {
    throw new MergeEngineError(
      `cannot start the merge process: Node ${process.versions.node} does not run TypeScript by itself, and tsx is not installed`,
      { cause },
    )
  }
}
