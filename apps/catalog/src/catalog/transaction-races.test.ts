import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { expectWholeState } from '../expect-whole-state.ts'
import { describeOnEachDatabase } from '../on-each-database.ts'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { createCommitBody } from '../test-bodies.ts'
import { makeNamespace } from '../test-tables.ts'
import { changeOf, setProperty, transact } from '../test-transactions.ts'
import { balanceOf, book, openAccounts, transfer, type Account } from '../test-transfers.ts'

const ACCOUNTS = 5
const PAIRS = 50
const ATTEMPTS_MAX = 1_000

// It runs on a server that others may be using.
vi.setConfig({ testTimeout: 120_000 })

describeOnEachDatabase('racing transactions', (on) => {
  /** One process, and on PostgreSQL a second one on the same database. */
  const catalogs: TestCatalog[] = []
  let count = 0

  beforeAll(async () => {
    const first = await openTestCatalog({ on })
    catalogs.push(first)
    if (on === 'postgres') catalogs.push(await openTestCatalog({ sharing: first }))
    await makeNamespace(first, ['bank'])
  })
  afterAll(async () => {
    for (const catalog of catalogs.toReversed()) await catalog.stop()
  })

  const catalogAt = (index: number): TestCatalog => {
    const catalog = catalogs[index % catalogs.length]
    if (catalog === undefined) throw new Error('no catalog')
    return catalog
  }
  const newAccounts = (size = ACCOUNTS) => {
    count += 1
    return openAccounts(catalogAt(0), { prefix: `a${count}`, size })
  }
  const balances = (accounts: readonly Account[]) =>
    Promise.all(accounts.map((account, at) => balanceOf(catalogAt(at), account)))

  it('I2 ends 50 pairs in opposite orders, all with success, and loses none of their changes', async () => {
    const accounts = await newAccounts()
    const changes = (key: string) =>
      accounts.map(({ name }) => changeOf(['bank'], name, setProperty(key, '1')))
    const answers = await Promise.all(
      Array.from({ length: PAIRS }, (_, pair) => [
        transact(catalogAt(pair), changes(`up${pair}`)),
        transact(catalogAt(pair + 1), changes(`down${pair}`).toReversed()),
      ]).flat(),
    )
    const refused = answers.filter(({ status }) => status !== 204)
    // Two processes may collide more often than one of them tries.
    expect(refused.filter(({ status }) => status !== 409)).toEqual([])
    if (catalogs.length === 1) expect(refused).toEqual([])
    for (const { table } of accounts) {
      const { text } = await catalogAt(0).call('GET', table.path)
      const kept = answers.filter((_, at) =>
        text.includes(`"${at % 2 === 0 ? 'up' : 'down'}${Math.floor(at / 2)}":"1"`),
      )
      expect(kept).toEqual(answers.filter(({ status }) => status === 204))
    }
  })

  it('I2 of transactions that create the same names in opposite orders one succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => {
        const changes = ['x', 'y', 'z'].map((name, place) => {
          const location = `${catalogAt(0).warehouse.location}/race/${at}-${name}`
          const uuid = `0189dddd-0000-7000-8000-0000000${String(at).padStart(3, '0')}0${place}`
          return changeOf(['bank'], name, createCommitBody({ uuid, location }))
        })
        return transact(catalogAt(at), at % 2 === 0 ? changes : changes.toReversed())
      }),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([204, ...Array.from({ length: 9 }, () => 409)])
    await expectWholeState(catalogAt(1))
  })

  it('I1 I2 random transfers and single commits keep every sum', async () => {
    const entry = fc.record({
      at: fc.nat(ACCOUNTS - 1),
      amount: fc.integer({ min: 1, max: 100 }),
    })
    /** An amount from one account to others, or a deposit on one. */
    const operation = fc.oneof(
      fc.record({
        kind: fc.constant('transfer' as const),
        from: fc.nat(ACCOUNTS - 1),
        to: fc.uniqueArray(entry, { minLength: 1, maxLength: 3, selector: ({ at }) => at }),
      }),
      fc.record({ kind: fc.constant('deposit' as const), to: entry }),
    )
    const plan = fc.array(operation, { minLength: 5, maxLength: 15 })
    await fc.assert(
      fc.asyncProperty(plan, async (operations) => {
        const accounts = await newAccounts()
        const expected = accounts.map(() => 0)
        const note = (at: number, amount: number) => {
          expected[at] = (expected[at] ?? 0) + amount
        }
        const accountAt = (at: number) => accounts[at] as Account
        await Promise.all(
          operations.map(async (one, index) => {
            const catalog = catalogAt(index)
            for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
              const entries =
                one.kind === 'deposit'
                  ? [{ at: one.to.at, amount: one.to.amount }]
                  : entriesOf(one.from, one.to)
              if (entries.length === 0) return
              const booked = entries.map(({ at, amount }) => ({ account: accountAt(at), amount }))
              const [only] = booked
              const answer =
                one.kind === 'deposit' && only !== undefined
                  ? await book(catalog, only)
                  : await transfer(catalog, booked)
              if (answer.status === 409) continue
              expect(answer.status, answer.text).toBeLessThan(300)
              for (const { at, amount } of entries) note(at, amount)
              return
            }
            throw new Error(`operation ${index} lost ${ATTEMPTS_MAX} races`)
          }),
        )
        expect(await balances(accounts)).toEqual(expected)
      }),
      { numRuns: 6 },
    )
    await expectWholeState(catalogAt(1))
  })
})

function entriesOf(from: number, to: readonly { at: number; amount: number }[]) {
  const others = to.filter(({ at }) => at !== from)
  const sum = others.reduce((total, { amount }) => total + amount, 0)
  return others.length === 0 ? [] : [{ at: from, amount: -sum }, ...others]
}
