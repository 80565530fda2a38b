import { readFileSync } from 'node:fs'
import { ROUTES } from '@timelake/catalog/routes'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { structureOf, type ApiStructure, type SchemaStructure } from './structure.ts'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

const ours = structureOf(parse(read('timelake-catalog.yaml')))
// `as`: our own machine-made file.
const upstream = JSON.parse(read('upstream-structure.json')) as ApiStructure

const icebergOperations = Object.keys(ours.operations).filter((key) => / \/v1\//.test(key))

// Status codes that the protocol lists and this server never sends.
const NEVER_SENT: Readonly<Record<string, string>> = {
  '406': 'namespace properties and renames are supported',
  '419': 'an expired token is 401, as for any other bearer token',
  '502': 'sent by gateways, not by the catalog',
  '504': 'sent by gateways, not by the catalog',
}

// Status codes that this server sends beyond the protocol's lists.
const SENT_TOO: Readonly<Record<string, string>> = {
  '403': 'a Host or Origin header that is not answered',
  '404': 'a namespace below a missing parent',
  '409': 'an idempotency key that is in use or was used for another request',
  '413': 'a body over the limit',
  '429': 'a login after too many that failed',
  '503': 'a commit that was certainly not applied: the queue of the table is full',
}

// Parameters that this server takes beyond the protocol's lists.
const TAKEN_TOO: Readonly<Record<string, readonly string[]>> = {
  // Clients send a key with every mutation, and repeat a creation whose answer was lost.
  createView: ['header Idempotency-Key'],
  // Appends that lost a race are attached to the present head where the sender asks for it.
  updateTable: ['header X-Timelake-Rebase-Appends'],
  commitTransaction: ['header X-Timelake-Rebase-Appends'],
  // A staged table is kept nowhere: its creator brings what is to be known of it.
  loadCredentials: ['query ticket'],
  signRequest: ['query ticket'],
}

// A repetition does the same again and changes nothing: no key is kept.
const NEED_NO_KEY = ['cancelPlanning', 'fetchScanTasks', 'planTableScan']

// Schemas that differ on purpose.
const DEVIATIONS: Readonly<Record<string, string>> = {
  ScanReport: 'the filter of a metrics report is not interpreted',
}

// @NOTE Some answers of the protocol's file are the bare error; clients expect its envelope everywhere.
const inEnvelope = (schema: SchemaStructure | null | undefined) =>
  schema?.['$ref'] === '#/components/schemas/ErrorModel'
    ? { $ref: '#/components/schemas/IcebergErrorResponse' }
    : schema

const withoutExtras = (schema: SchemaStructure | undefined): unknown =>
  JSON.parse(JSON.stringify(schema ?? null))

describe('our description and the router', () => {
  const routes = ROUTES.map(({ method, template, operationId }) => [
    `${method} ${template}`,
    operationId,
  ])

  it('have the same operations under the same ids', () => {
    const described = Object.entries(ours.operations).map(([key, { operationId }]) => [
      key,
      operationId,
    ])
    expect(Object.fromEntries(described)).toEqual(Object.fromEntries(routes))
  })

  it('agree on which operations honour an idempotency key', () => {
    const replayed = ROUTES.filter(({ replay }) => replay !== undefined)
    const described = Object.values(ours.operations).filter(({ parameters }) =>
      parameters.includes('header Idempotency-Key'),
    )
    const ids = (list: readonly { readonly operationId: string }[]) =>
      list.map(({ operationId }) => operationId).sort()
    expect(ids(described)).toEqual([...ids(replayed), ...NEED_NO_KEY].sort())
  })
})

describe('our description and the protocol', () => {
  it('serve every path and method under the same operation id', () => {
    expect(icebergOperations.length).toBeGreaterThan(10)
    for (const key of icebergOperations) {
      expect(upstream.operations[key]?.operationId, key).toBe(ours.operations[key]?.operationId)
    }
  })

  it.each(icebergOperations)('take the same parameters and bodies in %s', (key) => {
    const [own, other] = [ours.operations[key], upstream.operations[key]]
    const more = TAKEN_TOO[own?.operationId ?? ''] ?? []
    expect(own?.parameters).toEqual([...more, ...(other?.parameters ?? [])].sort())
    expect(own?.requestBody).toEqual(other?.requestBody)
  })

  it.each(icebergOperations)('answer with the same status codes and bodies in %s', (key) => {
    const own = ours.operations[key]?.responses ?? {}
    const other = upstream.operations[key]?.responses ?? {}
    const missing = Object.keys(other).filter(
      (status) => !(status in own) && !(status in NEVER_SENT),
    )
    const added = Object.keys(own).filter((status) => !(status in other) && !(status in SENT_TOO))
    expect({ missing, added }).toEqual({ missing: [], added: [] })
    for (const status of Object.keys(own).filter((code) => code in other)) {
      expect(own[status], status).toEqual(inEnvelope(other[status]))
    }
  })

  const shared = Object.keys(ours.schemas).filter((name) => name in upstream.schemas)

  it.each(shared.filter((name) => !(name in DEVIATIONS)))('agree on the schema %s', (name) => {
    expect(withoutExtras(ours.schemas[name])).toEqual(withoutExtras(upstream.schemas[name]))
  })

  it.each(Object.keys(DEVIATIONS))(
    'differ in the schema %s only by leaving members out',
    (name) => {
      const [own, other] = [ours.schemas[name], upstream.schemas[name]]
      expect(own?.['required']).toEqual(other?.['required'])
      const otherNames = Object.keys(other?.['properties'] ?? {})
      expect(otherNames).toEqual(expect.arrayContaining(Object.keys(own?.['properties'] ?? {})))
    },
  )

  it('define every schema that they refer to and refer to every one that they define', () => {
    const references = [...JSON.stringify(ours).matchAll(/#\/components\/schemas\/([^"]+)/g)]
    const names = new Set(references.map(([, name]) => name))
    expect([...names].sort()).toEqual(Object.keys(ours.schemas).sort())
  })
})

describe('the structural comparison', () => {
  it('notices a renamed property, a lost requirement and a changed enumeration', () => {
    const document = parse(read('timelake-catalog.yaml')) as Document
    const schemas = document.components.schemas
    schemas['TableIdentifier'] = { type: 'object', required: ['name'], properties: { names: {} } }
    schemas['SortDirection'] = { type: 'string', enum: ['up', 'down'] }
    const changed = structureOf(document)
    for (const name of ['TableIdentifier', 'SortDirection']) {
      expect(changed.schemas[name]).not.toEqual(upstream.schemas[name])
    }
  })
})

interface Document {
  readonly components: { readonly schemas: Record<string, unknown> }
}
