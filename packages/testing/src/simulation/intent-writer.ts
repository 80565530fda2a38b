import { parseJson, printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { long, object } from '@timelake/iceberg/spec/decode'
import type { LedgerEntry } from './client-ledger.ts'
import {
  ask,
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
  const send = (): Promise<ServerAnswer> =>
    ask(
      client,
      {
        method: 'POST',
        path: `${table.lakePath}/appends`,
        body: printJson(body),
        ...(usesKeys ? { headers: { 'idempotency-key': client.newUuid() } } : {}),
      },
      ({ status, body: text }) => status < 500 && !text.includes('idempotency key'),
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
  for (const answer of landed.length > 0 ? landed : answers) await note(client, entry, answer)
}

async function note(
  client: SimulatedClient,
  entry: LedgerEntry,
  { status, body }: ServerAnswer,
): Promise<void> {
  if (status !== 200) {
    entry.outcome = 'failed'
    for (const path of entry.added) await client.store.delete(path)
    return
  }
  const snapshotId = long(object(parseJson(body), 'answer')['snapshot-id'], 'snapshot-id')
  const isElsewhere = entry.outcome !== 'pending' && entry.snapshotId !== snapshotId
  if (isElsewhere) throw new Error(`a batch is in ${entry.snapshotId} and in ${snapshotId}`)
  entry.outcome = 'landed'
  entry.snapshotId = snapshotId
}
