import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { TestAnswer, TestCatalog } from './open-test-catalog.ts'

const PATH = '/v1/main/transactions/commit'

/** One member of `table-changes`: what a commit of the table would be. */
export function changeOf(levels: readonly string[], name: string, commit: JsonObject): JsonObject {
  return { identifier: { namespace: [...levels], name }, ...commit }
}

/** Sends changes as one transaction. */
export function transact(
  catalog: Pick<TestCatalog, 'call'>,
  changes: readonly JsonObject[],
  headers: Readonly<Record<string, string>> = {},
): Promise<TestAnswer> {
  return catalog.call('POST', PATH, { body: { 'table-changes': changes }, headers })
}

/** A commit that sets one property. */
export function setProperty(key: string, value: string): JsonObject {
  return { updates: [{ action: 'set-properties', updates: { [key]: value } }] }
}
