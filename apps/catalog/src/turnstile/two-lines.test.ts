import { Agent, request as httpRequest } from 'node:http'
import { decodeLoadTableResult } from '@timelake/iceberg/rest/load-table-json'
import { printJson } from '@timelake/iceberg/spec/json'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { describeOnPostgres } from '../on-each-database.ts'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody } from '../test-bodies.ts'
import { makeNamespace, makeTable, type TestTable } from '../test-tables.ts'

const WRITERS = 8
const APPENDS_PER_WRITER = 12
/** Java tries again so often. */
const RETRIES = 4
/** What a writer takes from its load to its commit, by the clock of the test. */
const THINK_MS = 20

// Turns of two processes take as long as the machine lets them.
vi.setConfig({ testTimeout: 120_000 })

/** A strict writer with one connection of its own, to one of the processes. */
class Writer {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #catalog: TestCatalog
  readonly #table: TestTable
  lostCount = 0

  constructor(catalog: TestCatalog, table: TestTable) {
    this.#catalog = catalog
    this.#table = table
  }

  /** Whether it landed. */
  async append(id: bigint): Promise<boolean> {
    const { location } = this.#table
    for (let attempt = 0; attempt <= RETRIES; attempt += 1) {
      const { text } = await this.#send('GET')
      const { metadata } = decodeLoadTableResult(text)
      const { currentSnapshotId: parent, lastSequenceNumber } = metadata
      const sequenceNumber = lastSequenceNumber + 1n
      this.#catalog.clock.advance(THINK_MS)
      const snapshot = { id, sequenceNumber, location }
      const { status } = await this.#send(
        'POST',
        printJson(appendBody({ ...snapshot, ...(parent === undefined ? {} : { parent }) })),
      )
      if (status === 200) return true
      expect(status).toBe(409)
      this.lostCount += 1
    }
    return false
  }

  leave(): void {
    this.#agent.destroy()
  }

  #send(method: string, body?: string): Promise<{ status: number; text: string }> {
    const { hostname, port } = new URL(this.#catalog.running.url)
    const { path } = this.#table
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(
        { hostname, port, path, method, agent: this.#agent },
        (incoming) => {
          const chunks: Buffer[] = []
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
          incoming.on('error', reject)
          incoming.on('end', () =>
            resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
          )
        },
      )
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }
}

describeOnPostgres('strict writers of one table at two processes', () => {
  let catalogs: readonly [TestCatalog, TestCatalog]
  beforeAll(async () => {
    // Longer than the test: nothing is decided by how fast this machine is.
    const turns = { contendedForMs: 600_000, holdMsMax: 600_000, waitMsMax: 600_000 }
    const first = await openTestCatalog({ on: 'postgres', config: { turns } })
    catalogs = [first, await openTestCatalog({ sharing: first, config: { turns } })]
    await makeNamespace(first, ['ns'])
  })
  afterAll(async () => {
    await catalogs[1].stop()
    await catalogs[0].stop()
  })

  it('I33 stand in lines that take turns, and all land', async () => {
    const table = await makeTable(catalogs[0], { levels: ['ns'], name: 'lines' })
    const writers = Array.from(
      { length: WRITERS },
      (_, at) => new Writer(catalogs[at % 2 === 0 ? 0 : 1], table),
    )
    const landed = await Promise.all(
      writers.map(async (writer, at) => {
        let landedCount = 0
        for (let turn = 1; turn <= APPENDS_PER_WRITER; turn += 1) {
          if (await writer.append(BigInt(at * APPENDS_PER_WRITER + turn))) landedCount += 1
        }
        writer.leave()
        return landedCount
      }),
    )
    expect(landed).toEqual(writers.map(() => APPENDS_PER_WRITER))
    const lostCount = writers.reduce((sum, writer) => sum + writer.lostCount, 0)
    // All but one of them lose the first race, before anybody waits.
    expect(lostCount).toBeLessThan(WRITERS * 2)
  })
})
