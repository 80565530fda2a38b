import { afterAll, beforeAll, expect, it } from 'vitest'
import { recordDecision } from '@timelake/database/maintenance-schedule'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody } from '../test-bodies.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

async function idOf(name: string): Promise<string> {
  const { json } = await catalog.call('GET', '/admin/v1/tables')
  const tables = member(json, 'tables') as { id: string; name: string }[]
  return tables.find((table) => table.name === name)?.id ?? 'none'
}

it('lists tables with their ids, in pages', async () => {
  for (const name of ['a', 'b', 'c']) await makeTable(catalog, { levels: ['ns'], name })
  const all = await catalog.call('GET', '/admin/v1/tables')
  expect(member(all.json, 'tables')).toHaveLength(3)
  expect(member(all.json, 'next-page-token')).toBeNull()
  const first = await catalog.call('GET', '/admin/v1/tables?pageSize=2')
  const token = textAt(first.json, 'next-page-token')
  const second = await catalog.call('GET', `/admin/v1/tables?pageSize=2&pageToken=${token}`)
  const both = [first, second].flatMap(({ json }) => member(json, 'tables') as object[])
  expect(both).toEqual(member(all.json, 'tables'))
  expect((await catalog.call('GET', '/admin/v1/tables?warehouse=nope')).status).toBe(404)
})

it('shows one table in short', async () => {
  const table = await makeTable(catalog, { levels: ['ns'], name: 'short' })
  const { json } = await catalog.call('GET', `/admin/v1/tables/${await idOf('short')}`)
  expect(json).toMatchObject({
    namespace: ['ns'],
    name: 'short',
    'table-uuid': table.uuid,
    'current-snapshot-id': null,
    'snapshot-count': 0n,
  })
})

it.each(['', '/maintenance'])('answers 404 for an unknown id: {id}%s', async (suffix) => {
  for (const id of ['nope', '%00', '%E4']) {
    const answer = await catalog.call('GET', `/admin/v1/tables/${id}${suffix}`)
    expect(answer.status).toBe(id === 'nope' ? 404 : 400)
    expect(errorOf(answer).code).toBe(answer.status)
  }
})

it('asks for a compaction and shows what is due and what was decided', async () => {
  await makeTable(catalog, { levels: ['ns'], name: 'due' })
  const path = `/admin/v1/tables/${await idOf('due')}`
  expect((await catalog.call('GET', `${path}/maintenance`)).json).toMatchObject({
    jobs: [],
    runs: [],
  })
  const asked = await catalog.call('POST', `${path}/compact`)
  expect(asked.status).toBe(202)
  const due = {
    'job-kind': 'compact-table',
    'next-trigger-ms': BigInt(catalog.clock.nowMs()),
    reason: 'asked for by an operator',
  }
  expect(asked.json).toMatchObject({ jobs: [due] })
  await recordDecision(catalog.database, {
    tableId: await idOf('due'),
    jobKind: 'compact-table',
    decision: '{"outcome":"nothing-to-do","snapshot-id":9151314442816847871}',
    nowMs: catalog.clock.nowMs(),
    seenCommits: 0n,
  })
  const shown = await catalog.call('GET', `${path}/maintenance`)
  expect(shown.json).toMatchObject({
    jobs: [{ ...due, 'last-decision': { 'snapshot-id': 9151314442816847871n } }],
  })
})

it('shows the jobs of a table that was dropped, but not the table', async () => {
  const { path: tablePath } = await makeTable(catalog, { levels: ['ns'], name: 'dropped' })
  const path = `/admin/v1/tables/${await idOf('dropped')}`
  await catalog.call('DELETE', tablePath)
  expect((await catalog.call('GET', path)).status).toBe(404)
  expect((await catalog.call('POST', `${path}/compact`)).status).toBe(404)
  const shown = await catalog.call('GET', `${path}/maintenance`)
  expect([shown.status, shown.json]).toMatchObject([200, { jobs: [], runs: [] }])
})

it('plans without doing anything in a dry run', async () => {
  await makeTable(catalog, { levels: ['ns'], name: 'dry' })
  const path = `/admin/v1/tables/${await idOf('dry')}`
  const { status, json } = await catalog.call('POST', `${path}/compact?dry-run=true`)
  expect(status).toBe(200)
  expect(json).toMatchObject({ outcome: 'nothing-to-do', reason: 'the table has no snapshot' })
  expect((await catalog.call('GET', `${path}/maintenance`)).json).toMatchObject({ jobs: [] })
  expect((await catalog.call('POST', `${path}/compact?dry-run=x`)).status).toBe(400)
})

it('says why a table whose files are elsewhere is left alone', async () => {
  const table = await makeTable(catalog, { levels: ['ns'], name: 'missing' })
  const body = appendBody({ id: 1n, sequenceNumber: 1n, location: table.location })
  await catalog.call('POST', table.path, { body })
  const path = `/admin/v1/tables/${await idOf('missing')}/compact?dry-run=true`
  const answer = await catalog.call('POST', path)
  expect(answer.status).toBe(404)
  expect(errorOf(answer).message).toContain('snap-1.avro')
})
