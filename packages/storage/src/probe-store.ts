import { randomUUID } from 'node:crypto'
import { WAREHOUSE_FOLDER } from './name-records.ts'
import { ObjectNotFoundError, type ObjectStore } from './object-store.ts'

/** One thing that a warehouse needs of its store, and whether the store does it. */
export interface ProbeFinding {
  readonly check: ProbeCheck
  readonly ok: boolean
  /** A sentence for people when it does not; never holds a secret. */
  readonly detail?: string
}

export type ProbeCheck =
  | 'write'
  | 'read-back'
  | 'conditional-put'
  | 'range-read'
  | 'list'
  | 'delete'
  | 'absent-after-delete'

interface Scene {
  readonly store: ObjectStore
  readonly folder: string
  readonly location: string
}

/** Answers what is wrong, or undefined when nothing is. */
type Step = (scene: Scene) => Promise<string | undefined>

const CONTENT = 'probe of a warehouse'
const OTHER_CONTENT = 'another writer, same name'

const STEPS: readonly (readonly [ProbeCheck, Step])[] = [
  ['write', write],
  ['read-back', readBack],
  ['conditional-put', putAgain],
  ['range-read', readRange],
  ['list', list],
  ['delete', deleteObject],
  ['absent-after-delete', lookForDeleted],
]

/**
 * Tries what a warehouse needs of its store, on an object of its own below `<location>/.timelake/probe/`, and removes it.
 * One finding per check, in a fixed order; when nothing can be written, the first finding is the only one. Never throws
 * for a store that fails.
 */
export async function probeStore(
  store: ObjectStore,
  location: string,
): Promise<readonly ProbeFinding[]> {
  const folder = `${location}/${WAREHOUSE_FOLDER}/probe/${randomUUID()}`
  const scene = { store, folder, location: `${folder}/object` }
  const findings: ProbeFinding[] = []
  for (const [check, step] of STEPS) {
    const detail = await step(scene).catch(describeFailure)
    findings.push(detail === undefined ? { check, ok: true } : { check, ok: false, detail })
    if (check === 'write' && detail !== undefined) break
  }
  return findings
}

async function write({ store, location }: Scene): Promise<string | undefined> {
  const outcome = await store.putIfAbsent(location, bytesOf(CONTENT))
  return outcome === 'created' ? undefined : `writing a new object was answered "${outcome}"`
}

async function readBack({ store, location }: Scene): Promise<string | undefined> {
  const found = textOf(await store.get(location))
  return found === CONTENT ? undefined : 'the object reads back with other content'
}

async function putAgain({ store, location }: Scene): Promise<string | undefined> {
  const outcome = await store.putIfAbsent(location, bytesOf(OTHER_CONTENT))
  const found = textOf(await store.get(location))
  if (store.refusesConditions?.() === true) {
    return 'the store refuses conditional writes: each name is looked up before it is written'
  }
  if (outcome === 'exists' && found === CONTENT) return undefined
  return found === CONTENT
    ? `writing a taken name was answered "${outcome}", expected "exists"`
    : 'the store ignores conditions: a second write replaced the first'
}

async function readRange({ store, location }: Scene): Promise<string | undefined> {
  const whole = textOf(await store.get(location))
  const middle = textOf(await store.get(location, { range: { offset: 2, lengthBytes: 3 } }))
  const end = textOf(await store.get(location, { range: { offset: -4, lengthBytes: 4 } }))
  const isRight = middle === whole.slice(2, 5) && end === whole.slice(-4)
  return isRight ? undefined : 'parts of an object read with other content than the whole'
}

async function list({ store, folder, location }: Scene): Promise<string | undefined> {
  const found: string[] = []
  for await (const entry of store.list(folder)) found.push(entry.location)
  if (!found.includes(location)) return 'a list does not show an object that was just written'
  return found.length === 1 ? undefined : 'a list shows objects outside its prefix'
}

async function deleteObject({ store, location }: Scene): Promise<string | undefined> {
  const [result] = await store.deleteMany([location])
  return result?.outcome === 'failed' ? result.error.message : undefined
}

async function lookForDeleted({ store, location }: Scene): Promise<string | undefined> {
  try {
    await store.get(location)
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return undefined
    throw error
  }
  return 'a deleted object can still be read'
}

function describeFailure(error: unknown): string {
  return error instanceof Error ? error.message : 'the call failed'
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
