import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { CompactionGroup, CompactionNumbers, CompactionPlan } from './compaction-plan.ts'

/** Groups that a description lists; the numbers count all of them. */
const GROUPS_DESCRIBED_MAX = 100

/**
 * A plan as JSON for people and for the admin API: the outcome, the reason, the numbers it rests on and what each
 * merge would take. File names are left out; counts and sizes are not.
 */
export function describePlan(plan: CompactionPlan): JsonObject {
  const common = {
    outcome: plan.outcome,
    reason: plan.reason,
    numbers: describeNumbers(plan.numbers),
  }
  switch (plan.outcome) {
    case 'skipped':
      return common
    case 'nothing-to-do':
      return { ...common, 'next-trigger-ms': integer(plan.nextTriggerMs) }
    case 'compact':
      return {
        ...common,
        'snapshot-id': plan.snapshotId,
        'sort-order-id': BigInt(plan.order.orderId),
        'unsorted-reason': plan.order.unsortedReason,
        'group-count': BigInt(plan.groups.length),
        'remaining-group-count': BigInt(plan.remainingGroupCount),
        groups: plan.groups.slice(0, GROUPS_DESCRIBED_MAX).map(describeGroup),
      }
  }
}

function describeNumbers(numbers: CompactionNumbers): JsonObject {
  const { settings } = numbers
  return {
    'live-file-count': BigInt(numbers.liveFileCount),
    'small-file-count': BigInt(numbers.smallFileCount),
    'partition-count': BigInt(numbers.partitionCount),
    'largest-small-file-count': BigInt(numbers.largestSmallFileCount),
    'target-file-size-bytes': settings?.targetFileSizeBytes,
    'small-file-size-bytes': settings?.smallFileSizeBytes,
    'min-input-files': integer(settings?.minInputFileCount),
    'cold-after-ms': integer(settings?.coldAfterMs),
  }
}

function describeGroup(group: CompactionGroup): JsonObject {
  return {
    'spec-id': BigInt(group.specId),
    partition: group.partition.map(describeValue),
    'input-file-count': BigInt(group.inputs.length),
    'input-size-bytes': group.inputSizeBytes,
    'input-row-count': group.inputRowCount,
    'output-file-count': BigInt(group.estimatedOutputCount),
    reason: group.reason,
  }
}

function describeValue(value: CompactionGroup['partition'][number]) {
  if (value instanceof Uint8Array) return Array.from(value, hexByte).join('')
  // A float partition of NaN or infinity has no JSON number.
  return typeof value === 'number' && !Number.isSafeInteger(value) ? String(value) : jsonOf(value)
}

function jsonOf(value: Exclude<CompactionGroup['partition'][number], Uint8Array>) {
  return typeof value === 'number' ? BigInt(value) : value
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}

function integer(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(value)
}
