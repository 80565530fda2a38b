import { expect, it } from 'vitest'
import { InvalidInputError } from '../spec/errors.ts'
import type { JsonValue } from '../spec/json-value.ts'
import {
  decodeCommitTransactionRequest,
  encodeCommitTransactionRequest,
  TABLE_CHANGES_MAX,
} from './commit-transaction-json.ts'

const identifier = (name: string) => ({ namespace: ['a', 'b'], name })
const change = (name: string): Record<string, JsonValue> => ({
  identifier: identifier(name),
  requirements: [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': 5n }],
  updates: [{ action: 'set-properties', updates: { name } }],
})

it('reads the changes in their order, one table more than once too, and keeps them as they were sent', () => {
  const sent = [change('t'), change('u'), change('t')]
  const changes = decodeCommitTransactionRequest({ 'table-changes': sent })
  expect(changes.map((one) => one.identifier)).toEqual(['t', 'u', 't'].map(identifier))
  expect(changes.map(({ json }) => json)).toEqual(sent)
  const named = changes.map((one) => ({ ...one.request, identifier: one.identifier }))
  expect(encodeCommitTransactionRequest(named)).toEqual({ 'table-changes': sent })
})

it.each<[string, JsonValue, string]>([
  ['no list', {}, 'table-changes: expected list'],
  ['an empty list', { 'table-changes': [] }, 'table-changes: expected 1 to 256 changes, got 0'],
  [
    'too many changes',
    { 'table-changes': Array.from({ length: TABLE_CHANGES_MAX + 1 }, () => change('t')) },
    'table-changes: expected 1 to 256 changes, got 257',
  ],
  [
    'a change without its table',
    { 'table-changes': [change('t'), { updates: [] }] },
    'table-changes[1].identifier: expected the table to change',
  ],
  [
    'a change of a table without a name',
    { 'table-changes': [{ identifier: { namespace: ['a'] }, updates: [] }] },
    'table-changes[0].identifier.name',
  ],
  [
    'an unknown update anywhere',
    { 'table-changes': [change('t'), { ...change('u'), updates: [{ action: 'do-magic' }] }] },
    'table-changes[1].updates[0]',
  ],
  [
    'an unknown requirement anywhere',
    { 'table-changes': [{ ...change('t'), requirements: [{ type: 'assert-moon' }] }] },
    'table-changes[0].requirements[0]',
  ],
])('B055: refuses %s', (_name, json, text) => {
  const decode = () => decodeCommitTransactionRequest(json)
  expect(decode).toThrow(InvalidInputError)
  expect(decode).toThrow(text)
})
