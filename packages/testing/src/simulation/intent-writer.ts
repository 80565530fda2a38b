import { parseJson, printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { long, object } from '@timelake/iceberg/spec/decode'
import type { LedgerEntry } from './client-ledger.ts'
import {
  ask,
  type LastAnswer,
  type ClientTable,
  loadTable,
  type SimulatedClient,
  unlessGone,
} from './table-client.ts'
import type { ServerAnswer } from './simulated-server.ts'

export interface IntentStyle {
  /** Sends each batch twice at the same time, as after a restart that forgot what was sent. */
  readonly sendsTwice: boolean
  readonly usesKeys: boolean
}

const ROW_COUNT = 3n

/**
 * Hands the server one data file to append, under a batch id: whatever gets lost, the same batch is sent again until there is an
 * answer. Throws when one batch lands in two snapshots.
 */
export async function sendOneBatch(
  client: SimulatedClient,
  table: ClientTable,
  { sendsTwice, usesKeys }: IntentStyle,
): Promise<void> {
  const { location, tableUuid } = await loadTable(client, table)
  const path = `${location}/data/${client.newUuid()}.parquet`
  await client.store.putIfAbsent(path, new Uint8Array(1))
  const named = { client: client.name, table: table.name, tableUuid }
  const entry = client.ledger.open({ ...named, added: [path] })
  const batchId = client.newUuid()
  const body: JsonObject = {
    'batch-id': batchId,
    'data-files': [
      {
        content: 'data',
        'file-path': path,
        'file-format': 'PARQUET',
        'spec-id': 0n,
        partition: [],
        'file-size-in-bytes': 1n,
        'record-count': ROW_COUNT,
      },
    ],
  }
  const send = (): Promise<LastAnswer> =>
    ask(
      client,
      {
        method: 'POST',
        path: `${table.lakePath}/appends`,
        body: printJson(body),
        ...(usesKeys ? { headers: { 'idempotency-key': client.newUuid() } } : {}),
      },
      isFinal,
    )
  const answers = await Promise.all(sendsTwice ? [send(), send()] : [send()])
  const landed = answers.filter(({ status }) => status === 200)
  // A batch that landed is refused only by another table of its name, or by none.
  if (landed.length > 0 && landed.length < answers.length) {
    await unlessGone([], async () => {
      await loadTable(client, table, tableUuid)
      throw new Error('a batch that landed was refused')
    })
  }
  for (const answer of landed) noteLanded(entry, answer)
  if (landed.length === 0) await noteRefused(client, table, { entry, answers })
}

/** A batch that was applied and is forgotten went with its table: asking again finds out nothing. */
function isFinal({ status, body }: ServerAnswer): boolean {
  if (status >= 500) return body.includes('the append was applied')
  return !body.includes('idempotency key')
}

/**
 * The file goes when it is certain that no table has it. Where the batch may have landed before it was sent again, only the
 * table that it was for can say so.
 */
async function noteRefused(
  client: SimulatedClient,
  table: ClientTable,
  { entry, answers }: { readonly entry: LedgerEntry; readonly answers: readonly LastAnswer[] },
): Promise<void> {
  await unlessGone([entry], async () => {
    const mayBeThere = answers.some(({ status, isRepeated }) => isRepeated || status >= 500)
    if (mayBeThere) await loadTable(client, table, entry.tableUuid)
    entry.outcome = 'failed'
    for (const path of entry.added) await client.store.delete(path)
  })
}

function noteLanded(entry: LedgerEntry, { body }: ServerAnswer): void {
  const snapshotId = long(object(parseJson(body), 'answer')['snapshot-id'], 'snapshot-id')
  const isElsewhere = entry.outcome !== 'pending' && entry.snapshotId !== snapshotId
  if (isElsewhere) throw new Error(`a batch is in ${entry.snapshotId} and in ${snapshotId}`)
  entry.outcome = 'landed'
  entry.snapshotId = snapshotId
}
