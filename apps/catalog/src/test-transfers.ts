import { decodeLoadTableResult } from '@timelake/iceberg/rest/load-table-json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { TestAnswer, TestCatalog } from './open-test-catalog.ts'
import { appendBody } from './test-bodies.ts'
import { makeTable, type TestTable } from './test-tables.ts'
import { changeOf } from './test-transactions.ts'

/** A table that is an account: the summary of its current snapshot says how much is on it. */
export interface Account {
  readonly name: string
  readonly table: TestTable
}

export interface Entry {
  readonly account: Account
  readonly amount: number
}

const LEVELS = ['bank']
/** Snapshot ids of this test process. */
let snapshotCount = 0n

/** New accounts with nothing on them, in the namespace `bank`, which must exist. */
export async function openAccounts(
  catalog: TestCatalog,
  { prefix, size }: { readonly prefix: string; readonly size: number },
): Promise<Account[]> {
  const accounts: Account[] = []
  for (let at = 0; at < size; at += 1) {
    const name = `${prefix}-${at}`
    accounts.push({ name, table: await makeTable(catalog, { levels: LEVELS, name }) })
  }
  return accounts
}

/** What is on the account now, read through this catalog. */
export async function balanceOf(catalog: TestCatalog, account: Account): Promise<number> {
  return (await look(catalog, account)).balance
}

/** The commit that books the amount on what the account is now. */
export async function bookingOf(catalog: TestCatalog, entry: Entry): Promise<JsonObject> {
  const { account, amount } = entry
  const { balance, parent, sequenceNumber } = await look(catalog, account)
  snapshotCount += 1n
  const body = appendBody({
    id: snapshotCount,
    sequenceNumber: sequenceNumber + 1n,
    location: account.table.location,
    ...(parent === undefined ? {} : { parent }),
  })
  const [add, ...rest] = body['updates'] as JsonObject[]
  const snapshot = {
    ...(add?.['snapshot'] as JsonObject),
    summary: { operation: 'append', balance: String(balance + amount) },
  }
  return { ...body, updates: [{ ...add, snapshot }, ...rest] }
}

/** Books all entries in one transaction. */
export async function transfer(
  catalog: TestCatalog,
  entries: readonly Entry[],
): Promise<TestAnswer> {
  const changes: JsonObject[] = []
  for (const entry of entries) {
    changes.push(changeOf(LEVELS, entry.account.name, await bookingOf(catalog, entry)))
  }
  const body = { 'table-changes': changes }
  return catalog.call('POST', '/v1/main/transactions/commit', { body })
}

/** Books one entry in a commit of its table. */
export async function book(catalog: TestCatalog, entry: Entry): Promise<TestAnswer> {
  const body = await bookingOf(catalog, entry)
  return catalog.call('POST', entry.account.table.path, { body })
}

async function look(catalog: TestCatalog, { table }: Account) {
  const { text } = await catalog.call('GET', table.path)
  const { currentSnapshotId, snapshots, lastSequenceNumber } = decodeLoadTableResult(text).metadata
  const current = snapshots.find(({ snapshotId }) => snapshotId === currentSnapshotId)
  return {
    balance: Number(current?.summary?.['balance'] ?? 0),
    parent: currentSnapshotId,
    sequenceNumber: lastSequenceNumber,
  }
}
