import type { SeededRandom } from './seeded-random.ts'

/**
 * What goes wrong with one call. `unsent`: it does not arrive, and the caller knows. `lost`: it does not arrive.
 * `late`: the caller is told that the connection is gone, and the call arrives later all the same. `unanswered`: it is done
 * and the answer is lost. `refused`: the other side says no. Of `lost`, `late` and `unanswered` the caller cannot tell which it is.
 */
export type Fault = 'unsent' | 'lost' | 'late' | 'unanswered' | 'refused'

export const FAULTS: readonly Fault[] = ['unsent', 'lost', 'late', 'unanswered', 'refused']

/** The faults of one side of the world. */
export interface FaultPlan {
  /** The fault of the next call of this kind, if any. */
  next(kind: CallKind): Fault | undefined
}

export type CallKind = 'read' | 'write'

/** The first calls of each kind, among which those that fail are chosen: about as many as one process makes in a schedule. */
const CALLS = { read: 60, write: 12 } as const

/** Up to `faultsMax` calls of each kind fail, never all of them: whoever tries again gets through in the end. */
export function faultPlan(random: SeededRandom, faultsMax: number): FaultPlan {
  const planned = { read: plan(random, faultsMax, 'read'), write: plan(random, faultsMax, 'write') }
  const counts = { read: 0, write: 0 }
  return {
    next(kind) {
      counts[kind] += 1
      return planned[kind].get(counts[kind])
    },
  }
}

function plan(random: SeededRandom, faultsMax: number, kind: CallKind): ReadonlyMap<number, Fault> {
  const faults = new Map<number, Fault>()
  for (let count = random.below(faultsMax + 1); count > 0; count -= 1) {
    faults.set(1 + random.below(CALLS[kind]), random.pick(FAULTS))
  }
  return faults
}
