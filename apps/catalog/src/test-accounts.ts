import { expect } from 'vitest'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { defaultAccessConfig } from './access/access-config.ts'
import {
  openTestCatalog,
  type TestAnswer,
  type TestCall,
  type TestCatalog,
  type TestCatalogOptions,
} from './open-test-catalog.ts'
import { textAt } from './test-json.ts'

const OPERATOR_TOKEN = 'operator-token'

/** A catalog that asks who calls. `call` of a test catalog goes in as the operator. */
export async function openGuardedCatalog(options: TestCatalogOptions = {}): Promise<TestCatalog> {
  const catalog = await openTestCatalog({
    ...options,
    config: {
      token: OPERATOR_TOKEN,
      access: { ...defaultAccessConfig, authentication: 'required' },
      ...options.config,
    },
  })
  return { ...catalog, call: callWith(catalog, OPERATOR_TOKEN) }
}

/** Sends requests as one caller. */
export type CallAs = TestCatalog['call']

/** A role somewhere, as the admin routes take it: without a warehouse everywhere. */
export interface TestGrant {
  readonly role: 'reader' | 'writer' | 'admin'
  readonly warehouse?: string
  readonly namespace?: readonly string[]
}

/** Makes an account with these grants, and logs it in. */
export async function makeAccount(
  catalog: TestCatalog,
  name: string,
  grants: readonly TestGrant[],
): Promise<CallAs> {
  const made = await catalog.call('POST', '/admin/v1/accounts', { body: { name } })
  expect(made.status, made.text).toBe(201)
  for (const grant of grants) await giveRole(catalog, name, grant)
  const form = { grant_type: 'client_credentials', client_id: name }
  const answer = await catalog.call('POST', '/v1/oauth/tokens', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...form, client_secret: textAt(made.json, 'secret') }).toString(),
  })
  expect(answer.status, answer.text).toBe(200)
  return callWith(catalog, textAt(answer.json, 'access_token'))
}

/** Gives an account a role. */
export async function giveRole(
  catalog: TestCatalog,
  account: string,
  grant: TestGrant,
): Promise<TestAnswer> {
  const body: JsonObject = { account, ...grant, namespace: grant.namespace ?? [] }
  const given = await catalog.call('POST', '/admin/v1/grants', { body })
  expect(given.status, given.text).toBeLessThan(300)
  return given
}

function callWith(catalog: TestCatalog, token: string): CallAs {
  return (method, path, call: TestCall = {}) =>
    catalog.call(method, path, {
      ...call,
      headers: { authorization: `Bearer ${token}`, ...call.headers },
    })
}
