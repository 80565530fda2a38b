import type { TableRow } from '@timelake/database/table-row'
import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import type { LaneMember } from '../commit-lanes.ts'
import type { MutationScope } from './mutation-scope.ts'
import type { AppendIntent, AppendVerdict } from './append-intent.ts'
import type { TableIdentifier } from './table-identifier.ts'

/** What a caller wants of one table that is there, in a form that can land together with what others want of it. */
export type GroupAsk = RequestAsk | AppendAsk

/** A commit of the Iceberg protocol. */
export interface RequestAsk {
  readonly kind: 'request'
  /** At least one; each is checked against, and applied to, what the one before it leaves. */
  readonly requests: readonly CommitRequest[]
  /** By which a repetition is recognised. */
  readonly requestHash: string
  /** Whether the caller wants its appends attached to whatever the table is by then, see rebase-request.ts. */
  readonly isRebaseAsked: boolean
  /** What a repetition under the same key is answered with. */
  readonly answers: 'table' | 'nothing'
}

/** Data files to be added in a snapshot that is made here. */
export interface AppendAsk {
  readonly kind: 'append'
  readonly intent: AppendIntent
}

/** One caller in the queue of a table. */
export interface GroupMember extends LaneMember, MutationScope {
  readonly identifier: TableIdentifier
  readonly ask: GroupAsk
  /** What was found under the name a moment ago, when nobody else waited. */
  readonly known: TableRow | undefined
  readonly joinedAtMs: number
  resolve(answer: MemberAnswer): void
  reject(error: unknown): void
}

export interface MemberAnswer {
  /** The table with the change in it. */
  readonly loaded: LoadedMetadata
  /** Present for an AppendAsk. */
  readonly append: AppendVerdict | undefined
}
