import { describeManifest } from '@timelake/iceberg/manifest/describe-manifest'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodePage, encodePage, listedPages, manifestsOfPage, rowsOfPage } from './plan-pages.ts'

type Counts = Partial<Pick<ManifestFile, 'addedFilesCount' | 'existingFilesCount'>>

function placed(counts: readonly Counts[]) {
  const {
    addedFilesCount: _,
    existingFilesCount: __,
    ...described
  } = describeManifest({
    manifestPath: 'file:///t/metadata/m.avro',
    lengthBytes: 1_000,
    spec: { specId: 0, fields: [] },
    partition: { fields: [] },
    content: 'data',
    entries: [],
    snapshotId: 1n,
    sequenceNumber: 1n,
  })
  // Places have gaps where manifests were left out.
  return counts.map((each, index) => ({ manifest: { ...described, ...each }, place: 2 * index }))
}

/** One that is told to have no live files is no part of a scan. */
const oneManifest = fc.record({
  addedFilesCount: fc.integer({ min: 1, max: 12 }),
  existingFilesCount: fc.nat(12),
  rowCount: fc.nat(30),
})

describe('listedPages', () => {
  it('I49: give every row once, also when the list tells wrong counts', () => {
    fc.assert(
      fc.property(fc.array(oneManifest), fc.integer({ min: 1, max: 9 }), (listed, countMax) => {
        const manifests = placed(listed)
        const pages = listedPages(manifests, countMax) ?? []
        const found = pages.flatMap((page) => {
          const sent = decodePage(encodePage(page), 'page')
          return manifestsOfPage(manifests, sent).flatMap(({ place }) => {
            const rowCount = listed[place / 2]?.rowCount ?? 0
            const { from, to } = rowsOfPage(sent, { place, rowCount })
            return Array.from(
              { length: Math.max(0, to - from) },
              (_, at) => `${place} ${from + at}`,
            )
          })
        })
        const wanted = listed.flatMap(({ rowCount }, index) =>
          Array.from({ length: rowCount }, (_, row) => `${2 * index} ${row}`),
        )
        expect(found).toEqual(wanted)
      }),
    )
  })

  it('are of so many files when the list is right', () => {
    const counts = [3, 1, 4, 1].map((n) => ({ addedFilesCount: n, existingFilesCount: 0 }))
    const end = 2 ** 31 - 1
    expect(listedPages(placed(counts), 3)).toEqual([
      { fromManifest: 0, fromRow: 0, toManifest: 0, toRow: end },
      { fromManifest: 2, fromRow: 0, toManifest: 4, toRow: 2 },
      { fromManifest: 4, fromRow: 2, toManifest: 6, toRow: end },
    ])
  })

  it.each<[string, Counts]>([
    ['no count of added files', { existingFilesCount: 1 }],
    ['no count of existing files', { addedFilesCount: 1 }],
    ['a count below zero', { addedFilesCount: 5, existingFilesCount: -1 }],
    ['more files than a manifest holds', { addedFilesCount: 2 ** 31 - 1, existingFilesCount: 0 }],
  ])('are not known where the list tells %s', (_, counts) => {
    expect(listedPages(placed([{ addedFilesCount: 9, existingFilesCount: 9 }, counts]), 2)).toBe(
      undefined,
    )
  })
})
