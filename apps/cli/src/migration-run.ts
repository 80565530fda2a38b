import type { CatalogContents, EntryKind } from '@timelake/iceberg/io/rest-catalog-contents'
import type { CatalogRegistration } from '@timelake/iceberg/io/rest-catalog-registration'
import type { MigrationReport } from './migration-report.ts'
import type { Patience } from './patience.ts'
import type { MigrationRules } from './plan-migration.ts'

/** One run of `timelake migrate`. The source is only read. */
export interface MigrationRun {
  readonly source: CatalogContents
  readonly target: CatalogContents
  readonly registration: CatalogRegistration
  readonly rules: MigrationRules
  /** Where the target's warehouse has its tables; its server may allow more. Undefined: it does not say. */
  readonly prefixes: readonly string[] | undefined
  /** Kinds that the source has. */
  readonly kinds: readonly EntryKind[]
  readonly patience: Patience
  readonly report: MigrationReport
  readonly isDryRun: boolean
  /** Tables that are read or registered at the same time. */
  readonly concurrency: number
  /** By the JSON text of their levels: whether the target has the namespace now. */
  readonly namespaces: Map<string, boolean>
  /** Every name that was seen, by `subjectKey`, with the metadata file that the target has now; undefined: not copied. */
  readonly seen: Map<string, string | undefined>
}

/** A table or view by name. */
export interface MigrationName {
  readonly kind: EntryKind
  readonly levels: readonly string[]
  readonly name: string
}

/** A text that is equal for equal names. */
export function subjectKey({ kind, levels, name }: MigrationName): string {
  return JSON.stringify([kind, levels, name])
}
