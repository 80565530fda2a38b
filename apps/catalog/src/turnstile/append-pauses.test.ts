import { setImmediate } from 'node:timers/promises'
import { manualClock } from '@timelake/testing/manual-clock'
import { expect, it } from 'vitest'
import { Registry } from 'prom-client'
import { Turnstile } from './turnstile.ts'
import { makeTurnstileMetrics } from './turnstile-metrics.ts'
import { PAUSE_MS_MAX, PAUSE_SHARE_MAX } from './pause-budget.ts'

const TABLE = 'table'
const CALLER = {
  crowd: 'crowd',
  connection: { id: '1', remoteAddress: '10.0.0.1', closed: new AbortController().signal },
  userAgent: 'spark',
  address: '10.0.0.1',
}

const aborted = () => new AbortController().signal

function world() {
  const clock = manualClock()
  const told: string[] = []
  const pauses: { readonly startMs: number; endMs: number }[] = []
  let timers: { readonly atMs: number; fire(): void }[] = []
  const registry = new Registry()
  const turnstile = new Turnstile({
    isOn: true,
    rules: { contendedForMs: 3_000, holdMsMax: 1_500, waitMsMax: 20_000 },
    nowMs: clock.nowMs,
    delay: (ms) =>
      new Promise((fire) => void timers.push({ atMs: clock.nowMs() + ms, fire: () => fire() })),
    appends: {
      pauseAppends: async (lane, ms) => {
        told.push(`pause ${lane} ${ms}`)
        pauses.push({ startMs: clock.nowMs(), endMs: clock.nowMs() + ms })
      },
      resumeAppends: (lane) => {
        told.push(`resume ${lane}`)
        const last = pauses.at(-1)
        if (last !== undefined) last.endMs = Math.min(last.endMs, clock.nowMs())
      },
    },
    metrics: (lines) => makeTurnstileMetrics(registry, lines),
  })
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms)
    const due = timers.filter(({ atMs }) => atMs <= clock.nowMs())
    timers = timers.filter((timer) => !due.includes(timer))
    for (const { fire } of due) fire()
    // What waited for them does it in the next turns of the queue.
    await setImmediate()
  }
  const lose = () => void turnstile.commit(TABLE, CALLER, 'old')({ kind: 'lost' }, aborted)
  return { clock, told, pauses, turnstile, lose, pass }
}

it('has appends wait from the load of a strict commit that lost before, until that has landed', async () => {
  const { told, turnstile, lose } = world()
  lose()
  const load = await turnstile.load(TABLE, CALLER, aborted())
  expect(load.isRetry).toBe(true)
  await load.pauseAppends('lane')
  load.answered('new')
  expect(told).toEqual(['pause lane 1000'])
  const settle = turnstile.commit(TABLE, CALLER, 'new')
  expect(told).toHaveLength(1)
  await settle({ kind: 'landed', isStrict: true, head: 'newer' }, aborted)
  expect(told).toEqual(['pause lane 1000', 'resume lane'])
})

it('has appends wait for as long as they may, whatever the caller loads meanwhile', async () => {
  const { told, turnstile, lose, pass } = world()
  lose()
  const load = await turnstile.load(TABLE, CALLER, aborted())
  await load.pauseAppends('lane')
  load.answered('new')
  await pass(PAUSE_MS_MAX / 2)
  const further = await turnstile.load(TABLE, CALLER, aborted())
  further.answered('new')
  await pass(PAUSE_MS_MAX / 2 - 1)
  expect(told).toEqual(['pause lane 1000'])
  await pass(1)
  expect(told).toEqual(['pause lane 1000', 'resume lane'])
})

it('lets appends go on after a second, and for four fifths of the time', async () => {
  const { clock, pauses, turnstile, lose } = world()
  const rounds = 40
  const roundMs = 500
  for (let round = 0; round < rounds; round += 1) {
    lose()
    const load = await turnstile.load(TABLE, CALLER, aborted())
    await load.pauseAppends('lane')
    clock.advance(roundMs)
    load.failed()
  }
  const pausedMs = pauses.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)
  expect(pausedMs).toBeGreaterThan(0)
  expect(pausedMs).toBeLessThanOrEqual(rounds * roundMs * PAUSE_SHARE_MAX + PAUSE_MS_MAX)
})

it('asks nothing of appends for a load that lost nothing', async () => {
  const { told, turnstile, lose } = world()
  lose()
  const other = { ...CALLER, crowd: 'reader', connection: { ...CALLER.connection, id: '2' } }
  const load = await turnstile.load(TABLE, other, aborted())
  expect(load.isRetry).toBe(false)
  await load.pauseAppends('lane')
  expect(told).toEqual([])
})
