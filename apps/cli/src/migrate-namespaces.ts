import type { CatalogContents } from '@timelake/iceberg/io/rest-catalog-contents'
import { NAMESPACE_LEVELS_MAX } from '@timelake/iceberg/rest/name-rules'
import { failureReason } from './failure-reason.ts'
import type { MigrationRun } from './migration-run.ts'

/**
 * The namespaces of the source below the wanted ones (themselves included; none wanted: all), parents before children.
 * One whose children cannot be listed is reported as failed and has none. Errors: those of the top level.
 */
export async function listSourceNamespaces(
  run: MigrationRun,
  wanted: readonly (readonly string[])[],
): Promise<readonly (readonly string[])[]> {
  const found = new Map<string, readonly string[]>()
  const roots = wanted.length > 0 ? wanted : await childrenOf(run, [])
  const waiting = [...roots]
  for (let levels = waiting.shift(); levels !== undefined; levels = waiting.shift()) {
    const key = JSON.stringify(levels)
    if (found.has(key)) continue
    found.set(key, levels)
    if (levels.length < NAMESPACE_LEVELS_MAX) waiting.push(...(await childrenOrNone(run, levels)))
  }
  return [...found.values()]
}

async function childrenOrNone(
  run: MigrationRun,
  levels: readonly string[],
): Promise<readonly (readonly string[])[]> {
  try {
    return await childrenOf(run, levels)
  } catch (error) {
    run.report.add({ kind: 'namespace', levels, outcome: 'failed', reason: failureReason(error) })
    return []
  }
}

async function childrenOf(
  { source, patience }: MigrationRun,
  parent: readonly string[],
): Promise<readonly (readonly string[])[]> {
  return patience.attempt(async () => {
    const children: (readonly string[])[] = []
    for await (const page of source.listNamespaces(parent)) {
      // A catalog without nested namespaces may answer with the top level whatever it was asked for.
      children.push(...page.filter((levels) => isBelow(levels, parent)))
    }
    return children
  })
}

function isBelow(levels: readonly string[], parent: readonly string[]): boolean {
  return levels.length > parent.length && parent.every((level, index) => levels[index] === level)
}

/**
 * Makes the namespace in the target, its missing parents first, with the properties that it has in the source. What is
 * there already keeps its own. Answers whether tables can go into it.
 */
export async function migrateNamespace(
  run: MigrationRun,
  levels: readonly string[],
): Promise<boolean> {
  for (let depth = 1; depth <= levels.length; depth += 1) {
    const ancestor = levels.slice(0, depth)
    const key = JSON.stringify(ancestor)
    if (!run.namespaces.has(key)) run.namespaces.set(key, await migrateOne(run, ancestor))
    if (run.namespaces.get(key) !== true) return false
  }
  return true
}

async function migrateOne(run: MigrationRun, levels: readonly string[]): Promise<boolean> {
  const add = (outcome: 'already-there' | 'migrated' | 'to-migrate' | 'failed', reason?: string) =>
    run.report.add({ kind: 'namespace', levels, outcome, reason })
  try {
    const there = await run.patience.attempt(() => run.target.findNamespace(levels))
    if (there !== undefined) {
      add('already-there')
      return true
    }
    const found = await run.patience.attempt(() => run.source.findNamespace(levels))
    const properties = movableProperties(found ?? {})
    if (run.isDryRun) {
      add('to-migrate')
      return true
    }
    await run.patience.attempt(() =>
      run.registration.createNamespace({ namespace: levels, properties }),
    )
    add('migrated')
    return true
  } catch (error) {
    add('failed', failureReason(error))
    return false
  }
}

// New tables belong into the target's own warehouse, not where the source would have put them.
function movableProperties(
  properties: Awaited<ReturnType<CatalogContents['findNamespace']>> & object,
): Record<string, string> {
  const { location: _, ...rest } = properties
  return rest
}
