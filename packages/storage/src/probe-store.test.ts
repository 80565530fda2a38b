import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openS3Double } from '@timelake/testing/open-s3-double'
import { openTestS3Store } from '@timelake/testing/open-test-s3'
import type { DoubleTraits } from '@timelake/testing/s3-double-objects'
import { describe, expect, it } from 'vitest'
import { openLocalObjectStore } from './local-object-store.ts'
import { openMemoryObjectStore } from './memory-object-store.ts'
import type { ObjectStore } from './object-store.ts'
import { probeStore } from './probe-store.ts'
import { openS3ObjectStore } from './s3-object-store.ts'

const ALL_RIGHT = [
  'write',
  'read-back',
  'conditional-put',
  'range-read',
  'list',
  'delete',
  'absent-after-delete',
].map((check) => ({ check, ok: true }))

async function probeDouble(traits: DoubleTraits, secretAccessKey?: string) {
  const double = await openS3Double(traits)
  const { endpoint, region, accessKeyId } = double
  const store = openS3ObjectStore({
    profile: { type: 's3', endpoint, region, pathStyle: true },
    credentials: { accessKeyId, secretAccessKey: secretAccessKey ?? double.secretAccessKey },
  })
  const findings = await probeStore(store, `s3://${double.bucket}/w`)
  const left = [...double.objects().keys()]
  store.close()
  await double.close()
  return { findings, left, failed: findings.filter(({ ok }) => !ok) }
}

describe('probeStore', () => {
  it('finds nothing wrong with memory and files', async () => {
    const memory = openMemoryObjectStore()
    expect(await probeStore(memory, 'memory://lake/w')).toEqual(ALL_RIGHT)
    const directory = await mkdtemp(join(tmpdir(), 'timelake-probe-'))
    const local = openLocalObjectStore({ rootDirs: [directory] })
    expect(await probeStore(local, `file://${directory}/w`)).toEqual(ALL_RIGHT)
    await rm(directory, { recursive: true })
  })

  it('finds nothing wrong with S3, and leaves nothing there', async () => {
    expect(await probeDouble({})).toEqual({ findings: ALL_RIGHT, left: [], failed: [] })
  })

  it('reports a store that ignores conditions, and goes on', async () => {
    const { failed, findings, left } = await probeDouble({ conditions: 'ignored' })
    expect(failed).toEqual([
      {
        check: 'conditional-put',
        ok: false,
        detail: 'the store ignores conditions: a second write replaced the first',
      },
    ])
    expect(findings).toHaveLength(ALL_RIGHT.length)
    expect(left).toEqual([])
  })

  it('reports a store that refuses conditions', async () => {
    const { failed } = await probeDouble({ conditions: 'refused' })
    expect(failed.map(({ check }) => check)).toEqual(['conditional-put'])
    expect(failed[0]?.detail).toMatch(/refuses conditional writes/)
  })

  it('says why nothing can be written, and stops there', async () => {
    const { findings } = await probeDouble({}, 'wrong-secret')
    expect(findings).toHaveLength(1)
    expect(findings[0]).toMatchObject({ check: 'write', ok: false })
    expect(findings[0]?.detail).toMatch(/secret key/)
    expect(JSON.stringify(findings)).not.toMatch(/wrong-secret/)
  })

  it.each<[string, Partial<ObjectStore>, string]>([
    ['that reads other bytes', { get: async () => new Uint8Array(3) }, 'read-back'],
    ['whose list is late', { async *list() {} }, 'list'],
    [
      'that deletes nothing',
      { deleteMany: async (all) => all.map((location) => ({ location, outcome: 'gone' })) },
      'absent-after-delete',
    ],
  ])('reports a store %s', async (_, broken, check) => {
    const store = { ...openMemoryObjectStore(), ...broken }
    const failed = (await probeStore(store, 'memory://w')).filter(({ ok }) => !ok)
    expect(failed.map((finding) => finding.check)).toContain(check)
    expect(failed.every(({ detail }) => detail !== undefined && detail.length > 10)).toBe(true)
  })
})

const real = openTestS3Store()

describe.skipIf(real === undefined)('on a real server (needs the S3 variables)', () => {
  it('finds nothing wrong', async () => {
    if (real === undefined) return
    expect(await probeStore(real.store, real.location)).toEqual(ALL_RIGHT)
    await real.remove()
  })
})
