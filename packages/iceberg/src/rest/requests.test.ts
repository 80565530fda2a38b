import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../spec/errors.ts'
import { parseJson, printJson } from '../spec/json.ts'
import type { JsonValue } from '../spec/json-value.ts'
import { encodeTableMetadata } from '../spec/table-metadata-json.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import { decodeCatalogSettings, encodeCatalogSettings } from './config-json.ts'
import { decodeCreateTableRequest, encodeCreateTableRequest } from './create-table-json.ts'
import { decodeError, encodeError } from './error-json.ts'
import {
  decodeNamespacePage,
  decodeTablePage,
  encodeNamespacePage,
  encodeTablePage,
} from './listing-json.ts'
import { decodeLoadTableResult, loadTableResultText } from './load-table-json.ts'
import {
  decodeNamespaceDescription,
  decodeNamespacePropertyChanges,
  decodeNamespacePropertyOutcome,
  encodeNamespaceDescription,
  encodeNamespacePropertyChanges,
  encodeNamespacePropertyOutcome,
} from './namespace-json.ts'
import { identifierText } from './table-identifier.ts'
import {
  decodeMetricsReport,
  decodeRegisterTableRequest,
  decodeRenameTableRequest,
  encodeRegisterTableRequest,
  encodeRenameTableRequest,
} from './table-requests-json.ts'

function sent(json: JsonValue): JsonValue {
  return parseJson(printJson(json))
}

const metadata: TableMetadata = {
  formatVersion: 2,
  tableUuid: '9c12d441-03fe-4693-9a96-a0705ddf69c1',
  location: 'file:///t',
  lastSequenceNumber: 0n,
  lastUpdatedMs: 1,
  lastColumnId: 0,
  currentSchemaId: 0,
  schemas: [{ schemaId: 0, fields: [], identifierFieldIds: [] }],
  defaultSpecId: 0,
  partitionSpecs: [{ specId: 0, fields: [] }],
  lastPartitionId: 999,
  defaultSortOrderId: 0,
  sortOrders: [{ orderId: 0, fields: [] }],
  properties: {},
  snapshots: [],
  snapshotLog: [],
  metadataLog: [],
  refs: {},
  statistics: [],
  partitionStatistics: [],
  encryptionKeys: [],
}

describe('create requests', () => {
  it('come back as they were sent', () => {
    const request = {
      name: 'a.b/c d',
      location: 'file:///x',
      schema: { schemaId: 0, fields: [], identifierFieldIds: [] },
      partitionSpec: {
        fields: [{ sourceIds: [1], name: 'p', transform: { kind: 'day' } as const }],
      },
      writeOrder: { orderId: 0, fields: [] },
      stageCreate: true,
      properties: { a: 'b' },
    }
    expect(decodeCreateTableRequest(sent(encodeCreateTableRequest(request)))).toEqual(request)
  })

  it('need a name and a schema only', () => {
    const json = parseJson(
      '{"name":"t","schema":{"fields":[]},"location":null,"partition-spec":null}',
    )
    expect(decodeCreateTableRequest(json)).toEqual({
      name: 't',
      schema: { schemaId: 0, fields: [], identifierFieldIds: [] },
      stageCreate: false,
      properties: {},
    })
  })

  it.each([
    ['{"schema":{"fields":[]}}', /name: expected string, got nothing/],
    ['{"name":"","schema":{"fields":[]}}', /name: a name must not be empty/],
    ['{"name":"a\\u001fb","schema":{"fields":[]}}', /U\+001F/],
    ['{"name":"a\\u0000b","schema":{"fields":[]}}', /U\+0000/],
    ['{"name":"\\ud800","schema":{"fields":[]}}', /well-formed/],
    [`{"name":"${'x'.repeat(513)}","schema":{"fields":[]}}`, /longer than 512/],
    ['{"name":"t"}', /schema: expected object, got nothing/],
    ['{"name":"t","schema":{"fields":[]},"stage-create":"true"}', /stage-create: expected boolean/],
  ])('refuse %s', (text, message) => {
    expect(() => decodeCreateTableRequest(parseJson(text))).toThrow(message)
  })
})

describe('namespace bodies', () => {
  it('come back as they were sent', () => {
    const description = { namespace: ['a.b', 'c/d', 'ü 😀'], properties: { k: 'v' } }
    expect(decodeNamespaceDescription(sent(encodeNamespaceDescription(description)))).toEqual(
      description,
    )
    const changes = { removals: ['a'], updates: { b: 'c' } }
    expect(decodeNamespacePropertyChanges(sent(encodeNamespacePropertyChanges(changes)))).toEqual(
      changes,
    )
    const outcome = { updated: ['a'], removed: ['b'], missing: ['c'] }
    expect(decodeNamespacePropertyOutcome(sent(encodeNamespacePropertyOutcome(outcome)))).toEqual(
      outcome,
    )
  })

  it.each([
    '{}',
    '{"namespace":"a"}',
    '{"namespace":[]}',
    '{"namespace":["a",""]}',
    '{"namespace":[1]}',
  ])('refuse %s', (text) =>
    expect(() => decodeNamespaceDescription(parseJson(text))).toThrow(InvalidInputError),
  )

  it('refuse more or longer levels than a database index holds', () => {
    const tooMany = { namespace: Array.from({ length: 33 }, () => 'a') }
    expect(() => decodeNamespaceDescription(tooMany)).toThrow(/33 levels/)
    const tooLong = { namespace: ['a', 'b', 'c'].map((level) => level.repeat(500)) }
    expect(() => decodeNamespaceDescription(tooLong)).toThrow(/longer than 1024/)
  })
})

describe('other bodies', () => {
  it('come back as they were sent', () => {
    const register = { name: 't', metadataLocation: 'file:///m', overwrite: true }
    expect(decodeRegisterTableRequest(sent(encodeRegisterTableRequest(register)))).toEqual(register)
    const rename = {
      source: { namespace: ['a'], name: 'b' },
      destination: { namespace: ['c', 'd'], name: 'e' },
    }
    expect(decodeRenameTableRequest(sent(encodeRenameTableRequest(rename)))).toEqual(rename)
    const settings = {
      defaults: {},
      overrides: { prefix: 'main' },
      endpoints: ['GET /v1/x'],
      idempotencyKeyLifetime: 'PT1H',
    }
    expect(decodeCatalogSettings(sent(encodeCatalogSettings(settings)))).toEqual(settings)
    const error = { message: 'Table does not exist: a.b', type: 'NoSuchTableException', code: 404 }
    expect(decodeError(sent(encodeError(error)))).toEqual(error)
  })

  it('of listings say that they are the last page with null', () => {
    const namespaces = { items: [['a'], ['b.c']], nextPageToken: 'x' }
    expect(decodeNamespacePage(sent(encodeNamespacePage(namespaces)))).toEqual(namespaces)
    const tables = { items: [{ namespace: ['a'], name: 't' }] }
    expect(decodeTablePage(sent(encodeTablePage(tables)))).toEqual(tables)
    expect(printJson(encodeTablePage(tables))).toContain('"next-page-token":null')
  })

  it('that are no error envelope give undefined', () => {
    for (const text of ['[]', '"x"', '{}', '{"error":"x"}', '{"error":{"code":"404"}}', 'null']) {
      expect(decodeError(parseJson(text))).toBeUndefined()
    }
  })

  it('of metrics need a report type only', () => {
    expect(decodeMetricsReport({ 'report-type': 'any', x: 1n }).reportType).toBe('any')
    expect(() => decodeMetricsReport({})).toThrow('report-type: expected string, got nothing')
  })
})

describe('load results', () => {
  it('come back with credentials and without a location for staged creates', () => {
    const parts = { metadataText: encodeTableMetadata(metadata), config: { a: 'b' } }
    expect(
      decodeLoadTableResult(loadTableResultText({ ...parts, metadataLocation: undefined })),
    ).toEqual({
      metadata,
      config: { a: 'b' },
      storageCredentials: [],
    })
    const storageCredentials = [{ prefix: 's3://b', config: { k: 'v' } }]
    const text = loadTableResultText({
      ...parts,
      metadataLocation: 'file:///m',
      storageCredentials,
    })
    expect(decodeLoadTableResult(text)).toEqual({
      metadataLocation: 'file:///m',
      metadata,
      config: { a: 'b' },
      storageCredentials,
    })
  })

  it('name the member of the metadata that is wrong', () => {
    expect(() => decodeLoadTableResult('{"metadata":{"format-version":9}}')).toThrow(
      'metadata.format-version: cannot read format version 9',
    )
  })
})

describe('identifierText', () => {
  it('joins levels and name with dots', () => {
    expect(identifierText(['a', 'b'], 't')).toBe('a.b.t')
  })
})
