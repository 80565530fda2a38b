import { expect, it } from 'vitest'

import { measureCell, percentile, printCells } from './measure.ts'

it('takes the nearest rank of an ascending list as its percentile', () => {
  const ascending = Array.from({ length: 100 }, (_, index) => index + 1)
  expect(percentile(ascending, 0.5)).toBe(50)
  expect(percentile(ascending, 0.99)).toBe(99)
  expect(percentile([7], 0.99)).toBe(7)
  expect(percentile([], 0.5)).toBeNaN()
})

it('stops at the bound on operations and counts each of them', async () => {
  const turns: number[] = []
  const plan = { concurrency: 3, durationMs: 60_000, operationCountMax: 10, processIds: [] }
  const cell = await measureCell(plan, (turn) => {
    turns.push(turn)
    return Promise.resolve()
  })
  expect(cell.operationCount).toBe(10)
  expect(turns.sort((left, right) => left - right)).toEqual([...Array(10).keys()])
  expect(cell.serverCpuMs).toBeNaN()
})

it('ends with the error of an operation', async () => {
  const plan = { concurrency: 1, durationMs: 60_000, operationCountMax: 10, processIds: [] }
  await expect(measureCell(plan, () => Promise.reject(new Error('409')))).rejects.toThrow('409')
})

it('prints one line a cell, without figures that are unknown', () => {
  const cell = {
    operationCount: 4,
    perSecond: 2,
    p50Ms: 1,
    p99Ms: 3,
    serverCpuMs: NaN,
    rssBytes: 0,
  }
  const lines = printCells('load', [{ label: 'full', note: '12 B', ...cell }]).split('\n')
  expect(lines).toHaveLength(3)
  expect(lines[2]).toBe('| full | 2.0 | 1.00 | 3.00 |  |  | 4 | 12 B |')
})
