import type { AvroCursor } from '../avro/avro-cursor.ts'
import type { ReadStep, RecordPlan } from '../avro/avro-record.ts'
import { mapValueType, readWanted } from '../avro/avro-record.ts'
import type { AvroType } from '../avro/avro-schema.ts'
import { skipValue, unionBranch } from '../avro/avro-value.ts'
import type { AvroContainer } from '../avro/read-avro-container.ts'
import { readAvroRecords } from '../avro/read-avro-container.ts'
import { DATA_FILE_FIELDS, ENTRY_FIELDS } from '../manifest/wanted-fields.ts'
import {
  BOUND,
  COUNT,
  COUNTS_PER_COLUMN,
  NUMBER,
  RANGE,
  type NumberSlot,
  type RangeSlot,
  WalkedEntry,
} from './walked-entry.ts'

/** Takes the next value of an entry, or passes over it. */
type Step = (cursor: AvroCursor, entry: WalkedEntry) => void

export interface Walk {
  /** Of ENTRY_FIELDS, by the schema that the entries are written with. */
  readonly plan: RecordPlan
  /** The columns whose metrics are wanted. */
  readonly fieldIds: readonly number[]
  /** Whether only the status is wanted beside them. */
  readonly isMetricsOnly: boolean
}

/**
 * Calls `visit` with each entry of a manifest in file order. The entry is the same object each time, and its byte strings
 * are ranges of a block that is gone after the walk. Throws CorruptFileError.
 */
export function walkEntries(
  container: AvroContainer,
  walk: Walk,
  visit: (entry: WalkedEntry) => void,
): void {
  const steps = entrySteps(walk)
  const entry = new WalkedEntry(walk.fieldIds)
  readAvroRecords(container, (cursor) => {
    entry.clear(cursor.bytes)
    for (const step of steps) step(cursor, entry)
    visit(entry)
  })
}

const ENTRY_NUMBERS = new Map<number, NumberSlot>([
  [ENTRY_FIELDS.slot.snapshotId, NUMBER.snapshotId],
  [ENTRY_FIELDS.slot.sequenceNumber, NUMBER.sequenceNumber],
  [ENTRY_FIELDS.slot.fileSequenceNumber, NUMBER.fileSequenceNumber],
])

const FILE_NUMBERS = new Map<number, NumberSlot>([
  [DATA_FILE_FIELDS.slot.content, NUMBER.content],
  [DATA_FILE_FIELDS.slot.sortOrderId, NUMBER.sortOrderId],
  [DATA_FILE_FIELDS.slot.recordCount, NUMBER.recordCount],
  [DATA_FILE_FIELDS.slot.fileSizeBytes, NUMBER.fileSizeBytes],
  [DATA_FILE_FIELDS.slot.firstRowId, NUMBER.firstRowId],
  [DATA_FILE_FIELDS.slot.contentOffset, NUMBER.contentOffset],
  [DATA_FILE_FIELDS.slot.contentSizeBytes, NUMBER.contentSizeBytes],
])

/** Kept as they are stored, to be decoded once for equal bytes. */
const FILE_VALUES = new Map<number, RangeSlot>([
  [DATA_FILE_FIELDS.slot.partition, RANGE.partition],
  [DATA_FILE_FIELDS.slot.splitOffsets, RANGE.splitOffsets],
  [DATA_FILE_FIELDS.slot.equalityIds, RANGE.equalityIds],
  [DATA_FILE_FIELDS.slot.keyMetadata, RANGE.keyMetadata],
])

const FILE_TEXTS = new Map<number, RangeSlot>([
  [DATA_FILE_FIELDS.slot.filePath, RANGE.filePath],
  [DATA_FILE_FIELDS.slot.fileFormat, RANGE.fileFormat],
  [DATA_FILE_FIELDS.slot.referencedDataFile, RANGE.referencedDataFile],
])

const FILE_COUNTS = new Map<number, number>([
  [DATA_FILE_FIELDS.slot.columnSizesBytes, COUNT.columnSizeBytes],
  [DATA_FILE_FIELDS.slot.valueCounts, COUNT.values],
  [DATA_FILE_FIELDS.slot.nullValueCounts, COUNT.nulls],
  [DATA_FILE_FIELDS.slot.nanValueCounts, COUNT.nans],
])

const FILE_BOUNDS = new Map<number, 0 | 1>([
  [DATA_FILE_FIELDS.slot.lowerBounds, BOUND.lower],
  [DATA_FILE_FIELDS.slot.upperBounds, BOUND.upper],
])

function entrySteps({ plan, fieldIds, isMetricsOnly }: Walk): Step[] {
  return plan.steps.flatMap((step) => {
    if (step.slot === ENTRY_FIELDS.slot.status) return [numberStep(step, NUMBER.status)]
    if (step.members === undefined || step.slot !== ENTRY_FIELDS.slot.dataFile) {
      const slot = isMetricsOnly ? undefined : ENTRY_NUMBERS.get(step.slot)
      return [slot === undefined ? passStep(step.type) : numberStep(step, slot)]
    }
    const inner = step.members.steps.map((member) => fileStep(member, fieldIds, isMetricsOnly))
    return [present(step.type, (cursor, entry) => runAll(inner, cursor, entry))]
  })
}

function runAll(steps: readonly Step[], cursor: AvroCursor, entry: WalkedEntry): void {
  for (const step of steps) step(cursor, entry)
}

function fileStep(step: ReadStep, fieldIds: readonly number[], isMetricsOnly: boolean): Step {
  const isMetric = fieldIds.length > 0
  const count = FILE_COUNTS.get(step.slot)
  if (count !== undefined) return isMetric ? countsStep(step, count) : passMapStep(step.type)
  const bound = FILE_BOUNDS.get(step.slot)
  if (bound !== undefined) return isMetric ? boundsStep(step, bound) : passMapStep(step.type)
  if (isMetricsOnly) return passStep(step.type)
  const number = FILE_NUMBERS.get(step.slot)
  if (number !== undefined) return numberStep(step, number)
  const text = FILE_TEXTS.get(step.slot)
  if (text !== undefined) return textStep(step, text)
  const value = FILE_VALUES.get(step.slot)
  return value === undefined ? passStep(step.type) : valueStep(step, value)
}

/** Runs the step when the value is there, which a union says first. */
function present(type: AvroType, step: Step): Step {
  if (type.kind !== 'union') return step
  return (cursor, entry) => {
    if (unionBranch(cursor, type).kind !== 'null') step(cursor, entry)
  }
}

function passStep(type: AvroType): Step {
  return (cursor) => {
    skipValue(cursor, type)
  }
}

function numberStep(step: ReadStep, slot: NumberSlot): Step {
  return present(step.type, (cursor, entry) => {
    const number = cursor.safeLong()
    if (Number.isNaN(number)) entry.setLong(slot, cursor.long())
    else entry.numbers[slot] = number
  })
}

/** Texts that are stored as an enum are none that a manifest has. */
function textStep(step: ReadStep, slot: RangeSlot): Step {
  return present(step.type, (cursor, entry) => {
    const length = cursor.skipText()
    entry.setRange(slot, cursor.position - length, cursor.position)
  })
}

function valueStep(step: ReadStep, slot: RangeSlot): Step {
  return (cursor, entry) => {
    const start = cursor.position
    skipValue(cursor, step.type)
    entry.setRange(slot, start, cursor.position)
  }
}

/** Reads a value that was kept as it is stored; undefined when nothing was. */
export function readKept(cursor: AvroCursor, step: ReadStep | undefined): unknown {
  if (step?.wanted === undefined || cursor.remainingBytes === 0) return undefined
  return readWanted(cursor, step, step.wanted)
}

function passMapStep(type: AvroType): Step {
  const value = mapValueType(type)?.kind
  if (value === 'int' || value === 'long') {
    return present(type, (cursor) => {
      for (let left = cursor.itemBlock(); left > 0; left = cursor.itemBlock()) {
        cursor.skipVarintPairs(left)
      }
    })
  }
  if (value !== 'bytes' && value !== 'string') return passStep(type)
  return present(type, (cursor) => {
    for (let left = cursor.itemBlock(); left > 0; left = cursor.itemBlock()) {
      cursor.skipIdAndBytesPairs(left)
    }
  })
}

function countsStep(step: ReadStep, count: number): Step {
  const valueType = mapValueType(step.type)
  const union = valueType?.kind === 'union' ? valueType : undefined
  return present(step.type, (cursor, entry) => {
    for (let left = cursor.itemBlock(); left > 0; left = cursor.itemBlock()) {
      for (let index = 0; index < left; index += 1) {
        const place = entry.placeOf(cursor.int())
        if (union !== undefined && unionBranch(cursor, union).kind === 'null') continue
        if (place < 0) cursor.skipVarint()
        else entry.counts[place * COUNTS_PER_COLUMN + count] = countOf(cursor)
      }
    }
  })
}

/** A count that no number can hold, or below zero, says nothing. */
function countOf(cursor: AvroCursor): number {
  let number = cursor.safeLong()
  if (Number.isNaN(number)) number = Number(cursor.long())
  return number >= 0 && Number.isSafeInteger(number) ? number : Number.NaN
}

function boundsStep(step: ReadStep, bound: 0 | 1): Step {
  const valueType = mapValueType(step.type)
  if (valueType?.kind === 'bytes' || valueType?.kind === 'string') {
    return present(step.type, plainBoundsStep(bound))
  }
  return present(step.type, (cursor, entry) => {
    for (let left = cursor.itemBlock(); left > 0; left = cursor.itemBlock()) {
      for (let index = 0; index < left; index += 1) {
        const place = entry.placeOf(cursor.int())
        const type = valueType?.kind === 'union' ? unionBranch(cursor, valueType) : valueType
        if (type === undefined || type.kind === 'null') continue
        const length = type.kind === 'fixed' ? type.lengthBytes : cursor.lengthBytes()
        cursor.skipBytes(length)
        if (place >= 0) entry.setBound({ place, bound }, cursor.position - length, cursor.position)
      }
    }
  })
}

/** Of bounds as all known writers store them. */
function plainBoundsStep(bound: 0 | 1): Step {
  return (cursor, entry) => {
    for (let left = cursor.itemBlock(); left > 0; left = cursor.itemBlock()) {
      for (let index = 0; index < left; index += 1) {
        const place = entry.placeOf(cursor.int())
        const length = cursor.lengthBytes()
        const start = cursor.position
        cursor.position = start + length
        if (place >= 0) entry.setBound({ place, bound }, start, start + length)
      }
    }
  }
}
