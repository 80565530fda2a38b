import type { ObjectBytes } from './object-bytes.ts'

/** What a listing says of one object. `location` is spelled as under the listed prefix. */
export interface ObjectEntry {
  readonly location: string
  readonly sizeBytes: number
  readonly lastModifiedMs: number
}

/** A range of an object: `lengthBytes` bytes from `offset`; a negative offset counts from the end. */
export interface ByteRange {
  readonly offset: number
  readonly lengthBytes: number
}

export interface GetOptions {
  readonly range?: ByteRange
  /** Refuses (ObjectTooLargeError) instead of reading more than this. */
  readonly sizeBytesMax?: number
  readonly signal?: AbortSignal
}

/**
 * `created`: this call made the object. `exists`: somebody else's object is there, ours is not.
 * `unknown`: the store may or may not hold ours; read back before deciding, delete nothing.
 */
export type PutOutcome = 'created' | 'exists' | 'unknown'

/** What became of one location of `deleteMany`. `gone`: nothing is there any more; a batch does not tell what was. */
export type DeleteResult =
  | { readonly location: string; readonly outcome: 'gone' }
  /** LocationError when this store does not serve it, StoreUnavailableError when it may still be there. */
  | { readonly location: string; readonly outcome: 'failed'; readonly error: Error }

/**
 * Objects by location (an absolute URI such as `file:///lake/t/metadata/x.json`). Never relies on list order;
 * "absent" is an answer of the store and never a failure of it. Errors: ObjectNotFoundError, ObjectTooLargeError,
 * LocationError (a location that this store does not serve or that escapes its root), StoreUnavailableError.
 */
export interface ObjectStore {
  get(location: string, options?: GetOptions): Promise<Uint8Array>
  /** Size and time, or undefined when the object is absent. */
  stat(location: string): Promise<ObjectEntry | undefined>
  /** Durable once it answers `created`. Never replaces an object. Nobody may change the bytes until then. */
  readonly putIfAbsent: (location: string, bytes: ObjectBytes) => Promise<PutOutcome>
  /** The same for a finished local file, which may be moved or linked and must not be changed afterwards. */
  putFileIfAbsent(location: string, localPath: string): Promise<PutOutcome>
  /** A local path with the object's content, inside `directory` unless the store itself is local. */
  localFile(location: string, directory: string, signal?: AbortSignal): Promise<string>
  delete(location: string): Promise<'deleted' | 'absent'>
  /** Deletes all of them, in batches where the store has those; one result for each location, in their order. */
  deleteMany(locations: readonly string[]): Promise<readonly DeleteResult[]>
  /** Every object below the prefix, at any depth, in any order. */
  list(prefix: string): AsyncIterable<ObjectEntry>
  /** Makes a new table's `metadata/` and `data/` folders where the store has folders; elsewhere does nothing. */
  prepareTableFolders(tableLocation: string): Promise<void>
  /**
   * Whether the store was found to refuse conditions, so that `putIfAbsent` looks first and then writes, and two writers
   * of one name may both be told `created`. Absent: it never does.
   */
  refusesConditions?(): boolean
}

export class ObjectNotFoundError extends Error {
  override readonly name = 'ObjectNotFoundError'
  readonly location: string
  constructor(location: string, options?: ErrorOptions) {
    super(`object not found: ${location}`, options)
    this.location = location
  }
}

export class ObjectTooLargeError extends Error {
  override readonly name = 'ObjectTooLargeError'
}

export class LocationError extends Error {
  override readonly name = 'LocationError'
}

export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}
