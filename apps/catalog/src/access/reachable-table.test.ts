import type { JsonValue } from '@timelake/iceberg/spec/json-value'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestAnswer } from '../open-test-catalog.ts'
import { makeAccount, type CallAs } from '../test-accounts.ts'
import { createCommitBody } from '../test-bodies.ts'
import {
  HAS_BUCKET,
  keysIn,
  NO_BUCKET,
  onlyCredential,
  openTestBucket,
  tableNamed,
  type TestBucket,
  VENDED,
} from '../test-bucket.ts'
import { errorOf, member, textAt } from '../test-json.ts'

describe.skipIf(!HAS_BUCKET)(`a staged table after its commit (skipped: ${NO_BUCKET})`, () => {
  let bucket: TestBucket
  let writer: CallAs
  beforeAll(async () => {
    bucket = await openTestBucket({ vended: ['vended-credentials'] })
    for (const name of ['open', 'closed']) {
      await bucket.catalog.call('POST', '/v1/vended/namespaces', { body: { namespace: [name] } })
    }
    writer = await makeAccount(bucket.catalog, 'stager', [
      { role: 'writer', warehouse: 'vended', namespace: ['ns'] },
      { role: 'reader', warehouse: 'vended', namespace: ['open'] },
    ])
  })
  afterAll(() => bucket.stop())

  /** Stages a table and commits it; where its credentials are renewed, and its location. */
  async function stagedAndCommitted(name: string): Promise<{ endpoint: string; location: string }> {
    const body = tableNamed(name, { 'stage-create': true })
    const staged = await writer('POST', '/v1/vended/namespaces/ns/tables', {
      body,
      headers: VENDED,
    })
    const location = textAt(staged.json, 'metadata', 'location')
    const uuid = textAt(staged.json, 'metadata', 'table-uuid')
    const made = await writer('POST', `/v1/vended/namespaces/ns/tables/${name}`, {
      body: createCommitBody({ uuid, location }),
    })
    expect(made.status, made.text).toBe(200)
    return {
      endpoint: `/${textAt(staged.json, 'config', 'client.refresh-credentials-endpoint')}`,
      location,
    }
  }

  async function rename(name: string, namespace: string): Promise<void> {
    const body = {
      source: { namespace: ['ns'], name },
      destination: { namespace: [namespace], name: `${name}-renamed` },
    }
    const { status } = await bucket.catalog.call('POST', '/v1/vended/tables/rename', { body })
    expect(status).toBe(204)
  }

  function configOf(answer: TestAnswer): JsonValue | undefined {
    expect(answer.status, answer.text).toBe(200)
    return member(onlyCredential(answer.json), 'config')
  }

  it('renews for its creator under the name that it has now', async () => {
    const { endpoint, location } = await stagedAndCommitted('moved')
    await rename('moved', 'ns')
    const config = configOf(await writer('GET', endpoint))
    const next = textAt(config, 'client.refresh-credentials-endpoint')
    expect(next).toBe('v1/vended/namespaces/ns/tables/moved-renamed/credentials')
    const store = bucket.storeWith(keysIn(config))
    expect(await store.putIfAbsent(`${location}/data/x`, Buffer.from('mine'))).toBe('created')
  })

  it('gives what the role at its new place allows, and nothing where there is none', async () => {
    const read = await stagedAndCommitted('read')
    await rename('read', 'open')
    const store = bucket.storeWith(keysIn(configOf(await writer('GET', read.endpoint))))
    await expect(store.putIfAbsent(`${read.location}/data/x`, Buffer.from('x'))).rejects.toThrow()
    const hidden = await stagedAndCommitted('hidden')
    await rename('hidden', 'closed')
    const answer = await writer('GET', hidden.endpoint)
    expect([answer.status, errorOf(answer).type]).toEqual([404, 'NoSuchTableException'])
  })

  it('is not given any more once it was dropped', async () => {
    const { endpoint } = await stagedAndCommitted('dropped')
    const { status } = await writer('DELETE', '/v1/vended/namespaces/ns/tables/dropped')
    expect(status).toBe(204)
    const answer = await writer('GET', endpoint)
    expect([answer.status, errorOf(answer).type]).toEqual([404, 'NoSuchTableException'])
  })
})
