import { openMemoryObjectStore } from '@timelake/storage/memory-object-store'
import { joinBytes } from '@timelake/storage/object-bytes'
import {
  ObjectNotFoundError,
  type ObjectStore,
  StoreUnavailableError,
} from '@timelake/storage/object-store'
import type { CallKind, Fault, FaultPlan } from './fault-plan.ts'
import type { StepOwner, StepScheduler } from './step-scheduler.ts'

/** The objects of a simulated world. */
export interface SimulatedObjects {
  readonly objects: Map<string, Uint8Array>
  /** The store as this owner sees it: every call is a step, and calls fail as the plan says. */
  storeFor(owner: StepOwner, faults?: FaultPlan): ObjectStore
}

/** A store in memory whose calls take their turn in the schedule. Bytes are copied in, and must not be changed on the way out. */
export function simulatedObjects(scheduler: StepScheduler): SimulatedObjects {
  const objects = new Map<string, Uint8Array>()
  return {
    objects,
    storeFor: (owner, faults) => storeFor({ objects, scheduler, owner, faults }),
  }
}

interface View {
  readonly objects: Map<string, Uint8Array>
  readonly scheduler: StepScheduler
  readonly owner: StepOwner
  readonly faults: FaultPlan | undefined
}

function storeFor(view: View): ObjectStore {
  const { objects } = view
  const call = <Value>(what: string, perform: () => Value): Promise<Value> =>
    runCall(view, { what, kind: /^(get|stat) /.test(what) ? 'read' : 'write' }, perform)
  const nothing = openMemoryObjectStore()
  return {
    // Files on disk and prefixes have no place in this world.
    ...nothing,
    get: (location) => call(`get ${location}`, () => found(objects, location)),
    stat: (location) =>
      call(`stat ${location}`, () => {
        const bytes = objects.get(location)
        return bytes && { location, sizeBytes: bytes.length, lastModifiedMs: 0 }
      }),
    async putIfAbsent(location, bytes) {
      const copy = joinBytes(bytes).slice()
      try {
        return await call(`put ${location}`, () => {
          if (objects.has(location)) return 'exists'
          objects.set(location, copy)
          return 'created'
        })
      } catch (error) {
        if (error instanceof LostAnswerError) return 'unknown'
        throw error
      }
    },
    delete: (location) =>
      call(`delete ${location}`, () => (objects.delete(location) ? 'deleted' : 'absent')),
    deleteMany: (locations) =>
      call(`delete ${locations.join(' ')}`, () => {
        for (const location of locations) objects.delete(location)
        return locations.map((location) => ({ location, outcome: 'gone' as const }))
      }),
    prepareTableFolders: () => Promise.resolve(),
  }
}

function found(objects: ReadonlyMap<string, Uint8Array>, location: string): Uint8Array {
  const bytes = objects.get(location)
  if (bytes === undefined) throw new ObjectNotFoundError(location)
  return bytes
}

/** The call may have been done. */
class LostAnswerError extends StoreUnavailableError {}

async function runCall<Value>(
  { scheduler, owner, faults }: View,
  { what, kind }: { readonly what: string; readonly kind: CallKind },
  perform: () => Value,
): Promise<Value> {
  const fault = faults?.next(kind)
  if (fault === undefined) return scheduler.park({ owner, what }, perform)
  const step = { owner, what: `${what} (${fault})` }
  // A late call goes on its own way while its caller is told that it failed.
  if (fault === 'late') void scheduler.park({ ...step, isOnItsWay: true }, () => quietly(perform))
  return scheduler.park(step, () => failing(fault, perform))
}

function failing(fault: Fault, perform: () => unknown): never {
  if (fault === 'unanswered') quietly(perform)
  if (fault === 'unsent' || fault === 'refused') throw new StoreUnavailableError(`store: ${fault}`)
  throw new LostAnswerError(`store: ${fault}`)
}

function quietly(perform: () => unknown): void {
  try {
    perform()
  } catch (error) {
    if (!(error instanceof ObjectNotFoundError)) throw error
  }
}
