import { expect, it } from 'vitest'
import { Router } from './router.ts'

const router = new Router([
  { method: 'GET', template: '/v1/config' },
  { method: 'GET', template: '/v1/{prefix}/namespaces' },
  { method: 'GET', template: '/v1/{prefix}/namespaces/{namespace}' },
  { method: 'POST', template: '/v1/{prefix}/tables/rename' },
  { method: 'DELETE', template: '/v1/{prefix}/namespaces/{namespace}/tables/{table}' },
  { method: 'HEAD', template: '/v1/{prefix}/namespaces/{namespace}/tables/{table}' },
] as const)

it('gives parameters as they were sent', () => {
  const match = router.match('DELETE', '/v1/main/namespaces/a%2Fb/tables/c%1F')
  expect(match).toMatchObject({
    outcome: 'matched',
    parameters: { prefix: 'main', namespace: 'a%2Fb', table: 'c%1F' },
  })
})

it('B219: lets names look like routes', () => {
  expect(router.match('DELETE', '/v1/main/namespaces/tables/tables/rename')).toMatchObject({
    parameters: { namespace: 'tables', table: 'rename' },
  })
  expect(router.match('GET', '/v1/config/namespaces')).toMatchObject({
    parameters: { prefix: 'config' },
  })
})

it('B219: leads a name that looks like a route to the routes that only the name has', () => {
  const both = new Router([
    { method: 'POST', template: '/warehouses/test' },
    { method: 'POST', template: '/warehouses/{name}/test' },
    { method: 'GET', template: '/warehouses/{name}' },
  ] as const)
  const named = { outcome: 'matched', parameters: { name: 'test' } }
  expect(both.match('GET', '/warehouses/test')).toMatchObject(named)
  expect(both.match('POST', '/warehouses/test/test')).toMatchObject(named)
  expect(both.match('POST', '/warehouses/test')).toMatchObject({ parameters: {} })
  expect(both.match('DELETE', '/warehouses/test')).toEqual({
    outcome: 'wrong-method',
    allowed: ['POST'],
  })
})

it('tells a wrong method from a wrong path', () => {
  const wrong = router.match('PUT', '/v1/main/namespaces/a/tables/t')
  expect(wrong).toEqual({ outcome: 'wrong-method', allowed: ['DELETE', 'HEAD'] })
  expect(router.match('GET', '/v1/main/nothing')).toEqual({ outcome: 'no-route' })
})

it.each(['/v1/main/namespaces/', '/v1//namespaces', '/v1', '', '/', '//', '*'])(
  'finds nothing at %s',
  (path) => {
    expect(router.match('GET', path)).toEqual({ outcome: 'no-route' })
  },
)
