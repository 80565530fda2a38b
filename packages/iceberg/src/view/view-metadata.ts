import type { JsonObject } from '../spec/json-value.ts'
import type { Schema } from '../spec/schema.ts'

/** The only format version of views. */
export const VIEW_FORMAT_VERSION = 1

/** A query text in one dialect. Spec: View spec, SQL representation. */
export interface SqlRepresentation {
  readonly kind: 'sql'
  readonly sql: string
  readonly dialect: string
  readonly extra?: JsonObject
}

/** A representation of a type that this program does not know, kept as it is. */
export interface OtherRepresentation {
  readonly kind: 'other'
  readonly type: string
  /** Its other members. */
  readonly members: JsonObject
}

export type ViewRepresentation = SqlRepresentation | OtherRepresentation

/** One definition of a view. Spec: View spec, Versions. */
export interface ViewVersion {
  readonly versionId: number
  readonly schemaId: number
  readonly timestampMs: number
  readonly summary: Readonly<Record<string, string>>
  readonly representations: readonly ViewRepresentation[]
  /** Where names without a catalog are looked up; absent: in the catalog of the view. */
  readonly defaultCatalog?: string
  /** Where names without a namespace are looked up; may be empty. */
  readonly defaultNamespace: readonly string[]
  readonly extra?: JsonObject
}

/** When a version became the current one. Ids may repeat. */
export interface ViewHistoryEntry {
  readonly timestampMs: number
  readonly versionId: number
  readonly extra?: JsonObject
}

/** The content of one view metadata file. Spec: View spec, View Metadata. */
export interface ViewMetadata {
  readonly viewUuid: string
  readonly formatVersion: typeof VIEW_FORMAT_VERSION
  /** Without a trailing slash. */
  readonly location: string
  readonly properties: Readonly<Record<string, string>>
  readonly schemas: readonly Schema[]
  readonly currentVersionId: number
  readonly versions: readonly ViewVersion[]
  /** Oldest first. */
  readonly versionLog: readonly ViewHistoryEntry[]
  readonly extra?: JsonObject
}
