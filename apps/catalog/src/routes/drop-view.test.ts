import { afterAll, beforeAll, expect, it } from 'vitest'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { waitFor } from '@timelake/testing/wait-for'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { countFiles } from '../test-files.ts'
import { errorOf } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'
import { makeView, propertyBody, type TestView } from '../test-views.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const view = (name: string, more: JsonObject = {}) =>
  makeView(catalog, { levels: ['ns'], name, more })
const pathOf = (location: string) => location.replace('file://', '')
const drop = async ({ path }: TestView) => {
  const answer = await catalog.call('DELETE', path)
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect((await catalog.call('GET', path)).status).toBe(404)
}
/** Drops a view whose files go, which shows that everything that was dropped before is dealt with. */
const settle = async (name: string) => {
  const made = await view(`settle ${name}`)
  await drop(made)
  await waitFor(() => !existsSync(pathOf(made.metadataLocation)), { timeoutMs: 10_000 })
}

it('removes the view and, in the background, every metadata file that it had', async () => {
  const made = await view('v')
  await catalog.call('POST', made.path, { body: propertyBody('1') })
  expect(countFiles(pathOf(made.location))).toBe(2)
  await drop(made)
  await waitFor(() => countFiles(pathOf(made.location)) === 0, { timeoutMs: 10_000 })
  const [event] = await catalog.database.query(
    'select kind, name from outbox_event where table_uuid = $1 order by seq desc limit 1',
    [made.uuid],
  )
  expect(event).toEqual({ kind: 'view-dropped', name: 'v' })
  expect((await catalog.call('DELETE', made.path)).status).toBe(404)
})

it('keeps the files when gc.enabled is false, and they can be registered again', async () => {
  const made = await view('kept', { properties: { 'gc.enabled': 'FALSE' } })
  await drop(made)
  await settle('kept')
  expect(existsSync(pathOf(made.metadataLocation))).toBe(true)
  const body = { name: 'kept', 'metadata-location': made.metadataLocation }
  const answer = await catalog.call('POST', '/v1/main/namespaces/ns/register-view', { body })
  expect(answer.status, answer.text).toBe(200)
})

it('keeps the files that another view was registered from', async () => {
  const made = await view('first')
  const body = { name: 'second', 'metadata-location': made.metadataLocation }
  await catalog.call('POST', '/v1/main/namespaces/ns/register-view', { body })
  await drop(made)
  await settle('first')
  expect((await catalog.call('GET', made.path.replace('first', 'second'))).status).toBe(200)
})

it('keeps everything in a folder that it shares with a view', async () => {
  const location = `file://${catalog.directory}/shared`
  const [one, two] = [await view('one', { location }), await view('two', { location })]
  await drop(one)
  await settle('one')
  expect(existsSync(pathOf(one.metadataLocation))).toBe(true)
  expect((await catalog.call('GET', two.path)).status).toBe(200)
})

it('keeps files that are not its own, and those outside its location', async () => {
  const table = await makeTable(catalog, { levels: ['ns'], name: 'was-here' })
  await catalog.call('DELETE', table.path)
  const outside = `file://${catalog.directory}/outside`
  const made = await view('owner', { location: table.location })
  const elsewhere = await view('elsewhere', { properties: { 'write.metadata.path': outside } })
  mkdirSync(`${pathOf(made.location)}/data`, { recursive: true })
  copyFileSync(pathOf(table.metadataLocation), `${pathOf(made.location)}/data/rows.parquet`)
  await drop(made)
  await drop(elsewhere)
  await waitFor(() => !existsSync(pathOf(made.metadataLocation)), { timeoutMs: 10_000 })
  await settle('owner')
  expect(existsSync(pathOf(table.metadataLocation))).toBe(true)
  expect(existsSync(`${pathOf(made.location)}/data/rows.parquet`)).toBe(true)
  expect(existsSync(pathOf(elsewhere.metadataLocation))).toBe(true)
})

it('drops a view whose file is gone', async () => {
  const made = await view('gone')
  await catalog.store.delete(made.metadataLocation)
  await drop(made)
})

it('finds neither tables nor names that are free', async () => {
  const table = await makeTable(catalog, { levels: ['ns'], name: 'table' })
  const paths = [table.path.replace('/tables/', '/views/'), '/v1/main/namespaces/ns/views/none']
  for (const path of paths) {
    const answer = await catalog.call('DELETE', path)
    expect(errorOf(answer)).toMatchObject({ type: 'NoSuchViewException', code: 404 })
  }
  expect((await catalog.call('HEAD', table.path)).status).toBe(204)
  const made = await view('not-a-table')
  const asTable = await catalog.call('DELETE', made.path.replace('/views/', '/tables/'))
  expect(errorOf(asTable)).toMatchObject({ type: 'NoSuchTableException', code: 404 })
  expect((await catalog.call('HEAD', made.path)).status).toBe(204)
})
