import { HISTORY_LIMITS, TRIM_PROPERTY } from '@timelake/iceberg/commit/history-properties'
import { MERGE_PROPERTIES, REBASE_PROPERTY } from '@timelake/iceberg/rebase/rebase-properties'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'

export type TableSettingKind = 'boolean' | 'bytes' | 'count' | 'milliseconds' | 'ratio'

/** One table property that changes what Timelake does with the table. */
export interface TableSettingDefinition {
  readonly property: string
  readonly kind: TableSettingKind
  readonly default: boolean | number
  readonly min?: number
  readonly max?: number
  readonly doc: string
}

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB
const HOUR_MS = 3_600_000

/** Every table property that Timelake's jobs and commits read. Values are texts, as all table properties are. */
export const TABLE_SETTINGS = {
  compactionEnabled: {
    property: 'timelake.compaction.enabled',
    kind: 'boolean',
    default: true,
    doc: 'Whether small files of this table are merged.',
  },
  targetFileSizeBytes: {
    property: 'write.target-file-size-bytes',
    kind: 'bytes',
    default: 128 * MIB,
    min: 64 * KIB,
    max: 64 * GIB,
    doc: 'Size that merged files aim at. Iceberg writers read the same property (their default is 512 MiB).',
  },
  smallFileRatio: {
    property: 'timelake.compaction.small-file-ratio',
    kind: 'ratio',
    default: 0.75,
    min: 0.01,
    max: 1,
    doc: 'A file below this share of the target size is small, that is a candidate.',
  },
  minInputFileCount: {
    property: 'timelake.compaction.min-input-files',
    kind: 'count',
    default: 5,
    min: 2,
    max: 10_000,
    doc: 'Small files of similar size that one partition must hold before they are merged.',
  },
  coldAfterMs: {
    property: 'timelake.compaction.cold-after-ms',
    kind: 'milliseconds',
    default: HOUR_MS,
    min: 1000,
    max: 10_000 * 24 * HOUR_MS,
    doc: 'A partition without commits for this long is merged from two small files on.',
  },
  groupInputFileCountMax: {
    property: 'timelake.compaction.max-group-input-files',
    kind: 'count',
    default: 2048,
    min: 2,
    max: 100_000,
    doc: 'Most files that one merge takes; it opens at most 64 of them at a time.',
  },
  groupCountMax: {
    property: 'timelake.compaction.max-groups-per-run',
    kind: 'count',
    default: 64,
    min: 1,
    max: 10_000,
    doc: 'Most merges in one run; the rest follows in the next run.',
  },
  rememberBatchesMs: {
    property: 'timelake.append.remember-batches-ms',
    kind: 'milliseconds',
    default: 30 * 24 * HOUR_MS,
    min: 1000,
    max: 10_000 * 24 * HOUR_MS,
    doc: 'How long at least the id of an appended batch is remembered, so that the same batch lands once. Independent of how long its snapshot is kept.',
  },
  rebaseAppends: {
    property: REBASE_PROPERTY,
    kind: 'boolean',
    default: false,
    doc:
      'Whether an append that lost a race is attached to the present head instead of being answered 409. See docs/rebase.md ' +
      'for what an append must look like and which isolation is given up.',
  },
  manifestMergeEnabled: {
    property: MERGE_PROPERTIES.isEnabled,
    kind: 'boolean',
    default: true,
    doc: 'Whether appends that the server attaches also merge manifests, as Iceberg writers do.',
  },
  mergedManifestCountMin: {
    ...MERGE_PROPERTIES.manifestCountMin,
    kind: 'count',
    doc: 'Small manifests that a table must have before some of them are merged.',
  },
  manifestTargetSizeBytes: {
    ...MERGE_PROPERTIES.targetSizeBytes,
    kind: 'bytes',
    doc: 'Size that merged manifests stay below.',
  },
  historyTrimEnabled: {
    property: TRIM_PROPERTY,
    kind: 'boolean',
    default: false,
    doc:
      'Whether each commit also removes the snapshots that are too old or too many by the three properties below. Branches, ' +
      'tags and what they point at stay. So do all files: no job deletes yet what only removed snapshots refer to, and a purge ' +
      'does not reach it. A table with `gc.enabled=false` or with encryption keeps everything.',
  },
  historySnapshotCountMax: {
    ...HISTORY_LIMITS.snapshotCountMax,
    kind: 'count',
    doc: 'With trimming: most snapshots that a branch keeps, however young they are.',
  },
  historySnapshotAgeMsMax: {
    ...HISTORY_LIMITS.snapshotAgeMsMax,
    kind: 'milliseconds',
    doc: 'With trimming: snapshots younger than this stay. A branch may say otherwise for itself.',
  },
  historySnapshotCountMin: {
    ...HISTORY_LIMITS.snapshotCountMin,
    kind: 'count',
    doc: 'With trimming: snapshots that a branch keeps, however old they are. A branch may say otherwise for itself.',
  },
  previousVersionCountMax: {
    ...HISTORY_LIMITS.previousVersionCountMax,
    kind: 'count',
    doc:
      'Most earlier metadata files that the table lists. With `write.metadata.delete-after-commit.enabled=true` those that ' +
      'fall out are deleted.',
  },
  previousVersionAgeMsMax: {
    ...HISTORY_LIMITS.previousVersionAgeMsMax,
    kind: 'milliseconds',
    doc: 'Earlier metadata files that were replaced longer ago than this fall out too, all but the last. 0: however old.',
  },
} as const satisfies Record<string, TableSettingDefinition>

/** The settings of one table, defaults filled in. Sizes are bigint like every Iceberg `long`. */
export interface CompactionSettings {
  readonly compactionEnabled: boolean
  readonly targetFileSizeBytes: bigint
  /** Files below this are small. */
  readonly smallFileSizeBytes: bigint
  readonly minInputFileCount: number
  readonly coldAfterMs: number
  readonly groupInputFileCountMax: number
  readonly groupCountMax: number
}

/**
 * The compaction settings that a table's properties ask for.
 * Throws InvalidInputError naming the property, the expected form and the text found, for the first bad one.
 */
export function readCompactionSettings(
  properties: Readonly<Record<string, string>>,
): CompactionSettings {
  const number = (definition: TableSettingDefinition): number => readNumber(definition, properties)
  const target = number(TABLE_SETTINGS.targetFileSizeBytes)
  return {
    compactionEnabled: readBoolean(TABLE_SETTINGS.compactionEnabled, properties),
    targetFileSizeBytes: BigInt(target),
    smallFileSizeBytes: BigInt(Math.floor(target * number(TABLE_SETTINGS.smallFileRatio))),
    minInputFileCount: number(TABLE_SETTINGS.minInputFileCount),
    coldAfterMs: number(TABLE_SETTINGS.coldAfterMs),
    groupInputFileCountMax: number(TABLE_SETTINGS.groupInputFileCountMax),
    groupCountMax: number(TABLE_SETTINGS.groupCountMax),
  }
}

/** How appends to one table are treated, defaults filled in. */
export interface AppendSettings {
  readonly rememberBatchesMs: number
}

/** The append settings that a table's properties ask for. Throws InvalidInputError as readCompactionSettings does. */
export function readAppendSettings(properties: Readonly<Record<string, string>>): AppendSettings {
  return { rememberBatchesMs: readNumber(TABLE_SETTINGS.rememberBatchesMs, properties) }
}

function readBoolean(
  definition: TableSettingDefinition,
  properties: Readonly<Record<string, string>>,
): boolean {
  const text = properties[definition.property]
  if (text === undefined) return definition.default === true
  const lower = text.trim().toLowerCase()
  if (lower === 'true') return true
  if (lower === 'false') return false
  throw new InvalidInputError(`expected true or false, got '${text}'`, definition.property)
}

function readNumber(
  definition: TableSettingDefinition,
  properties: Readonly<Record<string, string>>,
): number {
  const text = properties[definition.property]
  if (text === undefined) return Number(definition.default)
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = definition
  const form = definition.kind === 'ratio' ? /^\d+(\.\d+)?$/ : /^\d+$/
  const value = Number(text.trim())
  if (form.test(text.trim()) && value >= min && value <= max) return value
  const unit = definition.kind === 'ratio' ? 'a number' : `a whole number (${definition.kind})`
  throw new InvalidInputError(
    `expected ${unit} from ${min} to ${max}, got '${text}'`,
    definition.property,
  )
}
