import { isJsonArray } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import type { Difference } from './compare-metadata.ts'
import type { Answer } from './contestant.ts'

/** One request and what both sides said to it. */
export interface Step {
  readonly request: JsonObject
  readonly reference: Answer
  readonly ours: Answer
}

/**
 * A place where we differ from the reference on purpose. Each has a test of the same name in
 * `packages/iceberg/src/commit/deviations.test.ts`.
 */
export interface Deviation {
  readonly name: string
  readonly reason: string
  /** Set when the reference's table is not fit for more after it. */
  readonly endsSequence?: boolean
  /** Whether it explains different statuses; with `endsSequence` also that both refused. */
  readonly explainsStatus?: (step: Step) => boolean
  /** Whether it explains one difference between two accepted results. */
  readonly explainsDifference?: (step: Step, difference: Difference) => boolean
}

export const DEVIATIONS: readonly Deviation[] = [
  {
    name: 'the UUID of a table never changes',
    reason:
      'The format allows assign-uuid only while a table is created; the reference changes it and may lose the table over it.',
    explainsStatus: ({ reference, ours }) =>
      reference.message.startsWith('Table UUID does not match') ||
      (ours.message.startsWith('Cannot re-assign table UUID') && reference.status !== 400),
    endsSequence: true,
  },
  {
    name: 'client faults are 400 or 409',
    reason:
      'The reference answers 500 or 406 to what its parsers and null pointers trip over; the request is at fault.',
    explainsStatus: ({ reference, ours }) =>
      ![200, 400, 409].includes(reference.status) && [400, 409].includes(ours.status),
  },
  {
    name: 'a request that no base could make valid is 400 first',
    reason: 'The reference checks requirements before it looks at the members of some updates.',
    explainsStatus: (step) => bothAre(step, 409, 400) && step.ours.message.startsWith('updates['),
  },
  {
    name: 'v4 is refused',
    reason: 'The v1 protocol ends at format version 3; the reference accepts an upgrade to 4.',
    explainsStatus: ({ ours }) => ours.status === 400 && /format version: v4/.test(ours.message),
  },
  {
    name: 'unknown snapshots to remove are ignored',
    reason: 'The reference sizes a list by their number and fails when it turns negative.',
    explainsStatus: ({ reference, ours }) =>
      ours.status !== 400 && reference.message.includes('arraySize cannot be negative'),
  },
  {
    name: 'last added may be an equal one that existed',
    reason:
      'The reference forgets what -1 means when an add collapses into an equal object; ours accepts strictly more.',
    explainsStatus: ({ reference, ours }) =>
      ours.status !== 400 && reference.message.includes('Cannot set last added'),
  },
  {
    name: 'an id is known when it is set',
    reason:
      'The reference accepts a default that the same request adds only later, and crashes when none does.',
    explainsStatus: (step) =>
      [200, 409].includes(step.reference.status) &&
      step.ours.status === 400 &&
      /to unknown (spec|sort order)/.test(step.ours.message),
  },
  {
    name: 'clocks are clamped',
    reason:
      'The reference refuses a snapshot whose time is a minute before the log or after its clock; writers on other hosts would be locked out.',
    explainsStatus: ({ reference, ours }) =>
      ours.status === 200 &&
      /Expected sorted snapshot log entries|Invalid update timestamp/.test(reference.message),
  },
  {
    name: 'the log has an entry only when main moves',
    reason:
      'The reference logs main again when only its retention changes, or when it comes back to where it was.',
    explainsDifference: ({ reference, ours }, { path }) =>
      path.startsWith('snapshot-log') && isSameLog(reference.metadata, ours.metadata),
  },
  {
    name: 'a snapshot without a parent may carry an older sequence number',
    reason:
      'A replace that lost a race is no broken request; the reference refuses it with 400, or lets last-sequence-number fall.',
    explainsStatus: (step) =>
      step.ours.status === 200 &&
      /Invalid snapshot with sequence number/.test(step.reference.message),
    explainsDifference: (step, { path }) =>
      path === 'last-sequence-number' &&
      snapshotsOf(step).some((snapshot) => !('parent-snapshot-id' in snapshot)),
  },
  {
    name: 'v1 has no sequence numbers',
    reason: 'The reference notices one only when it is the last of the request.',
    explainsStatus: (step) =>
      bothAre(step, 200, 400) && step.ours.message.includes('expected 0 in v1'),
  },
  {
    name: 'snapshot ids are positive',
    reason:
      'Writers make positive ids, and -1 means that there is none; the reference accepts any.',
    explainsStatus: (step) =>
      bothAre(step, 200, 400) && /not a snapshot id|expected a positive id/.test(step.ours.message),
    endsSequence: true,
  },
  {
    name: 'main is a branch',
    reason: 'The format says so; the reference lets main become a tag.',
    explainsStatus: (step) =>
      bothAre(step, 200, 400) && updatesOf(step, 'set-snapshot-ref').some(isMainTag),
  },
  {
    name: 'reserved properties are not stored',
    reason:
      'They stand for members of the metadata and would contradict them; the reference stores what set-properties sends.',
    explainsDifference: (_, { path }) =>
      /^properties\.(format-version|uuid|snapshot-count|current-schema)$/.test(path),
  },
  {
    name: 'missing partition field ids are taken from equal fields',
    reason:
      'The format wants equal fields to keep their id and others a fresh one; the reference counts from 1000 whatever is taken.',
    explainsDifference: (step, { path }) =>
      /^(partition-specs?\b.*field-id|last-partition-id)$/.test(path) && hasSpecWithoutIds(step),
  },
  {
    name: 'a partition field id occurs once in a spec',
    reason: 'Two fields under one id cannot be told apart in manifests.',
    explainsStatus: (step) =>
      step.reference.status !== 400 && /field id more than once/.test(step.ours.message),
  },
  {
    name: 'row lineage enters with v3',
    reason: 'Members that only v3 defines are not carried in older tables.',
    explainsDifference: (_, { path, ours }) =>
      /^snapshots\.\d+\.(first-row-id|added-rows)$/.test(path) && ours === undefined,
  },
  {
    name: 'row ids never overlap',
    reason: 'After a first-row-id above next-row-id the reference hands out the same ids again.',
    explainsStatus: (step) =>
      step.ours.message.includes('first-row-id is behind') && snapshotsOf(step).length > 1,
    explainsDifference: (_, { path, reference, ours }) =>
      path === 'next-row-id' && (ours as bigint) > (reference as bigint),
  },
  {
    name: 'ids of sort orders are ignored',
    reason:
      'The server assigns them; the reference trips over id 0 with fields and over others without.',
    explainsStatus: (step) =>
      step.ours.status === 200 &&
      step.reference.status !== 200 &&
      sortOrdersOf(step).some(hasOddId),
  },
  {
    name: 'what was removed is gone',
    reason:
      'Within one request the reference still finds removed schemas and specs by id, and loses what takes their id.',
    explainsStatus: (step) =>
      removes(step) &&
      (/^Cannot find|^answer broken off|"schema" is null/.test(step.reference.message) ||
        /to unknown (schema|spec)/.test(step.ours.message)),
    endsSequence: true,
    explainsDifference: (step, { path }) =>
      removes(step) &&
      /^(schemas?|partition-specs?|current-schema-id|default-spec-id|last-)/.test(path),
  },
]

/** The deviation that explains different statuses, or a reference that broke its table, if there is one. */
export function statusDeviation(step: Step): Deviation | undefined {
  const candidates = DEVIATIONS.filter(({ explainsStatus }) => explainsStatus?.(step) === true)
  const isDifferent = step.reference.status !== step.ours.status
  return (
    candidates.find(({ endsSequence }) => endsSequence) ?? (isDifferent ? candidates[0] : undefined)
  )
}

/** The deviation that explains a difference, if there is one. */
export function differenceDeviation(step: Step, difference: Difference): Deviation | undefined {
  return DEVIATIONS.find(
    ({ explainsDifference }) => explainsDifference?.(step, difference) === true,
  )
}

function bothAre({ reference, ours }: Step, referenceStatus: number, ourStatus: number): boolean {
  return reference.status === referenceStatus && ours.status === ourStatus
}

function updatesOf(step: Step, ...actions: readonly string[]): readonly JsonObject[] {
  const updates = step.request['updates']
  if (!isJsonArray(updates)) return []
  return (updates as readonly JsonObject[]).filter(({ action }) => actions.includes(String(action)))
}

function snapshotsOf(step: Step): readonly JsonObject[] {
  return updatesOf(step, 'add-snapshot').map(({ snapshot }) => snapshot as JsonObject)
}

function sortOrdersOf(step: Step): readonly JsonObject[] {
  const orders = updatesOf(step, 'add-sort-order').map(
    (update) => update['sort-order'] as JsonObject,
  )
  const writeOrder = step.request['write-order']
  return writeOrder === undefined ? orders : [...orders, writeOrder as JsonObject]
}

function hasOddId(order: JsonObject): boolean {
  const isUnsorted = (order['fields'] as readonly JsonValue[]).length === 0
  return isUnsorted !== (order['order-id'] === 0n)
}

function isMainTag(update: JsonObject): boolean {
  return update['ref-name'] === 'main' && update['type'] === 'tag'
}

function hasSpecWithoutIds(step: Step): boolean {
  return updatesOf(step, 'add-spec').some(({ spec }) =>
    ((spec as JsonObject)['fields'] as readonly JsonObject[]).some(
      (field) => !('field-id' in field),
    ),
  )
}

function removes(step: Step): boolean {
  return updatesOf(step, 'remove-schemas', 'remove-partition-specs').length > 0 && addsOrSets(step)
}

function addsOrSets(step: Step): boolean {
  return (
    updatesOf(step, 'add-schema', 'add-spec', 'set-current-schema', 'set-default-spec').length > 0
  )
}

function isSameLog(reference: JsonObject | undefined, ours: JsonObject | undefined): boolean {
  const left = withoutRepeats(reference)
  const right = withoutRepeats(ours)
  return left.length === right.length && left.every((id, position) => id === right[position])
}

function withoutRepeats(metadata: JsonObject | undefined): readonly JsonValue[] {
  const log = metadata?.['snapshot-log']
  const ids = isJsonArray(log)
    ? log.map((entry) => (entry as JsonObject)['snapshot-id'] ?? null)
    : []
  return ids.filter((id, position) => id !== ids[position - 1])
}
