import { CommitQueueFullError, NotAppliedError } from './catalog/catalog-errors.ts'

/**
 * What a waiting commit may be put behind: appends that can be attached to any state of the table wait for others when
 * those need it, `strict` commits and rewrites of files do not.
 */
export type OrderingClass = 'strict' | 'append' | 'rewrite'

/** A commit that may land together with others of its lane. It learns its outcome by itself. */
export interface LaneMember {
  readonly orderingClass: OrderingClass
}

interface Lane<Member> {
  /** Tasks and members that run or wait. */
  depth: number
  /** Resolves when the last of its tasks has ended. */
  tail: Promise<unknown>
  /** The last task of the lane, while others may still join it. */
  group: Group<Member> | undefined
  /** Resolves when the members that are landing have landed; undefined while none do. */
  landing: Promise<void> | undefined
  /** Called when there is room again. */
  readonly waitingForRoom: (() => void)[]
  /** What one member took lately, in its group. */
  memberMs: number
}

interface Group<Member> {
  waiting: Member[]
  /** Called when somebody joins. */
  wake(): void
}

interface Pause {
  readonly ended: Promise<void>
  end(): void
}

export interface CommitLanesOptions<Member> {
  /** Tasks and members of one lane that run or wait at most. */
  readonly depthMax: number
  /** Lands members of one lane together, each with its own outcome; never rejects. */
  readonly land: (members: readonly Member[]) => Promise<void>
  /** Resolves when members of the lane may be gathered to land, and never rejects; undefined for at once. */
  readonly untilReady: (lane: string) => Promise<void> | undefined
  readonly delay: (ms: number) => Promise<void>
  readonly nowMs: () => number
}

/** How much the last group counts in what a member takes. */
const NEWEST_WEIGHT = 0.2
/** Members that land together at most. */
export const GROUP_MEMBERS_MAX = 256

/**
 * The queue of each table: mutations run one after another, in the order in which they came; commits that wait at the
 * same moment land together. Different tables do not wait for each other. Correctness across processes rests on the
 * compare-and-swap, not on these queues.
 */
export class CommitLanes<Member extends LaneMember> {
  readonly #options: CommitLanesOptions<Member>
  readonly #lanes = new Map<string, Lane<Member>>()
  /** By lane; a pause holds for a lane that fills later, too. */
  readonly #pauses = new Map<string, Pause>()
  #isStopped = false

  constructor(options: CommitLanesOptions<Member>) {
    this.#options = options
  }

  /**
   * Runs the task when all earlier ones of the lane have ended, whatever their outcome. Throws
   * CommitQueueFullError when `depthMax` tasks wait or run already, NotAppliedError after `drain` was called.
   */
  run<T>(lane: string, task: () => Promise<T>): Promise<T> {
    return this.runAcross([lane], task)
  }

  /**
   * The same for a task that needs several lanes at once: it runs when it is the first in each of them. It takes its places
   * in one go, before any other task can come between, so tasks wait only for earlier ones and never in a circle,
   * whatever the order of their lanes. A task that is refused has taken no place.
   */
  runAcross<T>(lanes: readonly string[], task: () => Promise<T>): Promise<T> {
    const names = [...new Set(lanes)]
    const refusal = this.#refusalOf(names)
    if (refusal !== undefined) return Promise.reject(refusal)
    const places = names.map((name) => this.#enter(name))
    const result = turnOf(places).then(task)
    const ended = result.then(ignore, ignore)
    for (const [at, place] of places.entries()) {
      // Whoever comes later must not overtake this task by joining a group in front of it.
      place.group = undefined
      place.tail = ended.then(() => this.#leave(names[at] ?? '', place))
    }
    return result
  }

  /**
   * Lets a commit wait in the lane, to land with the others that wait there then: behind everything that came before. Throws
   * what `run` throws; the commit has then taken no place.
   */
  join(name: string, member: Member): void {
    const refusal = this.#refusalOf([name])
    if (refusal !== undefined) throw refusal
    const lane = this.#lanes.get(name)
    if (lane?.group !== undefined) {
      lane.depth += 1
      lane.group.waiting.push(member)
      lane.group.wake()
      return
    }
    const group: Group<Member> = { waiting: [member], wake: ignore }
    void this.run(name, () => this.#landAll(name, group))
    // `run` entered the lane.
    const entered = this.#lanes.get(name)
    if (entered !== undefined) entered.group = group
  }

  /** Whether a task of this lane would run at once. */
  isFree(lane: string): boolean {
    return this.depthOf(lane) === 0
  }

  /** Tasks and members of one lane that run or wait. */
  depthOf(lane: string): number {
    return this.#lanes.get(lane)?.depth ?? 0
  }

  /** Tasks that run or wait; one with several lanes counts in each. */
  get depth(): number {
    let sum = 0
    for (const { depth } of this.#lanes.values()) sum += depth
    return sum
  }

  hasRoom(lane: string): boolean {
    return this.depthOf(lane) < this.#options.depthMax
  }

  /** How long somebody who joins now may have to wait, going by what the last ones took. */
  expectedWaitMs(name: string): number {
    const lane = this.#lanes.get(name)
    return lane === undefined ? 0 : lane.depth * lane.memberMs
  }

  /** Resolves when somebody has left a full lane; others may be faster to take the room. */
  room(name: string): Promise<void> {
    const lane = this.#lanes.get(name)
    if (lane === undefined || this.hasRoom(name)) return Promise.resolve()
    return new Promise((resolve) => void lane.waitingForRoom.push(resolve))
  }

  /**
   * Keeps members of class `append` waiting for so long, or until `resumeAppends`; a pause that is on goes on. Resolves when
   * those that were landing have landed.
   */
  async pauseAppends(name: string, ms: number): Promise<void> {
    if (!this.#pauses.has(name)) {
      let end = ignore
      const ended = new Promise<void>((resolve) => (end = resolve))
      const pause = { ended, end }
      this.#pauses.set(name, pause)
      void Promise.race([this.#options.delay(ms), ended]).then(() => {
        if (this.#pauses.get(name) === pause) this.#pauses.delete(name)
        end()
      })
    }
    await this.#lanes.get(name)?.landing
  }

  resumeAppends(name: string): void {
    this.#pauses.get(name)?.end()
  }

  /** Refuses new tasks and resolves when all accepted ones have ended. */
  async drain(): Promise<void> {
    this.#isStopped = true
    for (const pause of this.#pauses.values()) pause.end()
    while (this.#lanes.size > 0) {
      await Promise.all([...this.#lanes.values()].map(({ tail }) => tail))
    }
  }

  #refusalOf(names: readonly string[]): Error | undefined {
    if (this.#isStopped) return new NotAppliedError('the server is stopping')
    const full = names.find((name) => !this.hasRoom(name))
    return full === undefined ? undefined : new CommitQueueFullError(this.depthOf(full))
  }

  /** The task of a group: lands whoever waits until nobody does. Others may join meanwhile, until a task comes behind. */
  async #landAll(name: string, group: Group<Member>): Promise<void> {
    const lane = this.#lanes.get(name)
    if (lane === undefined) return
    while (group.waiting.length > 0) {
      const ready = this.#options.untilReady(name)
      if (ready !== undefined) await ready
      const pause = this.#pauses.get(name)
      const taken = take(group, pause !== undefined)
      if (taken.length === 0) {
        const joined = new Promise<void>((resolve) => (group.wake = resolve))
        await Promise.race([joined, pause?.ended])
        continue
      }
      const startMs = this.#options.nowMs()
      lane.landing = this.#options.land(taken)
      await lane.landing
      lane.landing = undefined
      const tookMs = (this.#options.nowMs() - startMs) / taken.length
      lane.memberMs += (tookMs - lane.memberMs) * NEWEST_WEIGHT
      // The task itself holds one place, which it gives back when it ends.
      this.#free(lane, group.waiting.length > 0 ? taken.length : taken.length - 1)
    }
    if (lane.group === group) lane.group = undefined
  }

  #enter(name: string): Lane<Member> {
    const lane = this.#lanes.get(name) ?? newLane<Member>()
    this.#lanes.set(name, lane)
    lane.depth += 1
    return lane
  }

  #leave(name: string, lane: Lane<Member>): void {
    this.#free(lane, 1)
    if (lane.depth > 0) return
    this.#lanes.delete(name)
    for (const wake of lane.waitingForRoom.splice(0)) wake()
  }

  #free(lane: Lane<Member>, places: number): void {
    lane.depth -= places
    for (const wake of lane.waitingForRoom.splice(0)) wake()
  }
}

function newLane<Member>(): Lane<Member> {
  return {
    depth: 0,
    tail: Promise.resolve(),
    group: undefined,
    landing: undefined,
    waitingForRoom: [],
    memberMs: 0,
  }
}

/** The oldest members that may land now, out of the group. */
function take<Member extends LaneMember>(group: Group<Member>, isPaused: boolean): Member[] {
  const taken: Member[] = []
  const left: Member[] = []
  for (const member of group.waiting) {
    const waits = isPaused && member.orderingClass === 'append'
    if (waits || taken.length >= GROUP_MEMBERS_MAX) left.push(member)
    else taken.push(member)
  }
  group.waiting = left
  return taken
}

/** Resolves when everybody in front has left. */
function turnOf(places: readonly Lane<unknown>[]): Promise<unknown> {
  const [only] = places
  return only !== undefined && places.length === 1
    ? only.tail
    : Promise.all(places.map(({ tail }) => tail))
}

function ignore(): void {}
