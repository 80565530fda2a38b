import { decodeLoadTableResult } from '@timelake/iceberg/rest/load-table-json'
import { encodeSchema } from '@timelake/iceberg/spec/schema-json'
import { printJson } from '@timelake/iceberg/spec/json'
import type { Schema } from '@timelake/iceberg/spec/schema'
import {
  ask,
  type ClientTable,
  isFinalForKey,
  type SimulatedClient,
  tryOnce,
} from './table-client.ts'
import type { ServerAnswer, ServerRequest } from './simulated-server.ts'

export interface NameStyle {
  readonly usesKeys: boolean
  readonly schema: Schema
  readonly properties: Readonly<Record<string, string>>
}

const TABLES_PATH = '/v1/main/namespaces/ns/tables'

/** Gives a name up, whatever table has it, and notes what is known of that. */
export async function dropTable(
  client: SimulatedClient,
  table: ClientTable,
  { usesKeys }: Pick<NameStyle, 'usesKeys'>,
): Promise<void> {
  const entry = client.ledger.openName({ client: client.name, table: table.name, change: 'drop' })
  const answer = await send(client, { method: 'DELETE', path: table.path }, usesKeys)
  entry.outcome = outcomeOf(answer, 204)
}

/** Makes an empty table of a name, and notes which one it is. */
export async function makeTable(
  client: SimulatedClient,
  table: ClientTable,
  { usesKeys, schema, properties }: NameStyle,
): Promise<void> {
  const entry = client.ledger.openName({ client: client.name, table: table.name, change: 'create' })
  const body = printJson({ name: table.name, schema: encodeSchema(schema), properties })
  const answer = await send(client, { method: 'POST', path: TABLES_PATH, body }, usesKeys)
  entry.outcome = outcomeOf(answer, 200)
  if (answer?.status === 200) {
    entry.tableUuid = decodeLoadTableResult(answer.body).metadata.tableUuid
  }
}

/** With a key, again until the outcome is known. */
function send(
  client: SimulatedClient,
  request: ServerRequest,
  usesKeys: boolean,
): Promise<ServerAnswer | undefined> {
  if (!usesKeys) return tryOnce(client, request)
  const headers = { 'idempotency-key': client.newUuid() }
  return ask(client, { ...request, headers }, isFinalForKey)
}

function outcomeOf(
  answer: ServerAnswer | undefined,
  success: number,
): 'landed' | 'failed' | 'unknown' {
  if (answer === undefined || answer.status >= 500) return 'unknown'
  return answer.status === success ? 'landed' : 'failed'
}
