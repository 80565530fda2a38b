import type { AvroCursor } from './avro-cursor.ts'

/** Reads a whole map from a cursor before it. */
export type ReadMap<Value> = (cursor: AvroCursor) => ReadonlyMap<number, Value>

/**
 * A map by field id that stays as its bytes until it is asked for something: a tenth of the memory of a decoded one.
 * Its bytes were checked when it was passed, so asking never fails. It keeps its block alive.
 */
export class LazyMap<Value> implements ReadonlyMap<number, Value> {
  private readonly source: AvroCursor
  private readonly start: number
  private readonly end: number
  private readonly read: ReadMap<Value>
  private kept: ReadonlyMap<number, Value> | undefined = undefined

  constructor(source: AvroCursor, range: { start: number; end: number }, read: ReadMap<Value>) {
    this.source = source
    this.start = range.start
    this.end = range.end
    this.read = read
  }

  private decoded(): ReadonlyMap<number, Value> {
    return this.kept ?? this.read(this.source.fork(this.start, this.end))
  }

  /** Kept from now on: who asks for one column tends to ask for the others. Passing over all keeps nothing. */
  private keep(): ReadonlyMap<number, Value> {
    this.kept = this.decoded()
    return this.kept
  }

  get size(): number {
    return this.decoded().size
  }

  get(id: number): Value | undefined {
    return this.keep().get(id)
  }

  has(id: number): boolean {
    return this.keep().has(id)
  }

  keys(): MapIterator<number> {
    return this.decoded().keys()
  }

  values(): MapIterator<Value> {
    return this.decoded().values()
  }

  entries(): MapIterator<[number, Value]> {
    return this.decoded().entries()
  }

  [Symbol.iterator](): MapIterator<[number, Value]> {
    return this.decoded()[Symbol.iterator]()
  }

  forEach(visit: (value: Value, id: number, map: ReadonlyMap<number, Value>) => void): void {
    this.decoded().forEach((value, id) => visit(value, id, this))
  }
}
