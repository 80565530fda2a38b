import { decodeLoadTableResult } from '@timelake/iceberg/rest/load-table-json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { alternateCommits } from './alternate-commits.ts'
import { expectWholeState } from './expect-whole-state.ts'
import { describeOnPostgres } from './on-each-database.ts'
import { openTestCatalog, type TestAnswer, type TestCatalog } from './open-test-catalog.ts'
import { appendBody, SCHEMA } from './test-bodies.ts'
import { member } from './test-json.ts'
import { makeNamespace, makeTable, segment } from './test-tables.ts'

const COMMITS = 300
const WRITERS = 8
const APPENDS_PER_WRITER = 10
const ATTEMPTS_MAX = 1_000
const TURNS_PER_WRITER = 40
const NAMESPACES = '/v1/main/namespaces'

// Races of two processes take as long as the machine lets them.
vi.setConfig({ testTimeout: 120_000 })

describeOnPostgres('two processes on one database', () => {
  let catalogs: readonly [TestCatalog, TestCatalog]
  beforeAll(async () => {
    const first = await openTestCatalog({ on: 'postgres' })
    catalogs = [first, await openTestCatalog({ sharing: first })]
    await makeNamespace(first, ['ns'])
  })
  afterAll(async () => {
    await catalogs[1].stop()
    await catalogs[0].stop()
  })
  const catalogAt = (index: number): TestCatalog => catalogs[index % 2 === 0 ? 0 : 1]

  it('I9 commit in turns, and every next load of the other is fresh', async () => {
    await alternateCommits(catalogs, { levels: ['ns'], name: 'turns', commits: COMMITS })
  })

  it('I2 keep every acknowledged append of racing writers once, in one line of history', async () => {
    const { path, location } = await makeTable(catalogAt(0), { levels: ['ns'], name: 'race' })
    const append = async (writer: number, id: bigint): Promise<void> => {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
        const catalog = catalogAt(writer + attempt)
        const { metadata } = decodeLoadTableResult((await catalog.call('GET', path)).text)
        const { currentSnapshotId: parent, lastSequenceNumber } = metadata
        const body = appendBody({
          id,
          sequenceNumber: lastSequenceNumber + 1n,
          location,
          ...(parent === undefined ? {} : { parent }),
        })
        const { status, text } = await catalog.call('POST', path, { body })
        if (status === 200) return
        expect(status, text).toBe(409)
      }
      throw new Error(`append ${id} lost ${ATTEMPTS_MAX} races`)
    }
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let at = 1; at <= APPENDS_PER_WRITER; at += 1)
          await append(writer, BigInt(writer * APPENDS_PER_WRITER + at))
      }),
    )
    const { text } = await catalogAt(1).call('GET', path)
    const { snapshots, currentSnapshotId } = decodeLoadTableResult(text).metadata
    const byId = new Map(snapshots.map((snapshot) => [snapshot.snapshotId, snapshot]))
    const line: bigint[] = []
    for (let at = currentSnapshotId; at !== undefined; at = byId.get(at)?.parentSnapshotId)
      line.push(at)
    const all = Array.from({ length: WRITERS * APPENDS_PER_WRITER }, (_, at) => BigInt(at + 1))
    expect(line.sort((a, b) => Number(a - b))).toEqual(all)
  })

  it('I33 take turns on one table instead of writing metadata files in vain', async () => {
    const { path } = await makeTable(catalogAt(0), { levels: ['ns'], name: 'busy' })
    const racesOf = async (catalog: TestCatalog): Promise<number> => {
      const { text } = await catalog.call('GET', '/metrics')
      return Number(/^timelake_commit_races_total (\d+)/m.exec(text)?.[1] ?? 0)
    }
    const before = (await racesOf(catalogAt(0))) + (await racesOf(catalogAt(1)))
    const writer = async (at: number): Promise<void> => {
      for (let turn = 0; turn < TURNS_PER_WRITER; turn += 1) {
        const updates = { [`w${at}`]: String(turn) }
        const body = { updates: [{ action: 'set-properties', updates }] }
        const { status, text } = await catalogAt(at).call('POST', path, { body })
        expect(status, text).toBe(200)
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, (_, at) => writer(at)))
    const races = (await racesOf(catalogAt(0))) + (await racesOf(catalogAt(1))) - before
    const { json } = await catalogAt(1).call('GET', path)
    const properties = member(json, 'metadata', 'properties') as JsonObject
    for (let at = 0; at < WRITERS; at += 1) {
      expect(properties[`w${at}`]).toBe(String(TURNS_PER_WRITER - 1))
    }
    expect(races).toBeLessThan((WRITERS * TURNS_PER_WRITER) / 10)
  })

  it('I2 apply every change that needs no state, also when they collide', async () => {
    const { path } = await makeTable(catalogAt(0), { levels: ['ns'], name: 'collide' })
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        catalogAt(at).call('POST', path, {
          body: { updates: [{ action: 'set-properties', updates: { [`k${at}`]: '1' } }] },
        }),
      ),
    )
    const { text } = await catalogAt(0).call('GET', path)
    for (const [at, answer] of answers.entries()) {
      expect([200, 409]).toContain(answer.status)
      expect(text.includes(`"k${at}":"1"`)).toBe(answer.status === 200)
    }
  })

  it('create one name once, and rename and drop it once', async () => {
    const tables = `${NAMESPACES}/ns/tables`
    const winners = (answers: readonly TestAnswer[]) =>
      answers.filter(({ status }) => status < 300).length
    for (let round = 0; round < 10; round += 1) {
      const name = `once${round}`
      const created = await Promise.all(
        [0, 1, 2, 3].map((at) =>
          catalogAt(at).call('POST', tables, { body: { name, schema: SCHEMA } }),
        ),
      )
      expect(winners(created)).toBe(1)
      const renamed = await Promise.all(
        [0, 1, 2, 3].map((at) =>
          catalogAt(at).call('POST', '/v1/main/tables/rename', {
            body: {
              source: { namespace: ['ns'], name },
              destination: { namespace: ['ns'], name: `${name}-${at}` },
            },
          }),
        ),
      )
      // A second process may rename the renamed table only under its new name, so one wins.
      expect(winners(renamed)).toBeGreaterThanOrEqual(1)
      const left = (await catalogAt(round).call('GET', tables)).text
      const names = [0, 1, 2, 3].filter((at) => left.includes(`"${name}-${at}"`))
      expect(names).toHaveLength(1)
      const dropped = await Promise.all(
        [0, 1, 2, 3].map((at) => catalogAt(at).call('DELETE', `${tables}/${name}-${names[0]}`)),
      )
      expect(winners(dropped)).toBe(1)
      expect(dropped.filter(({ status }) => status === 404)).toHaveLength(3)
    }
    await expectWholeState(catalogAt(1))
  })

  it('leave a whole state when creations, renames, drops and commits race at random', async () => {
    const spaces = [['a'], ['b'], ['a', 'c']]
    const names = ['x', 'y', 'z']
    const pick = <T>(items: readonly T[], at: number): T => items[at % items.length] as T
    for (let round = 0; round < 8; round += 1) {
      await Promise.all(
        Array.from({ length: 40 }, async (_, at) => {
          const random = (at * 7919 + round * 104_729) >>> 0
          const catalog = catalogAt(at)
          const levels = pick(spaces, random)
          const [name, other] = [pick(names, random >> 2), pick(names, random >> 4)]
          const space = `${NAMESPACES}/${segment(...levels)}`
          const calls: (readonly [string, string, JsonObject?])[] = [
            ['POST', NAMESPACES, { namespace: levels }],
            ['DELETE', space],
            ['POST', `${space}/tables`, { name, schema: SCHEMA }],
            ['POST', `${space}/tables`, { name, schema: SCHEMA }],
            ['DELETE', `${space}/tables/${name}`],
            [
              'POST',
              `${space}/tables/${name}`,
              { updates: [{ action: 'set-properties', updates: { k: '1' } }] },
            ],
            [
              'POST',
              '/v1/main/tables/rename',
              {
                source: { namespace: levels, name },
                destination: { namespace: pick(spaces, random >> 3), name: other },
              },
            ],
          ]
          const [method, path, body] = pick(calls, (random >> 5) + at)
          const answer = await catalog.call(method, path, {
            ...(body === undefined ? {} : { body }),
          })
          expect([200, 204, 400, 404, 409], answer.text).toContain(answer.status)
        }),
      )
      await expectWholeState(catalogAt(round))
      await expectWholeState(catalogAt(round + 1))
    }
  })

  it('I5 replay an answer of the other process under its key', async () => {
    const { path } = await makeTable(catalogAt(0), { levels: ['ns'], name: 'keyed' })
    const headers = { 'idempotency-key': 'ffffffff-0000-4000-8000-000000000001' }
    const body = { updates: [{ action: 'set-properties', updates: { k: '1' } }] }
    const first = await catalogAt(0).call('POST', path, { body, headers })
    const second = await catalogAt(1).call('POST', path, { body, headers })
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.text).toBe(first.text)
  })
})
