import {
  connectCatalog,
  type CatalogConnection,
} from '@timelake/iceberg/io/rest-catalog-connection'
import {
  CatalogRefusedError,
  CatalogUnavailableError,
} from '@timelake/iceberg/io/rest-catalog-errors'
import {
  readCatalogContents,
  type CatalogContents,
} from '@timelake/iceberg/io/rest-catalog-contents'
import { registerInCatalog } from '@timelake/iceberg/io/rest-catalog-registration'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import type { Settings } from '@timelake/timelake/contract/settings'
import { checkFreeze } from './check-freeze.ts'
import type { CommandContext } from './command-context.ts'
import type { Command } from './command-line.ts'
import { CommandError, EXIT_CODES, type ExitCode } from './exit-code.ts'
import { migrateEntries, VIEW_LISTING } from './migrate-entries.ts'
import { listSourceNamespaces, migrateNamespace } from './migrate-namespaces.ts'
import { openMigrationReport, type MigrationReport } from './migration-report.ts'
import type { MigrationRun } from './migration-run.ts'
import { openPatience } from './patience.ts'
import type { MigrationRules } from './plan-migration.ts'
import { warehousePrefixes } from './warehouse-prefixes.ts'

export type MigrateCommand = Omit<Extract<Command, { kind: 'migrate' }>, 'kind'>

/**
 * Copies the names of another catalog, or of a part of it, with the metadata files that they point at: namespaces,
 * tables and views. Files are neither copied nor changed, and the source is only read. Repeating a run does what is
 * missing. Errors: CommandError when a catalog cannot be used at all.
 */
export async function migrate(command: MigrateCommand, context: CommandContext): Promise<ExitCode> {
  const { print } = context
  const report = openMigrationReport({ path: command.reportPath, print })
  try {
    const run = await openRun(command, context, report)
    const namespaces = await asCommandError('list the source', () =>
      listSourceNamespaces(run, command.namespaces),
    )
    for (const levels of namespaces) {
      if (await migrateNamespace(run, levels)) await migrateEntries(run, levels)
    }
    if (command.isCheckingFreeze) {
      await asCommandError('look at the source again', () => checkFreeze(run, namespaces))
    }
    print(report.summary())
    print(closingSentence(command))
    return report.exitCode()
  } finally {
    report.close()
  }
}

async function openRun(
  command: MigrateCommand,
  context: CommandContext,
  report: MigrationReport,
): Promise<MigrationRun> {
  const { from, to } = endsOf(command, context)
  await asCommandError(`use the source ${from.uri}`, () => from.connection.routes())
  const { prefix } = await asCommandError(`use the target ${to.uri}`, () => to.connection.routes())
  await refuseSameCatalog(from, to)
  const source = readCatalogContents(from.connection)
  const target = readCatalogContents(to.connection)
  const name = to.warehouse ?? decodeURIComponent(prefix.replace(/\/$/, ''))
  return {
    source,
    target,
    registration: registerInCatalog(to.connection),
    rules: await rulesOf(command, target),
    prefixes: await warehousePrefixes({ ...to, name }, context),
    kinds: (await source.serves(VIEW_LISTING)) ? ['table', 'view'] : ['table'],
    patience: openPatience(context.pause),
    report,
    isDryRun: command.isDryRun,
    concurrency: command.concurrency,
    namespaces: new Map(),
    seen: new Map(),
  }
}

/** One of the two catalogs. */
interface End {
  /** Without the version of the protocol. */
  readonly uri: string
  readonly warehouse: string | undefined
  readonly token: string | undefined
  readonly connection: CatalogConnection
}

function endsOf(
  command: MigrateCommand,
  { settings, send }: CommandContext,
): { readonly from: End; readonly to: End } {
  const { sourceUri, sourceWarehouse, targetWarehouse } = command
  const targetUri = command.targetUri ?? settings.uri
  const open = (end: Omit<End, 'connection'>): End => {
    const { uri: base, warehouse, token } = end
    const options = {
      baseUri: base,
      send,
      ...(warehouse === undefined ? {} : { warehouse }),
      ...(token === undefined ? {} : { token }),
    }
    return { ...end, connection: connectCatalog(options) }
  }
  return {
    from: open({
      uri: baseUri(sourceUri),
      warehouse: sourceWarehouse,
      token: settings.migrateFromToken ?? ownToken(settings, sourceUri),
    }),
    to: open({
      uri: baseUri(targetUri),
      warehouse: targetWarehouse,
      token: settings.migrateToToken ?? ownToken(settings, targetUri),
    }),
  }
}

const VIEW_REGISTRATION = 'POST /v1/{prefix}/namespaces/{namespace}/register-view'
const VIEW_CREATION = 'POST /v1/{prefix}/namespaces/{namespace}/views'

async function rulesOf(
  { isOverwriting, isDiscarding }: MigrateCommand,
  target: CatalogContents,
): Promise<MigrationRules> {
  const canRegister = await target.serves(VIEW_REGISTRATION)
  const canCreate = await target.serves(VIEW_CREATION)
  const views = canRegister ? 'register' : canCreate ? 'create' : 'none'
  return { isOverwriting, isDiscarding, views }
}

/** Catalogs are given with or without the version of the protocol and slashes at the end. */
function baseUri(uri: string): string {
  return uri.replace(/\/+$/, '').replace(/\/v1$/, '')
}

// The server's own token must not reach other people's catalogs.
function ownToken({ uri, token }: Settings, catalogUri: string): string | undefined {
  return new URL(uri).origin === new URL(catalogUri).origin ? token : undefined
}

async function refuseSameCatalog(from: End, to: End): Promise<void> {
  if (from.uri !== to.uri) return
  if ((await from.connection.routes()).prefix !== (await to.connection.routes()).prefix) return
  throw new CommandError(EXIT_CODES.wrongUsage, 'source and target are the same catalog')
}

async function asCommandError<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    const isExpected =
      cause instanceof CatalogRefusedError ||
      cause instanceof CatalogUnavailableError ||
      cause instanceof InvalidInputError
    if (!isExpected) throw cause
    throw new CommandError(EXIT_CODES.failed, `cannot ${what}: ${cause.message}`, { cause })
  }
}

function closingSentence({ isDryRun, reportPath }: MigrateCommand): string {
  if (isDryRun) return 'Nothing was changed.'
  const where = reportPath === undefined ? '' : ` The report is in ${reportPath}.`
  return `Both catalogs now point at the same files: only one of them may be written through.${where}`
}
