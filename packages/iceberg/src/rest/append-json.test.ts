import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../spec/errors.ts'
import { printJson } from '../spec/json.ts'
import type { JsonObject } from '../spec/json-value.ts'
import { APPEND_FILES_MAX, decodeAppendRequest, encodeAppendResult } from './append-json.ts'

const smallest: JsonObject = { 'batch-id': 'b-1', paths: ['file:///t/a.parquet'] }

describe('decodeAppendRequest', () => {
  it('fills in what a small request leaves out', () => {
    expect(decodeAppendRequest(smallest)).toEqual({
      batchId: 'b-1',
      branch: 'main',
      described: [],
      named: [{ location: 'file:///t/a.parquet' }],
      summary: {},
    })
  })

  it('reads every member', () => {
    const request = decodeAppendRequest({
      'batch-id': 'b-1',
      branch: 'audit',
      'spec-id': 2n,
      'data-files': [{ 'file-path': 'x' }],
      paths: [{ 'file-path': 'file:///t/b.parquet', partition: [7n] }],
      summary: { 'engine-name': 'mine' },
      unknown: true,
    })
    expect(request).toEqual({
      batchId: 'b-1',
      branch: 'audit',
      specId: 2,
      described: [{ 'file-path': 'x' }],
      named: [{ location: 'file:///t/b.parquet', partition: [7n] }],
      summary: { 'engine-name': 'mine' },
    })
  })

  const reserved = ['operation', 'added-records', 'total-records', 'timelake.batch-id', 'wap.id']

  it.each<[string, JsonObject, string]>([
    ['no batch id', { 'batch-id': undefined }, 'batch-id: expected string, got nothing'],
    ['an empty batch id', { 'batch-id': '' }, 'batch-id: expected 1 to 256 bytes, got 0'],
    [
      'a long batch id',
      { 'batch-id': 'é'.repeat(129) },
      'batch-id: expected 1 to 256 bytes, got 258',
    ],
    [
      'a batch id of two lines',
      { 'batch-id': 'a\nb' },
      'batch-id: expected well-formed text without control characters',
    ],
    [
      'half a character as batch id',
      { 'batch-id': '\ud800' },
      'batch-id: expected well-formed text without control characters',
    ],
    ['no files', { paths: [] }, 'expected at least one file in data-files or paths, got none'],
    [
      'too many files',
      { paths: Array.from({ length: APPEND_FILES_MAX + 1 }, () => 'x') },
      `expected at most ${APPEND_FILES_MAX} files, got ${APPEND_FILES_MAX + 1}`,
    ],
    ['a path that is a number', { paths: [1n] }, 'paths[0]: expected object, got integer'],
    [
      'a partition that is no list',
      { paths: [{ 'file-path': 'x', partition: 1n }] },
      'paths[0].partition: expected list, got integer',
    ],
    [
      'a large summary',
      { summary: { a: 'x'.repeat(8_193) } },
      'summary: expected at most 32 members of 8192 bytes together, got 1 of 8194',
    ],
    ...reserved.map((name): [string, JsonObject, string] => [
      `the summary member ${name}`,
      { summary: { [name]: '1' } },
      `summary.${name}: it is reserved`,
    ]),
  ])('refuses %s', (_, changes, message) => {
    const decoding = () => decodeAppendRequest({ ...smallest, ...changes })
    expect(decoding).toThrow(InvalidInputError)
    expect(decoding).toThrow(message)
  })
})

describe('encodeAppendResult', () => {
  it('keeps every digit and leaves out what is unknown', () => {
    const result = {
      outcome: 'landed-before',
      batchId: 'b',
      snapshotId: 9_151_314_442_816_847_871n,
      metadataLocation: 'file:///t/m.json',
    } as const
    expect(printJson(encodeAppendResult(result))).toBe(
      '{"outcome":"landed-before","batch-id":"b","snapshot-id":9151314442816847871,"metadata-location":"file:///t/m.json"}',
    )
  })
})
