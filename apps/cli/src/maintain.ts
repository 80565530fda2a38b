import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'
import { openAdminClient, type AdminClient, type MaintenanceReport } from './admin-client.ts'
import type { Command } from './command-line.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, EXIT_CODES, type ExitCode } from './exit-code.ts'
import { printDryRun, printMaintenance } from './print-maintenance.ts'

type MaintainCommand = Extract<Command, { kind: 'maintain' }>

const POLL_INTERVAL_MS = 250
const WAIT_MS_MAX = 1_800_000

/**
 * Asks a running server to compact a table and waits for the run, or prints what a run would do. Errors: CommandError,
 * also when the run failed or did not end within half an hour.
 */
export async function maintain(
  command: Omit<MaintainCommand, 'kind'>,
  context: CommandContext,
): Promise<ExitCode> {
  const { settings, print, send } = context
  const { uri = settings.uri, warehouse, isJson, isDryRun } = command
  const admin = openAdminClient({ uri, token: settings.token, warehouse, send })
  const row = await admin.findTable(command.table)
  if (isDryRun) {
    const plan = await admin.planCompaction(row.id)
    // `as`: it came out of the JSON parser a moment ago.
    print(isJson ? printJson(plan as unknown as JsonValue) : printDryRun(plan).join('\n'))
    return EXIT_CODES.done
  }
  const known = new Set((await admin.getMaintenance(row.id)).runs.map(({ id }) => id))
  await admin.compact(row.id)
  const report = await waitForRun(admin, row.id, { known, context })
  const run = newRun(report, known)
  // `as`: as above.
  print(
    isJson
      ? printJson(report as unknown as JsonValue)
      : printMaintenance(report, context.nowMs()).join('\n'),
  )
  return run?.state === 'failed' || run?.state === 'abandoned' ? EXIT_CODES.failed : EXIT_CODES.done
}

interface Waiting {
  readonly known: ReadonlySet<string>
  readonly context: CommandContext
}

async function waitForRun(
  admin: AdminClient,
  id: string,
  { known, context }: Waiting,
): Promise<MaintenanceReport> {
  const { nowMs, pause } = context
  for (const endMs = nowMs() + WAIT_MS_MAX; nowMs() < endMs; await pause(POLL_INTERVAL_MS)) {
    const report = await admin.getMaintenance(id)
    const run = newRun(report, known)
    if (run !== undefined && run.state !== 'running') return report
  }
  throw new CommandError(EXIT_CODES.failed, 'the compaction did not end within half an hour')
}

function newRun({ runs }: MaintenanceReport, known: ReadonlySet<string>) {
  return runs.find(({ id }) => !known.has(id))
}
