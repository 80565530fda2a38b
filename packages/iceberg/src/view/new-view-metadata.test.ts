import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../spec/errors.ts'
import { newViewMetadata } from './new-view-metadata.ts'
import { sampleView, schemaNamed, version, VIEW_UUID } from './sample-view.ts'

const context = { viewUuid: VIEW_UUID, location: 'file:///warehouse/v/', nowMs: 5 }

describe('a new view', () => {
  it('has version 1 of schema 0, and a log of one entry', () => {
    const metadata = newViewMetadata(
      {
        schema: schemaNamed('a', 'b'),
        viewVersion: version('select 1', { timestampMs: 77 }),
        properties: { comment: 'c' },
      },
      context,
    )
    expect(metadata).toEqual({
      viewUuid: VIEW_UUID,
      formatVersion: 1,
      location: 'file:///warehouse/v',
      properties: { comment: 'c' },
      schemas: [{ ...schemaNamed('a', 'b'), schemaId: 0 }],
      currentVersionId: 1,
      versions: [{ ...version('select 1', { timestampMs: 77 }), schemaId: 0 }],
      versionLog: [{ versionId: 1, timestampMs: 77 }],
    })
  })

  it.each([-1, 0, 7, 99])('points at its schema whatever schema id %i says (B072)', (schemaId) => {
    const made = sampleView({ viewVersion: version('select 1', { schemaId }) })
    expect(made.schemas.map((schema) => schema.schemaId)).toEqual([0])
    expect(made.versions[0]?.schemaId).toBe(0)
  })

  it.each([
    [-1, 1],
    [0, 1],
    [1, 1],
    [4, 4],
  ])('sent with version id %i has version %i', (sentId, versionId) => {
    const made = sampleView({ viewVersion: version('select 1', { versionId: sentId }) })
    expect([made.currentVersionId, made.versions[0]?.versionId]).toEqual([versionId, versionId])
  })

  it.each([
    ['two queries for one dialect', { dialects: ['trino', 'TRINO'] }, 'for dialect trino'],
    ['no query', { dialects: [] }, 'it has no representation'],
  ])('with %s is refused (B074)', (_name, more, message) => {
    const act = () => sampleView({ viewVersion: version('select 1', more) })
    expect(act).toThrow(InvalidInputError)
    expect(act).toThrow(message)
  })
})
