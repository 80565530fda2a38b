import { createRestCatalog } from '@timelake/iceberg/io/rest-catalog'
import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'
import type { Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { openAdminClient, type AdminTableRow, type CompactionDryRun } from './admin-client.ts'
import type { Command } from './command-line.ts'
import type { CommandContext } from './command-context.ts'
import { EXIT_CODES, type ExitCode } from './exit-code.ts'
import { printDryRun, printMaintenance } from './print-maintenance.ts'
import { printCount, printSize, printTime } from './print-quantities.ts'

type InfoCommand = Extract<Command, { kind: 'info' }>

/**
 * Prints what a running server knows of a table: files, sizes, snapshots, small files, the last runs, the last decision
 * and why, the next trigger. Errors: CommandError.
 */
export async function info(
  command: Omit<InfoCommand, 'kind'>,
  { settings, print, send, nowMs }: CommandContext,
): Promise<ExitCode> {
  const { uri = settings.uri, warehouse } = command
  const admin = openAdminClient({ uri, token: settings.token, warehouse, send })
  const row = await admin.findTable(command.table)
  const maintenance = await admin.getMaintenance(row.id)
  const plan = await admin.planCompaction(row.id)
  const catalog = createRestCatalog({
    baseUri: uri,
    send,
    ...(warehouse === undefined ? {} : { warehouse }),
    ...(settings.token === undefined ? {} : { token: settings.token }),
  })
  const { metadata } = await catalog.loadTable({ namespace: row.namespace, name: row.name })
  if (command.isJson) {
    // `as`: these came out of the JSON parser a moment ago.
    print(printJson({ table: row, maintenance, plan } as unknown as JsonValue))
    return EXIT_CODES.done
  }
  const lines = [
    ...describeTable(row, metadata, nowMs()),
    ...describeFiles(metadata, plan),
    '',
    ...printMaintenance(maintenance, nowMs()),
    '',
    'a compaction now',
    ...printDryRun(plan).map((line) => `  ${line}`),
  ]
  print(lines.join('\n'))
  return EXIT_CODES.done
}

function describeTable(row: AdminTableRow, metadata: TableMetadata, nowMs: number): string[] {
  const { snapshots, formatVersion, lastUpdatedMs } = metadata
  const oldest = snapshots[0]
  const since =
    oldest === undefined ? '' : `, oldest ${printTime(BigInt(oldest.timestampMs), nowMs)}`
  return [
    `${[...row.namespace, row.name].join('.')}  (id ${row.id})`,
    `  location        ${row.location}`,
    `  format version  ${formatVersion}`,
    `  last commit     ${printTime(BigInt(lastUpdatedMs), nowMs)}`,
    `  snapshots       ${snapshots.length}${since}`,
  ]
}

function describeFiles(metadata: TableMetadata, plan: CompactionDryRun): string[] {
  const current = metadata.snapshots.find(
    ({ snapshotId }) => snapshotId === metadata.currentSnapshotId,
  )
  if (current === undefined) return ['  files           none: no snapshot is current']
  const files = total(current, 'total-data-files')
  const sizeBytes = total(current, 'total-files-size')
  const rows = total(current, 'total-records')
  const deletes = total(current, 'total-delete-files') ?? 0n
  const parts = [
    files === undefined ? undefined : printCount(files, 'data file'),
    sizeBytes === undefined ? undefined : printSize(sizeBytes),
    rows === undefined ? undefined : printCount(rows, 'row'),
    deletes === 0n ? undefined : printCount(deletes, 'delete file'),
  ]
  const small = plan.numbers?.['small-file-count']
  return [
    `  files           ${parts.filter((part) => part !== undefined).join(', ')}`,
    ...(small === undefined ? [] : [`  small files     ${small}`]),
  ]
}

// Engines write totals into the summary of each snapshot; a writer that does not leaves them out.
function total({ summary = {} }: Snapshot, key: string): bigint | undefined {
  const text = summary[key]
  return text !== undefined && /^\d{1,18}$/.test(text) ? BigInt(text) : undefined
}
