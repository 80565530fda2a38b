import type { LandedBatch } from '@timelake/database/append-batches'
import type { TableRow } from '@timelake/database/table-row'
import type { AppendIntent } from './append-intent.ts'
import type { GroupDraft } from './group-draft.ts'
import type { Warehouse } from './warehouse.ts'

/** Intents of one group that go into one snapshot, and what they go on top of. */
export interface AppendsAsk {
  readonly warehouse: Warehouse
  readonly row: TableRow
  readonly draft: GroupDraft
  /** Of one branch, in the order in which they came; at least one. */
  readonly intents: readonly AppendIntent[]
  /** The landed ones among the batches of the intents, those that earlier members of the group bring included. */
  readonly batches: ReadonlyMap<string, LandedBatch>
}
