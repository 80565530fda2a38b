/** Table property that says who plans scans of the table: `server` or `client`. Spec: REST catalog, `scan-planning-mode`. */
export const PLANNING_MODE_PROPERTY = 'timelake.scan-planning-mode'

const MODES: ReadonlySet<string> = new Set(['server', 'client'])

/** What the answers to loads tell clients about planning: nothing unless the table says so in a word that they know. */
export function planningConfig(
  properties: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const mode = properties[PLANNING_MODE_PROPERTY]?.trim().toLowerCase()
  return mode === undefined || !MODES.has(mode) ? {} : { 'scan-planning-mode': mode }
}
