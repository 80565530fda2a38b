/** Keys that stand for members of the metadata: consumed on create, never stored. */
const RESERVED_PROPERTIES: ReadonlySet<string> = new Set([
  'format-version',
  'uuid',
  'snapshot-count',
  'current-snapshot-id',
  'current-snapshot-summary',
  'current-snapshot-timestamp-ms',
  'current-schema',
  'default-partition-spec',
  'default-sort-order',
])

/** The properties that a table may store. */
export function withoutReservedProperties(
  properties: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(properties).filter(([key]) => !RESERVED_PROPERTIES.has(key)),
  )
}
