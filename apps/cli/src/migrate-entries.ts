import { mapBounded } from '@timelake/iceberg/io/map-bounded'
import type { CatalogContents, EntryKind } from '@timelake/iceberg/io/rest-catalog-contents'
import { CatalogRefusedError } from '@timelake/iceberg/io/rest-catalog-errors'
import type { CatalogEntry, ViewEntry } from '@timelake/iceberg/rest/catalog-entry-json'
import { isSameLocation } from '@timelake/iceberg/spec/location'
import { failureReason } from './failure-reason.ts'
import type { MigrationLine } from './migration-report.ts'
import { subjectKey, type MigrationName, type MigrationRun } from './migration-run.ts'
import { planMigration, type MigrationAction } from './plan-migration.ts'
import { outsideReason } from './warehouse-prefixes.ts'

/** The endpoint that a catalog with views announces. */
export const VIEW_LISTING = 'GET /v1/{prefix}/namespaces/{namespace}/views'

/** The names of one namespace that the target has already. */
type TakenNames = Readonly<Record<EntryKind, ReadonlySet<string>>>

type Verdict = Pick<MigrationLine, 'outcome' | 'reason'>

/**
 * Brings the tables and views of one namespace over and reports each; when they cannot be listed, the namespace is
 * reported as failed. Errors: CommandError when a catalog is gone.
 */
export async function migrateEntries(run: MigrationRun, levels: readonly string[]): Promise<void> {
  try {
    const taken: TakenNames = {
      table: new Set(await listNames(run, run.target, { kind: 'table', levels })),
      view: new Set(await listNames(run, run.target, { kind: 'view', levels })),
    }
    for (const kind of run.kinds) {
      const names = await listNames(run, run.source, { kind, levels })
      await mapBounded(names, run.concurrency, (name) =>
        migrateEntry(run, { kind, levels, name }, taken),
      )
    }
  } catch (error) {
    run.report.add({ kind: 'namespace', levels, outcome: 'failed', reason: failureReason(error) })
  }
}

/** The names of a kind in a namespace; none where the catalog has no such routes. Errors: those of the catalog. */
export async function listNames(
  { patience }: MigrationRun,
  catalog: CatalogContents,
  { kind, levels }: Pick<MigrationName, 'kind' | 'levels'>,
): Promise<string[]> {
  if (kind === 'view' && !(await catalog.serves(VIEW_LISTING))) return []
  return patience.attempt(async () => {
    const names: string[] = []
    for await (const page of catalog.listNames(kind, levels)) names.push(...page)
    return names
  })
}

async function migrateEntry(
  run: MigrationRun,
  name: MigrationName,
  taken: TakenNames,
): Promise<void> {
  let source: CatalogEntry | undefined
  let verdict: Verdict
  try {
    source = await findEntry(run, run.source, name)
    verdict =
      source === undefined
        ? { outcome: 'failed', reason: 'the source lists it but does not load it' }
        : await migrateFound(run, name, { source, target: await findTaken(run, name, taken) })
  } catch (error) {
    verdict = { outcome: 'failed', reason: failureReason(error) }
  }
  const { uuid, metadataLocation } = source ?? {}
  run.report.add({ ...name, ...verdict, uuid, metadataLocation })
  const isCopied = verdict.outcome === 'migrated' || verdict.outcome === 'already-there'
  run.seen.set(subjectKey(name), isCopied ? metadataLocation : undefined)
}

function findEntry(
  { patience }: MigrationRun,
  catalog: CatalogContents,
  { kind, levels, name }: MigrationName,
): Promise<CatalogEntry | undefined> {
  return patience.attempt(() => catalog.findEntry(kind, { namespace: levels, name }))
}

async function findTaken(
  run: MigrationRun,
  name: MigrationName,
  taken: TakenNames,
): Promise<CatalogEntry | undefined> {
  // Tables and views share their names.
  const kind = (['table', 'view'] as const).find((each) => taken[each].has(name.name))
  return kind === undefined ? undefined : findEntry(run, run.target, { ...name, kind })
}

async function migrateFound(
  run: MigrationRun,
  name: MigrationName,
  subject: { readonly source: CatalogEntry; readonly target: CatalogEntry | undefined },
): Promise<Verdict> {
  const [action] = planMigration([subject], run.rules)
  if (action === undefined || action.action === 'none')
    return action ?? { outcome: 'failed', reason: 'nothing was planned' }
  if (!run.isDryRun) return carryOut(run, name, action)
  const outside =
    action.action === 'register' ? outsideReason(action.entry, run.prefixes) : undefined
  return { outcome: 'to-migrate', reason: outside }
}

type Change = Exclude<MigrationAction, { action: 'none' }>

async function carryOut(run: MigrationRun, name: MigrationName, change: Change): Promise<Verdict> {
  switch (change.action) {
    case 'register':
      return register(run, name, change)
    case 'create-view':
      return createView(run, name, change.entry)
  }
}

/** What every catalog answers to an operation that it does not have. Spec: REST catalog, 406. */
const UNSUPPORTED_STATUS = 406
/** What our server answers to a place that it does not allow, among other things. */
const BAD_REQUEST_STATUS = 400

async function register(
  run: MigrationRun,
  name: MigrationName,
  { entry, overwrite }: Extract<Change, { action: 'register' }>,
): Promise<Verdict> {
  const identifier = { namespace: name.levels, name: name.name }
  const registration = { ...entry, identifier, overwrite }
  try {
    const made = await run.patience.attempt(() => run.registration.register(registration))
    return registeredVerdict(entry, made === 'exists' ? await whatExists(run, name) : made)
  } catch (error) {
    if (!(error instanceof CatalogRefusedError)) throw error
    if (overwrite && error.status === UNSUPPORTED_STATUS)
      return registeredVerdict(entry, await whatExists(run, name))
    const reason = outsideReason(entry, run.prefixes)
    if (error.status !== BAD_REQUEST_STATUS || reason === undefined) throw error
    return { outcome: 'skipped', reason }
  }
}

// `exists` may be the answer to the repeat of a call whose answer was lost.
function whatExists(run: MigrationRun, name: MigrationName): Promise<CatalogEntry | undefined> {
  return findEntry(run, run.target, name)
}

function registeredVerdict(entry: CatalogEntry, made: CatalogEntry | undefined): Verdict {
  if (made === undefined) return { outcome: 'conflict', reason: 'the name is taken in the target' }
  if (made.uuid !== entry.uuid) {
    return { outcome: 'conflict', reason: `the target has uuid ${made.uuid} under the name` }
  }
  if (isSameLocation(made.metadataLocation, entry.metadataLocation)) return { outcome: 'migrated' }
  const reason = `the target keeps it at ${made.metadataLocation} and moves no tables: drop it there without purge and run again`
  return { outcome: 'skipped', reason }
}

async function createView(
  run: MigrationRun,
  name: MigrationName,
  entry: ViewEntry,
): Promise<Verdict> {
  const identifier = { namespace: name.levels, name: name.name }
  const reason = 'made anew with a uuid of its own: the target cannot register views'
  const made = await run.patience.attempt(() => run.registration.createView(identifier, entry))
  if (made === 'created') return { outcome: 'migrated', reason }
  const there = await whatExists(run, name)
  const isOurs = there?.kind === 'view' && there.meaning === entry.meaning
  return isOurs
    ? { outcome: 'migrated', reason }
    : { outcome: 'conflict', reason: 'the name is taken in the target' }
}
