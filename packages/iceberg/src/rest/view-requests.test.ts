import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../spec/errors.ts'
import { parseJson, printJson } from '../spec/json.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { sampleView, schemaNamed, version, VIEW_UUID } from '../view/sample-view.ts'
import { encodeViewMetadata } from '../view/view-metadata-json.ts'
import type { ViewUpdate } from '../view/view-update.ts'
import { decodeLoadViewResult, loadViewResultText } from './load-view-json.ts'
import {
  decodeCommitViewRequest,
  decodeCreateViewRequest,
  decodeRegisterViewRequest,
  encodeCommitViewRequest,
  encodeCreateViewRequest,
  encodeRegisterViewRequest,
} from './view-requests-json.ts'

function sent(json: JsonValue): JsonValue {
  return parseJson(printJson(json))
}

const create = {
  name: 'v',
  location: 'file:///v',
  schema: schemaNamed('a'),
  viewVersion: version('select 1'),
  properties: { comment: 'c' },
}

describe('create requests for views', () => {
  it('come back as they were sent', () => {
    expect(decodeCreateViewRequest(sent(encodeCreateViewRequest(create)))).toEqual(create)
  })

  it('need neither location nor properties', () => {
    const json = { ...encodeCreateViewRequest(create), location: null, properties: undefined }
    const decoded = decodeCreateViewRequest(json)
    expect(decoded.properties).toEqual({})
    expect(decoded).not.toHaveProperty('location')
  })

  it.each(['name', 'schema', 'view-version'])('without %s are refused', (member) => {
    const json = { ...encodeCreateViewRequest(create), [member]: undefined }
    expect(() => decodeCreateViewRequest(json)).toThrow(InvalidInputError)
    expect(() => decodeCreateViewRequest(json)).toThrow(member)
  })
})

describe('commits of views', () => {
  const updates: ViewUpdate[] = [
    { action: 'assign-uuid', uuid: VIEW_UUID },
    { action: 'upgrade-format-version', formatVersion: 1 },
    { action: 'add-schema', schema: schemaNamed('a') },
    { action: 'set-location', location: 'file:///v' },
    { action: 'set-properties', updates: { a: 'b' } },
    { action: 'remove-properties', removals: ['c'] },
    { action: 'add-view-version', viewVersion: version('select 1') },
    { action: 'set-current-view-version', viewVersionId: -1 },
  ]

  it('come back as they were sent, with every update and requirement', () => {
    const request = {
      identifier: { namespace: ['a', 'b'], name: 'v' },
      requirements: [{ type: 'assert-view-uuid' as const, uuid: VIEW_UUID }],
      updates,
    }
    expect(decodeCommitViewRequest(sent(encodeCommitViewRequest(request)))).toEqual(request)
  })

  it('may leave the lists away', () => {
    expect(decodeCommitViewRequest({ requirements: null })).toEqual({
      requirements: [],
      updates: [],
    })
  })

  it('are read in any case, with old names and unknown members', () => {
    const json = {
      requirements: [{ type: 'ASSERT-VIEW-UUID', uuid: VIEW_UUID, x: 1n }],
      updates: [
        { action: 'Set-Properties', updated: { a: 'b' }, x: 1n },
        { action: 'REMOVE-PROPERTIES', removed: ['c'] },
      ],
    }
    expect(decodeCommitViewRequest(json)).toEqual({
      requirements: [{ type: 'assert-view-uuid', uuid: VIEW_UUID }],
      updates: [
        { action: 'set-properties', updates: { a: 'b' } },
        { action: 'remove-properties', removals: ['c'] },
      ],
    })
  })

  it.each<[JsonObject, string]>([
    [{ updates: [{ action: 'add-snapshot' }] }, 'updates[0].action: unknown update action'],
    [{ updates: [{ action: 'toString' }] }, 'updates[0].action: unknown update action'],
    [{ updates: [{}] }, 'updates[0].action: expected string'],
    [{ updates: [{ action: 'add-view-version' }] }, 'updates[0].view-version: expected object'],
    [{ updates: [{ action: 'set-current-view-version' }] }, 'view-version-id: expected int'],
    [{ requirements: [{ type: 'assert-table-uuid', uuid: VIEW_UUID }] }, 'requirements[0].type'],
    [{ requirements: [{ type: 'assert-view-uuid' }] }, 'requirements[0].uuid: expected string'],
  ])('%j is refused', (json, message) => {
    expect(() => decodeCommitViewRequest(json)).toThrow(InvalidInputError)
    expect(() => decodeCommitViewRequest(json)).toThrow(message)
  })
})

describe('register requests for views', () => {
  it('come back as they were sent', () => {
    const request = { name: 'v', metadataLocation: 'file:///v/metadata/1.metadata.json' }
    expect(decodeRegisterViewRequest(sent(encodeRegisterViewRequest(request)))).toEqual(request)
  })

  it.each(['name', 'metadata-location'])('without %s are refused', (member) => {
    const json = { name: 'v', 'metadata-location': 'file:///v', [member]: undefined }
    expect(() => decodeRegisterViewRequest(json)).toThrow(`${member}: expected string`)
  })
})

describe('answers with a view', () => {
  it('hold the metadata of the view as its file does', () => {
    const metadata = sampleView()
    const text = loadViewResultText({
      metadataLocation: 'file:///v/"x".json',
      metadataText: encodeViewMetadata(metadata),
      config: { a: 'b' },
    })
    expect(decodeLoadViewResult(text)).toEqual({
      metadataLocation: 'file:///v/"x".json',
      metadata,
      config: { a: 'b' },
    })
  })

  it('need a location and metadata', () => {
    expect(() => decodeLoadViewResult('{}')).toThrow('metadata-location: expected string')
    expect(() => decodeLoadViewResult('{"metadata-location":"x"}')).toThrow(
      'metadata: expected object',
    )
  })
})
