import type { AuditEntry } from '@timelake/database/audit-log'
import { tableText, type TableIdentifier } from '../catalog/table-identifier.ts'

/**
 * Where it is written down who changed what, was given access to what, and was refused what. `record` never waits, never
 * throws and never changes an answer: entries are written soon after, together. What cannot be written because the database is
 * away for long is counted and lost.
 */
export interface AuditTrail {
  record(entry: AuditEntry): void
}

/** What a call was about, as far as is known while it runs. */
export interface AuditSubject {
  namespace?: readonly string[] | undefined
  /** The table, view, account or webhook. */
  object?: string | undefined
  /** A few words for people; no secret. */
  detail?: string | undefined
}

const IDENTIFIERS_SHOWN_MAX = 20

/** The tables of a request as a `detail`. */
export function identifiersText(
  named: readonly { readonly identifier: TableIdentifier }[],
): string {
  const shown = named.slice(0, IDENTIFIERS_SHOWN_MAX)
  const text = shown.map(({ identifier }) => tableText(identifier)).join(', ')
  const further = named.length - shown.length
  return further === 0 ? text : `${text} and ${further} more`
}
