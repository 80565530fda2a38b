const DAY_MS = 86_400_000

/** A table property that holds a whole number. */
export interface WholeNumberProperty {
  readonly property: string
  readonly default: number
}

/**
 * Whether the server bounds the snapshots of a table with each commit. Off unless the table asks: whoever expires
 * snapshots elsewhere relies on them.
 */
export const TRIM_PROPERTY = 'timelake.history.trim.enabled'

/** The table properties that say how much history a table keeps. Spec: Snapshot Retention Policy, table properties. */
export const HISTORY_LIMITS = {
  snapshotCountMax: { property: 'timelake.history.max-snapshots', default: 10_000 },
  snapshotAgeMsMax: { property: 'history.expire.max-snapshot-age-ms', default: 5 * DAY_MS },
  snapshotCountMin: { property: 'history.expire.min-snapshots-to-keep', default: 1 },
  previousVersionCountMax: { property: 'write.metadata.previous-versions-max', default: 100 },
  /** 0: however old. */
  previousVersionAgeMsMax: {
    property: 'timelake.metadata.previous-versions-max-age-ms',
    default: 0,
  },
} as const satisfies Record<string, WholeNumberProperty>

/**
 * The number in the text of a property, its default for anything else: table properties are free text that any client
 * writes, and a commit does not fail over the spelling of one.
 */
export function wholeNumber(text: string | undefined, limit: WholeNumberProperty): number {
  const value = text !== undefined && /^-?\d+$/.test(text.trim()) ? Number(text) : NaN
  return Number.isSafeInteger(value) ? value : limit.default
}
