import { assertNever } from '../spec/invariant.ts'
import type { AvroCursor } from './avro-cursor.ts'
import { AVRO_DEPTH_MAX } from './avro-limits.ts'
import type { AvroArray, AvroMap, AvroRecord, AvroType, AvroUnion } from './avro-schema.ts'

/** A value without parts: int, float, double → number; long → bigint; bytes, fixed → a view of the block. */
export type AvroScalar = null | boolean | number | bigint | string | Uint8Array

/** The branch that the next union value takes. */
export function unionBranch(cursor: AvroCursor, union: AvroUnion): AvroType {
  const index = cursor.int()
  const branch = union.branches[index]
  if (branch === undefined) {
    throw cursor.fail(`expected one of ${union.branches.length} union branches, got ${index}`)
  }
  return branch
}

/** The next value of a scalar type or a union of them; throws CorruptFileError for any other type. */
export function readScalar(cursor: AvroCursor, declared: AvroType): AvroScalar {
  const type = declared.kind === 'union' ? unionBranch(cursor, declared) : declared
  switch (type.kind) {
    case 'null':
      return null
    case 'boolean':
      return cursor.boolean()
    case 'int':
      return cursor.int()
    case 'long':
      return cursor.long()
    case 'float':
      return cursor.float()
    case 'double':
      return cursor.double()
    case 'bytes':
      return cursor.byteString()
    case 'string':
      return cursor.text()
    case 'fixed':
      return cursor.fixed(type.lengthBytes)
    case 'enum':
      return enumSymbol(cursor, type.symbols)
    default:
      throw cursor.fail(`expected a single value, got ${type.kind}`)
  }
}

function enumSymbol(cursor: AvroCursor, symbols: readonly string[]): string {
  const index = cursor.int()
  const symbol = symbols[index]
  if (symbol === undefined)
    throw cursor.fail(`expected one of ${symbols.length} symbols, got ${index}`)
  return symbol
}

/** Passes over the next value of any type. The work is bounded by the bytes that the value takes. */
export function skipValue(cursor: AvroCursor, type: AvroType, depth = 0): void {
  if (depth > AVRO_DEPTH_MAX) throw cursor.fail(`values nested deeper than ${AVRO_DEPTH_MAX}`)
  switch (type.kind) {
    case 'null':
      return
    case 'boolean':
      return cursor.skipBytes(1)
    case 'int':
    case 'long':
    case 'enum':
      return cursor.skipVarint()
    case 'float':
      return cursor.skipBytes(4)
    case 'double':
      return cursor.skipBytes(8)
    case 'bytes':
    case 'string':
      return cursor.skipBytes(cursor.lengthBytes())
    case 'fixed':
      return cursor.skipBytes(type.lengthBytes)
    case 'union':
      return skipValue(cursor, unionBranch(cursor, type), depth + 1)
    case 'array':
    case 'map':
      return skipItems(cursor, type, depth)
    case 'record':
      return skipFields(cursor, type, depth)
    default:
      return assertNever(type, 'Avro type')
  }
}

function skipFields(cursor: AvroCursor, record: AvroRecord, depth: number): void {
  for (const field of record.sizedFields) skipValue(cursor, field.type, depth + 1)
}

function skipItems(cursor: AvroCursor, type: AvroArray | AvroMap, depth: number): void {
  for (;;) {
    const count = cursor.itemBlock()
    if (count === 0) return
    if (cursor.itemBlockBytes !== undefined) cursor.skipBytes(cursor.itemBlockBytes)
    else skipItemBlock(cursor, type, { count, depth })
  }
}

function skipItemBlock(
  cursor: AvroCursor,
  type: AvroArray | AvroMap,
  block: { count: number; depth: number },
): void {
  const items = type.kind === 'map' ? type.values : type.items
  for (let index = 0; index < block.count; index += 1) {
    if (type.kind === 'map') cursor.skipBytes(cursor.lengthBytes())
    skipValue(cursor, items, block.depth + 1)
  }
}
