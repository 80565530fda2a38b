import type { ReadFile } from '@timelake/iceberg/io/snapshot-files'
import type { RestCatalog } from '@timelake/iceberg/io/rest-catalog'
import type { ReachFaultPoint } from './contract/fault-points.ts'
import type { MergeProcess } from './data/merge-process.ts'

/** What compaction needs of an object store. `unknown` of a put means: read back before deciding. */
export interface CompactionStore {
  get: ReadFile
  stat(location: string): Promise<{ readonly sizeBytes: number } | undefined>
  putIfAbsent(location: string, bytes: Uint8Array): Promise<'created' | 'exists' | 'unknown'>
  putFileIfAbsent(location: string, localPath: string): Promise<'created' | 'exists' | 'unknown'>
  /** A local path with the object's content; nothing may be written to it. */
  localFile(location: string, directory: string, signal?: AbortSignal): Promise<string>
  delete(location: string): Promise<unknown>
}

/** The world around one compaction run. */
export interface CompactionContext {
  readonly catalog: RestCatalog
  readonly store: CompactionStore
  readonly engine: MergeProcess
  /** A local directory of this run alone; exists, and is removed by the caller. */
  readonly directory: string
  /** What one merge may keep there: inputs, intermediate files and the output. The engine's spill is not counted. */
  readonly diskBytesMax: number
  /** Keeps the locations where they survive a crash, before anything is written there. */
  recordOutputs(locations: readonly string[]): Promise<void>
  nowMs(): number
  newUuid(): string
  /** Random, positive, 63 bits. */
  newSnapshotId(): bigint
  /** Resolves after the time or rejects with the signal's reason. */
  waitMs(delayMs: number, signal: AbortSignal): Promise<void>
  readonly reachFaultPoint: ReachFaultPoint
  readonly signal: AbortSignal
}
