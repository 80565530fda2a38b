import { assertNever, invariant } from '../spec/invariant.ts'
import { CorruptFileError } from '../spec/errors.ts'
import type { AvroCursor } from './avro-cursor.ts'
import type { AvroField, AvroRecord, AvroType, AvroUnion } from './avro-schema.ts'
import { readScalar, skipValue, unionBranch } from './avro-value.ts'
import type { ReadMap } from './lazy-map.ts'
import { LazyMap } from './lazy-map.ts'

/** What the reader makes of a field, whatever spelling the writer chose for it. */
export type WantedKind =
  | 'int'
  | 'long'
  | 'text'
  | 'bytes'
  | 'boolean'
  /** number[] and bigint[] */
  | 'int-list'
  | 'long-list'
  /** Map<number, bigint> and Map<number, Uint8Array> */
  | 'long-by-id'
  | 'bytes-by-id'
  /** AvroScalar[] in the writer's order */
  | 'tuple'
  | 'record'
  | 'record-list'

/** A field that the reader knows. Its value lands in the slot of the same index as this entry. */
export interface WantedField {
  readonly id: number
  /** The names that writers use; only for fields without an id. */
  readonly names: readonly string[]
  readonly kind: WantedKind
  /** The members of `record` and `record-list`. */
  readonly members?: readonly WantedField[]
  /** Leaves maps by id as their bytes until they are asked. */
  readonly isLazy?: boolean
}

/** The values of one record by slot; `undefined` is absent or null. */
export type Slots = unknown[]

export interface ReadStep {
  /** −1: passed over. */
  readonly slot: number
  readonly type: AvroType
  readonly wanted: WantedField | undefined
  readonly members: RecordPlan | undefined
  /** How a map by id is read. */
  readonly readMap: ReadMap<unknown> | undefined
}

/** How the records of one writer schema fill the wanted slots. */
export interface RecordPlan {
  readonly steps: readonly ReadStep[]
  readonly slotCount: number
  /** The writer's field behind a slot. */
  readonly writerFields: readonly (AvroField | undefined)[]
  /** The plan of a `record` or `record-list` slot. */
  readonly memberPlans: readonly (RecordPlan | undefined)[]
  /** Where a record inside a record is read; its values last until the next one. */
  readonly scratch: Slots
}

/**
 * Matches the wanted fields with the writer's by field id, or by name and alias where the writer gave no id. Fields
 * that nobody wants are passed over. Throws CorruptFileError when a matched field has a type of another shape.
 */
export function planRecord(
  record: AvroRecord,
  wanted: readonly WantedField[],
  what: string,
): RecordPlan {
  const writerFields: (AvroField | undefined)[] = wanted.map(() => undefined)
  const memberPlans: (RecordPlan | undefined)[] = wanted.map(() => undefined)
  const planned = record.fields.map((field): ReadStep => {
    const slot = wanted.findIndex((candidate) => isSameField(candidate, field))
    const found = wanted[slot]
    if (found === undefined || writerFields[slot] !== undefined) return skipStep(field.type)
    writerFields[slot] = field
    const members = planMembers(field, found, what)
    memberPlans[slot] = members
    if (!hasWantedShape(field.type, found.kind)) throw shapeError(field, found, what)
    return { slot, type: field.type, wanted: found, members, readMap: mapReader(field.type, found) }
  })
  const sized = new Set(record.sizedFields.map((field) => field.type))
  const steps = planned.filter((step) => sized.has(step.type))
  return { steps, slotCount: wanted.length, writerFields, memberPlans, scratch: [] }
}

function skipStep(type: AvroType): ReadStep {
  return { slot: -1, type, wanted: undefined, members: undefined, readMap: undefined }
}

function isSameField(wanted: WantedField, field: AvroField): boolean {
  if (field.fieldId !== undefined) return field.fieldId === wanted.id
  return (
    wanted.names.includes(field.name) || field.aliases.some((name) => wanted.names.includes(name))
  )
}

function planMembers(field: AvroField, wanted: WantedField, what: string): RecordPlan | undefined {
  if (wanted.members === undefined) return undefined
  const type = withoutNull(field.type)
  const record =
    wanted.kind === 'record-list' && type?.kind === 'array' ? withoutNull(type.items) : type
  if (record?.kind !== 'record') throw shapeError(field, wanted, what)
  return planRecord(record, wanted.members, what)
}

function shapeError(field: AvroField, wanted: WantedField, what: string): CorruptFileError {
  return new CorruptFileError(
    `cannot read ${what}: expected ${wanted.kind} in field ${wanted.id} ${field.name}, got ${field.type.kind}`,
  )
}

/** The only branch of a union that is not null, or the type itself. */
function withoutNull(type: AvroType): AvroType | undefined {
  if (type.kind !== 'union') return type
  const branches = type.branches.filter((branch) => branch.kind !== 'null')
  return branches.length === 1 ? branches[0] : undefined
}

const SHAPES: Readonly<Record<WantedKind, readonly AvroType['kind'][]>> = {
  int: ['int', 'long'],
  long: ['int', 'long'],
  text: ['string', 'bytes', 'enum'],
  bytes: ['bytes', 'fixed', 'string'],
  boolean: ['boolean'],
  'int-list': ['array'],
  'long-list': ['array'],
  'long-by-id': ['array'],
  'bytes-by-id': ['array'],
  tuple: ['record'],
  record: ['record'],
  'record-list': ['array'],
}

function hasWantedShape(type: AvroType, kind: WantedKind): boolean {
  const branches = type.kind === 'union' ? type.branches : [type]
  return branches.every((branch) => branch.kind === 'null' || isWantedBranch(branch, kind))
}

function isWantedBranch(type: AvroType, kind: WantedKind): boolean {
  if (!SHAPES[kind].includes(type.kind)) return false
  if (type.kind !== 'array') return true
  switch (kind) {
    case 'int-list':
    case 'long-list':
      return hasWantedShape(type.items, 'long')
    case 'long-by-id':
      return isPairOf(type.items, 'long')
    case 'bytes-by-id':
      return isPairOf(type.items, 'bytes')
    default:
      return true
  }
}

/** An int-keyed map is a list of records of a key and a value, in this order. Spec: Appendix A. */
function isPairOf(items: AvroType, valueKind: 'long' | 'bytes'): boolean {
  if (items.kind !== 'record' || items.fields.length !== 2) return false
  const [key, value] = items.fields
  return (
    key !== undefined &&
    value !== undefined &&
    key.type.kind !== 'union' &&
    hasWantedShape(key.type, 'int') &&
    hasWantedShape(value.type, valueKind)
  )
}

/** Reads one record into `slots`, which are cleared first. */
export function readRecord(cursor: AvroCursor, plan: RecordPlan, slots: Slots): Slots {
  for (let slot = 0; slot < plan.slotCount; slot += 1) slots[slot] = undefined
  for (const step of plan.steps) {
    if (step.wanted === undefined) skipValue(cursor, step.type)
    else slots[step.slot] = readWanted(cursor, step, step.wanted)
  }
  return slots
}

/** The next value, in the form of the wanted kind; undefined for null. */
export function readWanted(cursor: AvroCursor, step: ReadStep, wanted: WantedField): unknown {
  const type = step.type.kind === 'union' ? unionBranch(cursor, step.type) : step.type
  if (type.kind === 'null') return undefined
  switch (wanted.kind) {
    case 'int':
      return cursor.int()
    case 'long':
      return cursor.long()
    case 'text':
      return type.kind === 'enum' ? readScalar(cursor, type) : cursor.text()
    case 'bytes':
      return type.kind === 'fixed' ? cursor.fixed(type.lengthBytes) : cursor.byteString()
    case 'boolean':
      return cursor.boolean()
    case 'int-list':
      return readList(cursor, readInt, elementUnion(type))
    case 'long-list':
      return readList(cursor, readLong, elementUnion(type))
    case 'long-by-id':
    case 'bytes-by-id':
      return readMap(cursor, step, type)
    case 'tuple':
      return readTuple(cursor, type)
    case 'record':
      return readMember(cursor, step)
    case 'record-list':
      return readRecordList(cursor, type, step)
    default:
      return assertNever(wanted.kind, 'wanted field')
  }
}

const readInt = (cursor: AvroCursor): number => cursor.int()
const readLong = (cursor: AvroCursor): bigint => cursor.long()

function readMember(cursor: AvroCursor, step: ReadStep): Slots {
  invariant(step.members !== undefined, 'a record field was planned without its members')
  return readRecord(cursor, step.members, step.members.scratch)
}

function elementUnion(type: AvroType): AvroUnion | undefined {
  return type.kind === 'array' && type.items.kind === 'union' ? type.items : undefined
}

/** True when the element that comes is null. */
function isNullNext(cursor: AvroCursor, union: AvroUnion | undefined): boolean {
  return union !== undefined && unionBranch(cursor, union).kind === 'null'
}

function readList<T>(
  cursor: AvroCursor,
  readItem: (cursor: AvroCursor) => T,
  union: AvroUnion | undefined,
): T[] {
  const items: T[] = []
  for (let count = nextItems(cursor); count > 0; count = nextItems(cursor)) {
    for (let index = 0; index < count; index += 1) {
      if (!isNullNext(cursor, union)) items.push(readItem(cursor))
    }
  }
  return items
}

function nextItems(cursor: AvroCursor): number {
  const count = cursor.itemBlock()
  cursor.takeItems(count)
  return count
}

/** The value type of an int-keyed map, or of the branch of a union that is one. */
export function mapValueType(type: AvroType): AvroType | undefined {
  const list = type.kind === 'union' ? type.branches.find(({ kind }) => kind === 'array') : type
  if (list?.kind !== 'array' || list.items.kind !== 'record') return undefined
  return list.items.fields[1]?.type
}

function mapReader(type: AvroType, wanted: WantedField): ReadMap<unknown> | undefined {
  const valueType = mapValueType(type)
  if (valueType === undefined) return undefined
  if (wanted.kind === 'bytes-by-id') return (cursor) => readBytesById(cursor, valueType)
  return (cursor) => readLongsById(cursor, valueType.kind === 'union' ? valueType : undefined)
}

function readMap(cursor: AvroCursor, step: ReadStep, type: AvroType): ReadonlyMap<number, unknown> {
  invariant(step.readMap !== undefined, 'a map field was planned without its reader')
  if (step.wanted?.isLazy !== true) return step.readMap(cursor)
  const start = cursor.position
  passMap(cursor, mapValueType(type) ?? { kind: 'null' })
  return new LazyMap(cursor, { start, end: cursor.position }, step.readMap)
}

/** Passes over a map and finds everything wrong that reading it would find. */
function passMap(cursor: AvroCursor, valueType: AvroType): void {
  for (let count = cursor.itemBlock(); count > 0; count = cursor.itemBlock()) {
    for (let index = 0; index < count; index += 1) {
      cursor.int()
      skipValue(cursor, valueType)
    }
  }
}

function readLongsById(cursor: AvroCursor, union: AvroUnion | undefined): Map<number, bigint> {
  const values = new Map<number, bigint>()
  for (let count = nextItems(cursor); count > 0; count = nextItems(cursor)) {
    for (let index = 0; index < count; index += 1) {
      const id = cursor.int()
      if (!isNullNext(cursor, union)) values.set(id, cursor.long())
    }
  }
  return values
}

function readBytesById(cursor: AvroCursor, valueType: AvroType): Map<number, Uint8Array> {
  const values = new Map<number, Uint8Array>()
  for (let count = nextItems(cursor); count > 0; count = nextItems(cursor)) {
    for (let index = 0; index < count; index += 1) {
      const id = cursor.int()
      const bytes = readOptionalBytes(cursor, valueType)
      if (bytes !== undefined) values.set(id, bytes)
    }
  }
  return values
}

function readOptionalBytes(cursor: AvroCursor, declared: AvroType): Uint8Array | undefined {
  const type = declared.kind === 'union' ? unionBranch(cursor, declared) : declared
  if (type.kind === 'null') return undefined
  return type.kind === 'fixed' ? cursor.fixed(type.lengthBytes) : cursor.byteString()
}

function readTuple(cursor: AvroCursor, type: AvroType): unknown[] {
  if (type.kind !== 'record') throw cursor.fail(`expected a struct, got ${type.kind}`)
  cursor.takeItems(type.fields.length)
  return type.fields.map((field) => readScalar(cursor, field.type))
}

function readRecordList(cursor: AvroCursor, type: AvroType, step: ReadStep): Slots[] {
  invariant(step.members !== undefined, 'a record list was planned without its members')
  const records: Slots[] = []
  const items = type.kind === 'array' && type.items.kind === 'union' ? type.items : undefined
  for (let count = nextItems(cursor); count > 0; count = nextItems(cursor)) {
    for (let index = 0; index < count; index += 1) {
      if (!isNullNext(cursor, items)) records.push(readRecord(cursor, step.members, []))
    }
  }
  return records
}
