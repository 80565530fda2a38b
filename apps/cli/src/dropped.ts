import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import {
  askAdmin,
  type AdminRequest,
  type AdminTableRow,
  type DroppedTable,
} from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import type { DroppedCommand } from './dropped-command.ts'
import { EXIT_CODES, type ExitCode } from './exit-code.ts'
import { printTime } from './print-quantities.ts'

const DROPPED = '/admin/v1/dropped-tables'

/** Shows the dropped tables of a running server, brings them back or has their files deleted. Errors: CommandError. */
export async function dropped(command: DroppedCommand, context: CommandContext): Promise<ExitCode> {
  const { settings, print, send, nowMs } = context
  const { uri = settings.uri } = command
  const ask = (request: AdminRequest) => askAdmin({ uri, token: settings.token, send }, request)
  const show = (answer: JsonValue, line: () => string): void =>
    print(command.isJson ? printJson(answer) : line())
  switch (command.action) {
    case 'list': {
      const all = await listDropped(ask, command.warehouse)
      const lines = all.map((table) => describe(table, nowMs()))
      show(all, () => (lines.length === 0 ? 'no dropped tables' : lines.join('\n')))
      return EXIT_CODES.done
    }
    case 'undrop': {
      const { body } = command
      const path = `${pathOf(command.id)}/undrop`
      const answer = await ask({ method: 'POST', path, body })
      // `as`: the description from which the types are made is tested against the routes.
      show(answer, () => `${nameOf(answer as unknown as AdminTableRow)} is back`)
      return EXIT_CODES.done
    }
    case 'purge': {
      const answer = await ask({ method: 'DELETE', path: pathOf(command.id) })
      // `as`: as above.
      show(answer, () => describe(answer as unknown as DroppedTable, nowMs()))
      return EXIT_CODES.done
    }
    case 'keep': {
      const answer = await ask({ method: 'POST', path: `${pathOf(command.id)}/keep` })
      // `as`: as above.
      show(answer, () => describe(answer as unknown as DroppedTable, nowMs()))
      return EXIT_CODES.done
    }
  }
}

function pathOf(id: string): string {
  return `${DROPPED}/${encodeURIComponent(id)}`
}

async function listDropped(
  ask: (request: AdminRequest) => Promise<JsonValue>,
  warehouse: string | undefined,
): Promise<(JsonObject & DroppedTable)[]> {
  const all: (JsonObject & DroppedTable)[] = []
  for (let token: string | null = ''; token !== null;) {
    const query = new URLSearchParams({ pageToken: token })
    if (warehouse !== undefined) query.set('warehouse', warehouse)
    // `as`: as above.
    const page = (await ask({
      method: 'GET',
      path: `${DROPPED}?${query.toString()}`,
    })) as unknown as {
      'dropped-tables': (JsonObject & DroppedTable)[]
      'next-page-token': string | null
    }
    all.push(...page['dropped-tables'])
    token = page['next-page-token']
  }
  return all
}

function nameOf({ namespace, name }: AdminTableRow): string {
  return [...namespace, name].join('.')
}

function describe(table: DroppedTable, nowMs: number): string {
  const when = printTime(table['dropped-ms'], nowMs)
  return `${table.id}  ${nameOf(table)}  dropped ${when}; ${describeFiles(table, nowMs)}`
}

function describeFiles(table: DroppedTable, nowMs: number): string {
  const purgedMs = table['purged-ms']
  const startedMs = table['purge-started-ms']
  const dueMs = table['purge-due-ms'] ?? null
  if (purgedMs !== null) return `files deleted ${printTime(purgedMs, nowMs)}`
  if (startedMs !== null) return `files are being deleted since ${printTime(startedMs, nowMs)}`
  if (!table['purge-requested']) return 'files stay'
  return dueMs === null
    ? 'files will be deleted'
    : `files will be deleted ${printTime(dueMs, nowMs)}`
}
