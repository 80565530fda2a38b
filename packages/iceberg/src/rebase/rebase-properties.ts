/** The table property that asks for rebasing. */
export const REBASE_PROPERTY = 'commit.rebase-appends'

/** The table properties by which writers of appends merge manifests. Spec: table properties of the reference. */
export const MERGE_PROPERTIES = {
  isEnabled: 'commit.manifest-merge.enabled',
  manifestCountMin: { property: 'commit.manifest.min-count-to-merge', default: 100 },
  targetSizeBytes: { property: 'commit.manifest.target-size-bytes', default: 8 * 1024 * 1024 },
} as const

type Properties = Readonly<Record<string, string>>

/** Whether the properties of a table ask that its appends are rebased: `true`, in any letter case; anything else is no. */
export function asksForRebase(properties: Properties): boolean {
  return properties[REBASE_PROPERTY]?.trim().toLowerCase() === 'true'
}

/** When the manifests of a table are merged, and how large the merged ones get. */
export interface MergePolicy {
  readonly manifestCountMin: number
  readonly targetSizeBytes: number
}

/** The policy of a table; undefined when it merges nothing. A number that makes no sense counts as absent. */
export function mergePolicyOf(properties: Properties): MergePolicy | undefined {
  if (properties[MERGE_PROPERTIES.isEnabled]?.trim().toLowerCase() === 'false') return undefined
  const { manifestCountMin, targetSizeBytes } = MERGE_PROPERTIES
  return {
    manifestCountMin: Math.max(2, positive(properties, manifestCountMin)),
    targetSizeBytes: positive(properties, targetSizeBytes),
  }
}

function positive(
  properties: Properties,
  { property, default: otherwise }: { readonly property: string; readonly default: number },
): number {
  const text = properties[property]?.trim() ?? ''
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0
  return value > 0 ? value : otherwise
}
