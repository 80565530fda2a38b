import { describe, expect, it } from 'vitest'
import { sampleTable } from '../commit/sample-table.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { MERGED_ENTRIES_MAX, planManifestMerge } from './merge-manifests.ts'
import { asksForRebase, mergePolicyOf } from './rebase-properties.ts'

const policy = { manifestCountMin: 4, targetSizeBytes: 1_000_000 }

let count = 0
function manifest(lengthBytes: number, more: Partial<ManifestFile> = {}): ManifestFile {
  count += 1
  return {
    manifestPath: `file:///warehouse/ns/t/metadata/m${count}.avro`,
    manifestLengthBytes: BigInt(lengthBytes),
    partitionSpecId: 0,
    content: 'data',
    sequenceNumber: 1n,
    minSequenceNumber: 1n,
    addedSnapshotId: 1n,
    addedFilesCount: 1,
    existingFilesCount: 0,
    deletedFilesCount: 0,
    ...more,
  }
}

const lengths = (manifests: readonly ManifestFile[]): number[] =>
  manifests.map(({ manifestLengthBytes }) => Number(manifestLengthBytes))
const plan = (manifests: readonly ManifestFile[], version: 1 | 2 | 3 = 2): number[] =>
  lengths(planManifestMerge(sampleTable(version), manifests, policy))

describe('manifests that become one', () => {
  it('are none while there are few', () => {
    expect(plan([1, 1, 1].map((length) => manifest(length)))).toEqual([])
  })

  it('leave an older one out that weighs more than twice the newer ones', () => {
    expect(plan([10, 10, 10, 10, 500].map((length) => manifest(length)))).toEqual([10, 10, 10, 10])
    expect(plan([10, 10, 10, 10, 80].map((length) => manifest(length)))).toEqual([
      10, 10, 10, 10, 80,
    ])
  })

  it('are the longest run, wherever it is', () => {
    expect(plan([1, 100, 90, 95, 99].map((length) => manifest(length)))).toEqual([100, 90, 95, 99])
  })

  it('stay below the target size and the number of entries that one commit rewrites', () => {
    expect(plan([400_000, 400_000, 400_000, 300_000].map((length) => manifest(length)))).toEqual([
      400_000, 400_000,
    ])
    const addedFilesCount = MERGED_ENTRIES_MAX / 2 - 1
    expect(plan([1, 1, 1, 1].map((length) => manifest(length, { addedFilesCount })))).toEqual([
      1, 1,
    ])
  })

  it.each<[string, Partial<ManifestFile>]>([
    ['lists deletes', { content: 'deletes' }],
    ['is encrypted', { keyMetadata: Uint8Array.of(1) }],
    ['is as large as the target', { manifestLengthBytes: 1_000_000n }],
    ['is of an unknown spec', { partitionSpecId: 9 }],
  ])('never are one that %s', (_what, more) => {
    const others = [1, 1, 1, 1].map((length) => manifest(length))
    const planned = planManifestMerge(sampleTable(), [manifest(1, more), ...others], policy)
    expect(planned).toEqual(others)
  })

  it('have row ids in a v3 table', () => {
    const without = [1, 1, 1, 1].map((length) => manifest(length))
    expect(plan(without, 3)).toEqual([])
    expect(
      plan(
        without.map((one) => ({ ...one, firstRowId: 0n })),
        3,
      ),
    ).toEqual([1, 1, 1, 1])
  })

  it('are moved a few times only on their way to the target size', () => {
    let list: ManifestFile[] = []
    let movedCount = 0
    const appended = 2_000
    for (let at = 0; at < appended; at += 1) {
      list = [manifest(100), ...list]
      const merged = planManifestMerge(sampleTable(), list, { ...policy, manifestCountMin: 20 })
      if (merged.length === 0) continue
      const addedFilesCount = merged.reduce((sum, one) => sum + (one.addedFilesCount ?? 0), 0)
      movedCount += addedFilesCount
      const whole = manifest(
        lengths(merged).reduce((sum, length) => sum + length, 0),
        {
          addedFilesCount,
        },
      )
      list = list.flatMap((one) => {
        if (one === merged[0]) return [whole]
        return merged.includes(one) ? [] : [one]
      })
      expect(list.length).toBeLessThan(20)
    }
    expect(movedCount / appended).toBeLessThan(8)
  })
})

describe('the properties of a table', () => {
  it('ask for rebasing with true in any letter case, and with nothing else', () => {
    const asks = (text: string) => asksForRebase({ 'commit.rebase-appends': text })
    expect(['true', ' TRUE '].map(asks)).toEqual([true, true])
    expect(['', 'false', 'yes', '1'].map(asks)).toEqual([false, false, false, false])
    expect(asksForRebase({})).toBe(false)
  })

  it('say when manifests are merged', () => {
    const defaults = { manifestCountMin: 100, targetSizeBytes: 8_388_608 }
    expect(mergePolicyOf({})).toEqual(defaults)
    expect(mergePolicyOf({ 'commit.manifest-merge.enabled': 'False' })).toBeUndefined()
    expect(
      mergePolicyOf({
        'commit.manifest.min-count-to-merge': '0',
        'commit.manifest.target-size-bytes': 'large',
      }),
    ).toEqual(defaults)
    expect(mergePolicyOf({ 'commit.manifest.min-count-to-merge': '1' })).toEqual({
      ...defaults,
      manifestCountMin: 2,
    })
  })
})
