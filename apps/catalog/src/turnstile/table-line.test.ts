import { beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from './caller.ts'
import { TableLine } from './table-line.ts'
import type { Arrival } from './turn.ts'
import { COURTESY_MS_MAX, HOLD_MS_MIN, NO_SNAPSHOT } from './turn-rules.ts'

const RULES = { contendedForMs: 3_000, holdMsMax: 1_500, waitMsMax: 20_000 }
const FIRST_HOLD_MS = 300

interface TestCaller extends Caller {
  close(): void
}

function caller(id: string, crowd = 'crowd', userAgent = 'test/1'): TestCaller {
  const closing = new AbortController()
  const connection = { id, remoteAddress: '10.0.0.1', closed: closing.signal }
  const close = () => closing.abort()
  return { crowd, connection, userAgent, address: '10.0.0.1', close }
}

let line: TableLine
let head: string
beforeEach(() => {
  line = new TableLine(RULES)
  head = NO_SNAPSHOT
})

function lose(who: Caller, nowMs: number): void {
  line.settle(line.arrive(who, 'old', nowMs), { kind: 'lost' }, nowMs)
}

function land(who: Caller, nowMs: number, base = head): ReturnType<TableLine['settle']> {
  const arrival = line.arrive(who, base, nowMs)
  return settleLanded(arrival, nowMs)
}

function settleLanded(arrival: Arrival, nowMs: number): ReturnType<TableLine['settle']> {
  head = `after ${nowMs}`
  return line.settle(arrival, { kind: 'landed', isStrict: true, head }, nowMs)
}

/** Loads; whether the answer came at once. */
function load(who: Caller, nowMs: number): 'answered' | 'waits' {
  const ticket = line.load(who, nowMs)
  if (ticket === undefined || line.takeCalled().includes(ticket)) {
    line.answered(who, head, nowMs)
    return 'answered'
  }
  return 'waits'
}

function calledNow(): readonly string[] {
  return line.takeCalled().map(({ caller: { connection } }) => connection.id)
}

const [a, b, c, reader] = ['a', 'b', 'c', 'reader'].map((id) => caller(id)) as [
  TestCaller,
  TestCaller,
  TestCaller,
  TestCaller,
]

describe('a table that nobody races for', () => {
  it('lets every load pass', () => {
    expect(line.load(a, 0)).toBeUndefined()
    land(a, 1)
    expect(line.load(a, 2)).toBeUndefined()
    expect(line.isOver(2)).toBe(true)
  })

  it('is contended for a time after a lost race', () => {
    lose(a, 0)
    expect(line.isContended(RULES.contendedForMs - 1)).toBe(true)
    expect(line.isContended(RULES.contendedForMs)).toBe(false)
    expect(load(a, RULES.contendedForMs)).toBe('answered')
    expect(line.turn).toBeUndefined()
  })
})

describe('writers who lost a race', () => {
  beforeEach(() => [a, b, c].forEach((who) => lose(who, 0)))

  it('are answered one after another, each when the one before has committed', () => {
    expect([a, b, c].map((who) => load(who, 1))).toEqual(['answered', 'waits', 'waits'])
    land(a, 5)
    expect(calledNow()).toEqual(['b'])
    line.answered(b, head, 5)
    land(b, 9)
    expect(calledNow()).toEqual(['c'])
    expect(line.takeCounts()).toEqual({ holdsExpired: 0, conflictsAvoided: 2 })
  })

  it('do not make readers wait', () => {
    load(a, 1)
    expect(load(b, 1)).toBe('waits')
    expect(load(reader, 2)).toBe('answered')
    expect(load(caller('other', 'another crowd'), 2)).toBe('answered')
  })

  it('are passed over when they take too long, and their late commit is let through', () => {
    load(a, 1)
    load(b, 1)
    line.tick(FIRST_HOLD_MS)
    expect(calledNow()).toEqual([])
    line.tick(1 + FIRST_HOLD_MS)
    expect(calledNow()).toEqual(['b'])
    expect(line.takeCounts().holdsExpired).toBe(1)
    land(a, 400)
    expect(line.turn).toBeUndefined()
  })

  it('have their old place when they were answered out of turn, because they had waited for too long', () => {
    load(a, 1)
    expect(load(b, 1)).toBe('waits')
    const arrival = line.arrive(a, head, 2)
    line.tick(1 + RULES.waitMsMax)
    expect(calledNow()).toEqual(['b'])
    line.answered(b, head, 1 + RULES.waitMsMax)
    lose(c, 2 + RULES.waitMsMax)
    expect(load(c, 3 + RULES.waitMsMax)).toBe('waits')
    lose(b, 10 + RULES.waitMsMax)
    expect(load(b, 20 + RULES.waitMsMax)).toBe('waits')
    settleLanded(arrival, 30 + RULES.waitMsMax)
    expect(calledNow()).toEqual(['b'])
  })

  it('keep their turn while their commit is tried, however long that takes', () => {
    load(a, 1)
    load(b, 1)
    const arrival = line.arrive(a, head, 2)
    expect(line.dueMs()).toBe(1 + RULES.waitMsMax)
    line.tick(10_000)
    expect(calledNow()).toEqual([])
    settleLanded(arrival, 10_001)
    expect(calledNow()).toEqual(['b'])
  })

  it('load again for free while it is their turn, which counts from the last load but has an end', () => {
    load(a, 1)
    expect(load(b, 1)).toBe('waits')
    for (let ms = 200; ms < 1 + RULES.holdMsMax; ms += 200) expect(load(a, ms)).toBe('answered')
    expect(calledNow()).toEqual([])
    expect(line.dueMs()).toBe(1 + RULES.holdMsMax)
    line.tick(1 + RULES.holdMsMax)
    expect(calledNow()).toEqual(['b'])
  })

  it('have all of their time from their answer on, when that had to wait for other processes', () => {
    const ticket = line.load(a, 1)
    if (ticket === undefined) throw new Error('a waits')
    expect(calledNow()).toEqual(['a'])
    load(b, 1)
    line.extendTurn(ticket, 10_000)
    const answeredMs = 1 + RULES.holdMsMax * 2
    line.tick(answeredMs)
    expect(calledNow()).toEqual([])
    line.answered(a, head, answeredMs)
    line.tick(answeredMs + FIRST_HOLD_MS - 1)
    expect(calledNow()).toEqual([])
    line.tick(answeredMs + FIRST_HOLD_MS)
    expect(calledNow()).toEqual(['b'])
  })

  it('I38 are answered anyway when they have waited for too long', () => {
    load(a, 1)
    load(b, 1)
    line.arrive(a, head, 2)
    line.tick(RULES.waitMsMax)
    expect(calledNow()).toEqual([])
    line.tick(1 + RULES.waitMsMax)
    expect(calledNow()).toEqual(['b'])
    expect(line.waiting).toEqual([])
  })

  it('leave the line when they go away, and end their turn with their connection', () => {
    load(a, 1)
    const ticket = line.load(b, 1)
    line.load(c, 1)
    if (ticket !== undefined) line.leave(ticket, 2)
    line.closed('a', 3)
    expect(calledNow()).toEqual(['c'])
    expect(line.waiting).toEqual([])
  })

  it('come first in line when a commit out of turn beat them', () => {
    load(a, 1)
    load(b, 1)
    load(c, 1)
    land(caller('fast', 'another crowd'), 2)
    expect(calledNow()).toEqual(['b'])
    line.settle(line.arrive(a, NO_SNAPSHOT, 3), { kind: 'lost' }, 3)
    expect(load(a, 4)).toBe('waits')
    expect(line.waiting.map(({ caller: { connection } }) => connection.id)).toEqual(['a', 'c'])
  })

  it('take turns from their first load on once they have committed', () => {
    load(a, 1)
    land(a, 2)
    load(b, 3)
    expect(load(a, 4)).toBe('waits')
    land(b, 5)
    expect(calledNow()).toEqual(['a'])
  })

  it('have turns as long as callers like them need, within bounds', () => {
    for (let round = 0; round < 20; round += 1) {
      load(a, round * 100)
      land(a, round * 100 + 20)
    }
    expect(line.holdMs(b)).toBeCloseTo(80, -1)
    expect(line.holdMs(caller('d', 'another crowd'))).toBe(FIRST_HOLD_MS)
    for (let round = 0; round < 20; round += 1) {
      load(a, 5_000 + round * 10)
      land(a, 5_000 + round * 10)
    }
    expect(line.holdMs(b)).toBe(HOLD_MS_MIN)
  })
})

describe('a caller that loads and does not commit', () => {
  it('is taken for a reader until it commits or loses again', () => {
    lose(a, 0)
    load(a, 1)
    land(a, 2)
    load(a, 3)
    line.tick(1_000)
    expect(line.takeCounts().holdsExpired).toBe(1)
    lose(b, 1_001)
    load(b, 1_002)
    expect(load(a, 1_003)).toBe('answered')
    lose(a, 1_004)
    expect(load(a, 1_005)).toBe('waits')
  })
})

describe('a client that commits on another connection than it loads on', () => {
  it('is known by the state that it builds on', () => {
    lose(a, 0)
    load(a, 1)
    land(caller('fresh'), 5)
    expect(line.turn).toBeUndefined()
    lose(b, 6)
    load(b, 7)
    expect(load(a, 8)).toBe('waits')
  })

  it('takes a turn after it lost, on whichever connection it comes back', () => {
    const fresh = caller('fresh')
    lose(fresh, 0)
    fresh.close()
    line.closed('fresh', 1)
    lose(b, 1)
    load(b, 2)
    expect(load(a, 3)).toBe('waits')
    expect(load(c, 4)).toBe('answered')
  })
})

describe('DuckDB, which builds on what was there before it loads', () => {
  const duck = (id: string): TestCaller => caller(id, 'ducks', 'duckdb/v1.5.5(linux_amd64)')
  const [loads, otherLoads] = [duck('loads'), duck('other loads')]

  function loseOn(id: string, nowMs: number): ReturnType<TableLine['settle']> {
    return line.settle(line.arrive(duck(id), 'old', nowMs), { kind: 'lost' }, nowMs)
  }

  it('has the answers to its commits one after another, each when the one before has committed', () => {
    for (const id of ['commit 1', 'commit 2', 'commit 3']) expect(loseOn(id, 0)).toBeDefined()
    expect(calledNow()).toEqual(['commit 1'])
    expect(load(loads, 5)).toBe('answered')
    const ticket = land(duck('commit 4'), 9)
    expect(calledNow()).toEqual(['commit 2'])
    expect(line.waiting.at(-1)).toBe(ticket)
  })

  it('has the turn, without a wait, if it has landed before anybody lost', () => {
    line.noteEarlierCommit(duck('commit 1'), head, 0)
    line.takeCalled()
    loseOn('commit 2', 0)
    expect(calledNow()).toEqual([])
    expect(load(loads, 1)).toBe('answered')
    land(duck('commit 3'), 5)
    expect(calledNow()).toEqual(['commit 2'])
  })

  it('waits with the first load of a connection for the end of the turn, and with no other', () => {
    loseOn('commit 1', 0)
    loseOn('commit 2', 0)
    line.takeCalled()
    const ticket = line.load(loads, 1, true)
    expect(line.load(otherLoads, 1)).toBeUndefined()
    expect(line.takeCalled()).toEqual([])
    land(duck('commit 3'), 5)
    expect(line.takeCalled()).toContain(ticket)
    expect(line.load(loads, 6)).toBeUndefined()
  })

  it('keeps its turn for long, for it does not try again', () => {
    for (let round = 0; round < 20; round += 1) {
      loseOn(`commit ${round}`, round * 10)
      load(loads, round * 10)
      land(duck(`landing ${round}`), round * 10 + 1)
      line.closed('loads', round * 10 + 1)
    }
    expect(line.holdMs(loads)).toBe(FIRST_HOLD_MS)
  })

  it('ends its turn with the connection that it loads on, once that is told from those of readers', () => {
    for (const round of [1, 2]) {
      loseOn(`commit ${round}`, round)
      load(loads, round)
      land(duck(`landing ${round}`), round)
      line.takeCalled()
      line.tick(round + FIRST_HOLD_MS)
    }
    loseOn('commit 3', 400)
    load(loads, 400)
    land(duck('landing 3'), 400)
    loseOn('commit 4', 400)
    line.takeCalled()
    line.closed('other loads', 401)
    expect(calledNow()).toEqual([])
    line.closed('loads', 401)
    expect(calledNow()).toEqual(['commit 4'])
  })

  it('is answered at once when it does not come back', () => {
    const isAnsweredAtOnce = (round: number): boolean => {
      const nowMs = round * 1_000
      const ticket = loseOn(`commit ${round}`, nowMs)
      line.tick(nowMs + FIRST_HOLD_MS)
      return ticket === undefined
    }
    expect([0, 1, 2].map(isAnsweredAtOnce)).toEqual([false, false, false])
    expect([3, 4, 5, 6, 7].map(isAnsweredAtOnce).at(-1)).toBe(true)
  })
})

describe('a client that commits on top of its own commit, without a load', () => {
  beforeEach(() => {
    lose(b, 0)
    land(a, 1)
    land(a, 2)
    load(b, 3)
  })

  it('is answered after the one that it beat has committed', () => {
    const courtesy = land(a, 4)
    expect(courtesy).toBeDefined()
    expect(calledNow()).toEqual([])
    line.settle(line.arrive(b, 'old', 5), { kind: 'lost' }, 5)
    load(b, 6)
    line.takeCalled()
    land(b, 7)
    expect(calledNow()).toEqual(['a'])
  })

  it('goes on for some commits while others wait, and then waits in its turn', () => {
    lose(c, 3)
    expect(load(c, 3)).toBe('waits')
    // The state that b builds on is old when the first of them has landed.
    const answers = [4, 5, 6, 7].map((ms) => land(a, ms) === undefined)
    expect(answers).toEqual([true, true, true, false])
    expect(calledNow()).toEqual(['c'])
    expect(line.turn?.ticket.caller).toBe(c)
  })

  it('gives its turn away when it does not go on', () => {
    lose(c, 3)
    load(c, 3)
    expect(land(a, 4)).toBeUndefined()
    expect(line.turn?.ticket.caller).toBe(a)
    line.tick(5 + RULES.holdMsMax)
    expect(calledNow()).toEqual(['c'])
  })

  it('gives its turn away when it closes its connection', () => {
    lose(c, 3)
    load(c, 3)
    land(a, 4)
    line.closed('a', 5)
    expect(calledNow()).toEqual(['c'])
  })

  it('does not go on where those who wait would come too late', () => {
    const many = Array.from({ length: 200 }, (_, index) => caller(`m${index}`))
    for (const one of many) {
      lose(one, 3)
      load(one, 3)
    }
    // 200 times four commits of 200 ms are more than the longest wait.
    line.settle(line.arrive(b, head, 203), { kind: 'lost' }, 203)
    expect(land(a, 204)).toBeDefined()
    expect(line.turn?.ticket.caller).toBe(many[1])
  })

  it('waits for that no longer than it must', () => {
    const courtesy = land(a, 4)
    expect(line.isOver(60_000)).toBe(false)
    expect(line.dueMs()).toBe(4 + COURTESY_MS_MAX)
    line.tick(4 + COURTESY_MS_MAX)
    expect(line.takeCalled()).toEqual([courtesy])
  })
})

it('tells nobody apart by connections that several callers share, and lets them all wait', () => {
  lose(a, 0)
  lose(b, 0)
  load(a, 1)
  land(a, 2)
  load(a, 3)
  // Built on a state that was never given to this connection.
  const arrival = line.arrive(a, 'another state', 4)
  line.settle(arrival, { kind: 'lost' }, 4)
  land(a, 5)
  load(c, 6)
  expect(load(reader, 7)).toBe('waits')
})

it('calls everybody when the server stops', () => {
  lose(a, 0)
  lose(b, 0)
  load(a, 1)
  load(b, 1)
  line.callAll()
  expect(calledNow()).toEqual(['b'])
})
