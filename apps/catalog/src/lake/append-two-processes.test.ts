import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeOnPostgres } from '../on-each-database.ts'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendFilesNamed, liveNames, loadMetadata } from '../test-appends.ts'
import { errorOf, longAt, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

const WRITERS = 16
const BATCHES_PER_WRITER = 5

describeOnPostgres('appends through two processes on one database', () => {
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

  it('I2 land every batch once, whichever process gets it, and how often', async () => {
    const table = await makeTable(catalogAt(0), { levels: ['ns'], name: 'race' })
    const write = async (writer: number): Promise<void> => {
      for (let at = 0; at < BATCHES_PER_WRITER; at += 1) {
        const id = `w${writer}-${at}`
        const answers = await Promise.all(
          [writer, writer + 1].map((process) =>
            appendFilesNamed(catalogAt(process), table, { id, names: [id] }),
          ),
        )
        for (const { status, text } of answers) expect(status, text).toBe(200)
        const outcomes = answers.map(({ json }) => textAt(json, 'outcome')).sort()
        expect(outcomes).toEqual(['added', 'landed-before'])
        expect(new Set(answers.map(({ json }) => longAt(json, 'snapshot-id'))).size).toBe(1)
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
    const names = await liveNames(catalogAt(1), table)
    expect(names).toHaveLength(WRITERS * BATCHES_PER_WRITER)
    expect(new Set(names).size).toBe(names.length)
    const { snapshots } = await loadMetadata(catalogAt(0), table)
    const numbers = snapshots.map(({ sequenceNumber }) => sequenceNumber)
    expect(numbers).toEqual(snapshots.map((_, index) => BigInt(index + 1)))
  })

  it('find a live file that only the other one appended', async () => {
    const table = await makeTable(catalogAt(0), { levels: ['ns'], name: 'cold' })
    await appendFilesNamed(catalogAt(0), table, { id: 'a', names: ['a'] })
    const answer = await appendFilesNamed(catalogAt(1), table, { id: 'b', names: ['a'] })
    expect(answer.status).toBe(409)
    expect(errorOf(answer).message).toContain('it is live on branch main')
  })
})
