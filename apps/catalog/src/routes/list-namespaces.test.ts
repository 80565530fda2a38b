import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf, member } from '../test-json.ts'
import { makeNamespace, segment } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
})
afterAll(() => catalog.stop())

const LIST = '/v1/main/namespaces'

it('gives one level with full names, and everything without paging', async () => {
  for (const levels of [['bck'], ['bck', 'db1'], ['bck', 'db1', 'x'], ['other']]) {
    await makeNamespace(catalog, levels)
  }
  expect((await catalog.call('GET', LIST)).json).toEqual({
    namespaces: [['bck'], ['other']],
    'next-page-token': null,
  })
  const below = await catalog.call('GET', `${LIST}?parent=bck`)
  expect(below.json).toMatchObject({ namespaces: [['bck', 'db1']] })
})

it('takes an empty parent for none', async () => {
  const { json } = await catalog.call('GET', `${LIST}?parent=`)
  expect(json).toMatchObject({ namespaces: [['bck'], ['other']] })
})

it.each(['bck%1Fdb1', 'bck%1fdb1', 'bck%251Fdb1'])(
  'B003: understands parent=%s',
  async (parent) => {
    const { json } = await catalog.call('GET', `${LIST}?parent=${parent}`)
    expect(json).toMatchObject({ namespaces: [['bck', 'db1', 'x']] })
  },
)

it('lists a namespace whose name holds the text %1F, which others may mean as a separator (B003)', async () => {
  await makeNamespace(catalog, ['lit%1Feral'])
  await makeNamespace(catalog, ['lit%1Feral', 'own'])
  await makeNamespace(catalog, ['%1F'])
  const own = await catalog.call('GET', `${LIST}?parent=${segment('lit%1Feral')}`)
  expect(own.json).toMatchObject({ namespaces: [['lit%1Feral', 'own']] })
  const bare = await catalog.call('GET', `${LIST}?parent=%251F`)
  expect(bare.json).toMatchObject({ namespaces: [] })
})

it('answers 404 for an unknown parent', async () => {
  const answer = await catalog.call('GET', `${LIST}?parent=nope`)
  expect(answer.status).toBe(404)
  expect(errorOf(answer)).toMatchObject({
    type: 'NoSuchNamespaceException',
    message: 'Namespace does not exist: nope',
  })
})

it('B017: pages by name, ends a full last page with null, and 404 when the parent goes', async () => {
  await makeNamespace(catalog, ['p'])
  const names = ['a', 'B', 'c', 'é', 'z z', '\u{1F986}']
  for (const name of names) await makeNamespace(catalog, ['p', name])
  const seen: unknown[] = []
  let token = ''
  for (let page = 0; page < 3; page += 1) {
    const { json } = await catalog.call('GET', `${LIST}?parent=p&pageSize=2&pageToken=${token}`)
    seen.push(...(member(json, 'namespaces') as string[][]).map((levels) => levels.at(-1)))
    const next = member(json, 'next-page-token')
    if (page < 2) token = String(next)
    else expect(next).toBeNull()
  }
  expect(seen).toEqual(['B', 'a', 'c', 'z z', 'é', '\u{1F986}'])
  for (const name of names) {
    await catalog.call('DELETE', `${LIST}/${segment('p', name)}`)
  }
  await catalog.call('DELETE', `${LIST}/p`)
  const gone = await catalog.call('GET', `${LIST}?parent=p&pageSize=2&pageToken=${token}`)
  expect(gone.status).toBe(404)
})

it('refuses a bad page size or token', async () => {
  for (const query of ['pageSize=0&pageToken=', 'pageSize=abc', 'pageToken=bogus']) {
    expect((await catalog.call('GET', `${LIST}?${query}`)).status).toBe(400)
  }
})
