import { printJson } from '@timelake/iceberg/spec/json'
import type { AppendIntent } from './append-intent.ts'

/** Ids of more batches than this are in the event and in the database, not in the snapshot. */
export const SUMMARY_BATCH_IDS_MAX = 16

/**
 * The summary of the snapshot that brings these intents: whose batches they are, and of the writers' own members those on
 * which all of them agree. One batch is named by `timelake.batch-id`, several by `timelake.batch-ids`, a JSON list, and many
 * are only counted.
 */
export function appendSummary(
  intents: readonly Pick<AppendIntent, 'batchId' | 'summary'>[],
): Record<string, string> {
  return { ...agreedMembers(intents.map(({ summary }) => summary)), ...batchMembers(intents) }
}

function agreedMembers(
  summaries: readonly Readonly<Record<string, string>>[],
): Record<string, string> {
  const [first = {}, ...others] = summaries
  const agreed = Object.entries(first).filter(([name, value]) =>
    others.every((other) => Object.hasOwn(other, name) && other[name] === value),
  )
  return Object.fromEntries(agreed)
}

function batchMembers(intents: readonly Pick<AppendIntent, 'batchId'>[]): Record<string, string> {
  const ids = intents.map(({ batchId }) => batchId)
  const [first, ...others] = ids
  if (first !== undefined && others.length === 0) return { 'timelake.batch-id': first }
  const named = ids.length > SUMMARY_BATCH_IDS_MAX ? {} : { 'timelake.batch-ids': printJson(ids) }
  return { 'timelake.batch-count': String(ids.length), ...named }
}
