import { expect, it } from 'vitest'
import { parseJson } from '../spec/json.ts'
import type { JsonObject } from '../spec/json-value.ts'
import { decodeFetchTasksRequest, decodePlanRequest, encodePlanResult } from './plan-json.ts'

it('reads a request with nothing in it: all rows of all columns, names in their case', () => {
  expect(decodePlanRequest({})).toEqual({
    source: {},
    filter: { kind: 'true' },
    isCaseSensitive: true,
  })
  expect(decodePlanRequest({ filter: null, select: null, 'snapshot-id': null })).toEqual(
    decodePlanRequest({}),
  )
})

it('reads every member, and passes over those that it does not know', () => {
  const request = decodePlanRequest({
    'snapshot-id': 9_151_314_442_816_847_871n,
    select: ['a', 'b.c'],
    filter: { type: 'is-null', term: 'a' },
    'case-sensitive': false,
    'use-snapshot-schema': true,
    'stats-fields': ['a'],
    'min-rows-requested': 10n,
    'x-later': {},
  })
  expect(request).toMatchObject({
    source: { snapshotId: 9_151_314_442_816_847_871n, useSnapshotSchema: true },
    select: ['a', 'b.c'],
    filter: { kind: 'unary', operator: 'is-null' },
    isCaseSensitive: false,
    statsFields: ['a'],
    minRowsRequested: 10n,
  })
})

it.each<[string, JsonObject]>([
  ['snapshot-id', { 'snapshot-id': '7' }],
  ['start-snapshot-id', { 'start-snapshot-id': 1.5 }],
  ['select[1]', { select: ['a', 1n] }],
  ['filter.type', { filter: { type: 'like', term: 'a', value: 'b' } }],
  ['case-sensitive', { 'case-sensitive': 'no' }],
  ['stats-fields', { 'stats-fields': 'a' }],
  ['min-rows-requested', { 'min-rows-requested': -1n }],
])('names %s when it is wrong', (path, request) => {
  expect(() => decodePlanRequest(request)).toThrow(path)
})

it('reads a plan task', () => {
  expect(decodeFetchTasksRequest({ 'plan-task': 'abc' })).toBe('abc')
  expect(() => decodeFetchTasksRequest({ 'plan-task': 7n })).toThrow('plan-task')
})

it('writes each outcome with the members that belong to it', () => {
  const read = (text: string) => parseJson(text)
  expect(read(encodePlanResult({ status: 'submitted', planId: 'p' }))).toEqual({
    status: 'submitted',
    'plan-id': 'p',
  })
  const error = { message: 'gone', type: 'NotFoundException', code: 404 }
  expect(read(encodePlanResult({ status: 'failed', error }))).toEqual({
    status: 'failed',
    error: { message: 'gone', type: 'NotFoundException', code: 404n },
  })
  const completed = {
    status: 'completed',
    planId: 'p',
    planTasks: ['t'],
    storageCredentials: [{ prefix: 's3://a', config: { k: 'v' } }],
  } as const
  expect(read(encodePlanResult(completed))).toEqual({
    status: 'completed',
    'plan-id': 'p',
    'plan-tasks': ['t'],
    'storage-credentials': [{ prefix: 's3://a', config: { k: 'v' } }],
  })
  const tasksText = '"file-scan-tasks":[]'
  expect(read(encodePlanResult({ ...completed, planTasks: [], tasksText }))).not.toHaveProperty(
    'plan-tasks',
  )
})
