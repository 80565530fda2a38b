import { setTimeout as pause } from 'node:timers/promises'
import type { CatalogClient } from './catalog-client.ts'
import {
  appendIntent,
  readHead,
  type AppendWriter,
  type HotTable,
  type HotTableHead,
} from './hot-table.ts'

/** The table that is appended to, and what its writers have written so far. */
export interface AppendTarget {
  readonly table: HotTable
  readonly appends: AppendWriter
}

/** What became of one append. */
export interface AppendOutcome {
  /** Of the last answer; LANDED is the only success, CONFLICT a lost race. */
  readonly status: number
  readonly filePath: string
  /** What a client that keeps its table takes from the answer. */
  readonly head?: HotTableHead
}

export const LANDED = 200
export const CONFLICT = 409

const RETRY_WAIT_MS = 100
const RETRY_JITTER = 0.1

/** Loads the table, waits for half to one and a half times `thinkMs` and commits; after a lost race again, as Java does. */
export async function appendStrictly(
  target: AppendTarget,
  client: CatalogClient,
  { retryCount, thinkMs }: { readonly retryCount: number; readonly thinkMs: number },
): Promise<AppendOutcome> {
  const path = client.tablePath(target.table.namespace, target.table.name)
  for (let retry = 0; ; retry++) {
    const loaded = await client.exchange('GET', `${path}?snapshots=all`)
    if (loaded.status !== LANDED) return { status: loaded.status, filePath: '' }
    const { body, filePath } = await target.appends.prepare(readHead(loaded.body.toString('utf8')))
    if (thinkMs > 0) await pause(thinkMs * (0.5 + Math.random()))
    const { status } = await client.exchange('POST', path, { body })
    if (status !== CONFLICT || retry >= retryCount) return { status, filePath }
    const waitMs = RETRY_WAIT_MS * 2 ** retry
    await pause(waitMs * (1 + RETRY_JITTER * Math.random()))
  }
}

/** Commits once, on a base that others may have left behind. */
export async function appendRebased(
  target: AppendTarget,
  client: CatalogClient,
  base: HotTableHead,
): Promise<AppendOutcome> {
  const path = client.tablePath(target.table.namespace, target.table.name)
  const { body, filePath } = await target.appends.prepare(base)
  const answer = await client.exchange('POST', path, { body })
  if (answer.status !== LANDED) return { status: answer.status, filePath }
  return { status: LANDED, filePath, head: readHead(answer.body.toString('utf8')) }
}

/** Hands the file to the catalog, which writes everything else. */
export async function appendByIntent(
  target: AppendTarget,
  client: CatalogClient,
): Promise<AppendOutcome> {
  const { body, filePath } = appendIntent(target.table)
  const path = client.appendsPath(target.table.namespace, target.table.name)
  const { status } = await client.exchange('POST', path, { body })
  return { status, filePath }
}
