import { Agent, request as httpRequest } from 'node:http'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody } from '../test-bodies.ts'
import { longAt, member } from '../test-json.ts'
import { makeNamespace, makeTable, type TestTable } from '../test-tables.ts'
import { parseJson, printJson } from '@timelake/iceberg/spec/json'

const WAIT = { timeoutMs: 20_000 }

interface Answer {
  readonly status: number
  readonly json: ReturnType<typeof parseJson>
}

/** A client with one connection of its own, as PyIceberg has. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #table: TestTable
  readonly #url: string
  readonly #userAgent: string

  constructor(catalog: TestCatalog, table: TestTable, userAgent = 'turnstile-test/1') {
    this.#url = catalog.running.url
    this.#table = table
    this.#userAgent = userAgent
  }

  load(): Promise<Answer> {
    return this.#send('GET')
  }

  append(id: bigint, parent: bigint | undefined, sequenceNumber: bigint): Promise<Answer> {
    const { location } = this.#table
    const body = { id, sequenceNumber, location, ...(parent === undefined ? {} : { parent }) }
    return this.#send('POST', appendBody(body))
  }

  /** Cuts the connection. */
  leave(): void {
    this.#agent.destroy()
  }

  #send(method: string, body?: JsonObject): Promise<Answer> {
    const { hostname, port } = new URL(this.#url)
    const path = this.#table.path
    return new Promise((resolve, reject) => {
      const headers = { 'user-agent': this.#userAgent }
      const outgoing = httpRequest(
        { hostname, port, path, method, agent: this.#agent, headers },
        (incoming) => {
          const chunks: Buffer[] = []
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
          incoming.on('error', reject)
          incoming.on('end', () => {
            const json = parseJson(Buffer.concat(chunks).toString())
            resolve({ status: incoming.statusCode ?? 0, json })
          })
        },
      )
      outgoing.on('error', reject)
      outgoing.end(body === undefined ? undefined : printJson(body))
    })
  }
}

let catalog: TestCatalog
beforeAll(async () => {
  // Longer than any test: nothing is decided by how fast this machine is.
  const turns = { contendedForMs: 600_000, holdMsMax: 600_000, waitMsMax: 600_000 }
  catalog = await openTestCatalog({ config: { turns } })
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

async function queueOf(name: string): Promise<JsonObject> {
  const { json } = await catalog.call('GET', '/admin/v1/tables')
  // `as`: what the route answers.
  const tables = member(json, 'tables') as { id: string; name: string }[]
  const id = tables.find((table) => table.name === name)?.id ?? 'none'
  return (await catalog.call('GET', `/admin/v1/tables/${id}/queue`)).json as JsonObject
}

async function contended(name: string): Promise<readonly [Client, Client, Client]> {
  const table = await makeTable(catalog, { levels: ['ns'], name })
  const clients = [1, 2, 3].map(() => new Client(catalog, table)) as [Client, Client, Client]
  const [winner, ...losers] = clients
  await Promise.all(clients.map((client) => client.load()))
  expect((await winner.append(1n, undefined, 1n)).status).toBe(200)
  for (const loser of losers) expect((await loser.append(9n, undefined, 1n)).status).toBe(409)
  return clients
}

it('answers the loads of those who lost one after another, each with what the one before committed', async () => {
  const [, first, second] = await contended('turns')
  await first.load()
  let isAnswered = false
  const waiting = second.load().finally(() => (isAnswered = true))
  await waitFor(async () => (await queueOf('turns'))['waiting-count'] === 1n, WAIT)
  expect(await queueOf('turns')).toMatchObject({
    contended: true,
    turn: { 'user-agent': 'turnstile-test/1', address: '127.0.0.1' },
    waiting: [{ 'lost-before': true }],
  })
  expect(isAnswered).toBe(false)
  expect((await first.append(2n, 1n, 2n)).status).toBe(200)
  const { json } = await waiting
  expect(longAt(json, 'metadata', 'current-snapshot-id')).toBe(2n)
  expect((await second.append(3n, 2n, 3n)).status).toBe(200)
  expect(await queueOf('turns')).toMatchObject({ turn: null, 'waiting-count': 0n })
})

it('answers readers at once, and takes commits whosever turn it is', async () => {
  const [winner, first, second] = await contended('open')
  await first.load()
  const waiting = second.load()
  const path = '/v1/main/namespaces/ns/tables/open'
  expect((await catalog.call('GET', path)).status).toBe(200)
  expect((await catalog.call('HEAD', path)).status).toBe(204)
  // Answered when the one that it beat has let the turn go.
  const beating = winner.append(2n, 1n, 2n)
  const { json } = await waiting
  expect(longAt(json, 'metadata', 'current-snapshot-id')).toBe(2n)
  first.leave()
  expect((await second.append(3n, 2n, 3n)).status).toBe(200)
  expect((await beating).status).toBe(200)
})

it('answers the commits of DuckDB one after another, whether they landed or lost', async () => {
  const table = await makeTable(catalog, { levels: ['ns'], name: 'ducks' })
  const [winner, loser] = [1, 2].map(() => new Client(catalog, table, 'duckdb/v1.5.5(test)')) as [
    Client,
    Client,
  ]
  expect((await winner.append(1n, undefined, 1n)).status).toBe(200)
  const lost = loser.append(9n, undefined, 1n)
  await waitFor(async () => (await queueOf('ducks'))['waiting-count'] === 1n, WAIT)
  expect((await winner.load()).status).toBe(200)
  const landed = winner.append(2n, 1n, 2n)
  expect((await lost).status).toBe(409)
  await waitFor(async () => (await queueOf('ducks'))['waiting-count'] === 1n, WAIT)
  const next = loser.append(3n, 2n, 3n)
  expect((await landed).status).toBe(200)
  winner.leave()
  loser.leave()
  await next.catch((error: Error) => error)
})

it('goes on when the caller that has the turn disconnects, and when one that waits does', async () => {
  const [winner, first, second] = await contended('gone')
  await first.load()
  const waiting = second.load().catch((error: Error) => error)
  await waitFor(async () => (await queueOf('gone'))['waiting-count'] === 1n, WAIT)
  second.leave()
  expect(await waiting).toBeInstanceOf(Error)
  await waitFor(async () => (await queueOf('gone'))['waiting-count'] === 0n, WAIT)
  first.leave()
  await waitFor(async () => (await queueOf('gone'))['turn'] === null, WAIT)
  expect((await winner.append(2n, 1n, 2n)).status).toBe(200)
})

it('lets nobody wait where it is switched off', async () => {
  const off = await openTestCatalog({ config: { isTurnstileOn: false } })
  await makeNamespace(off, ['ns'])
  const table = await makeTable(off, { levels: ['ns'], name: 'off' })
  const [one, other] = [new Client(off, table), new Client(off, table)]
  await one.append(1n, undefined, 1n)
  for (const client of [one, other]) {
    expect((await client.append(9n, undefined, 1n)).status).toBe(409)
    expect((await client.load()).status).toBe(200)
  }
  await off.stop()
})

it('counts turns in the metrics', async () => {
  const { text } = await catalog.call('GET', '/metrics')
  expect(text).toMatch(/^timelake_turnstile_tables [1-9]/m)
  expect(text).toMatch(/^timelake_turnstile_conflicts_avoided_total [1-9]/m)
  expect(text).toMatch(/^timelake_turnstile_wait_seconds_count [1-9]/m)
})
