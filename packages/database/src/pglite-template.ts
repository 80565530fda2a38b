import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { migrate, readMigrations } from './migrate.ts'
import { migrationsDirectory } from './migrations-directory.ts'
import { openPglite } from './open-pglite-database.ts'
import { PgliteConnection } from './pglite-connection.ts'
import { PgliteDatabase } from './pglite-database.ts'

/**
 * Writes an initialized and migrated database to `file`: a first start copies it instead of making one, which takes
 * seconds. The file appears whole or not at all, so two processes may build it at once.
 */
export async function buildPgliteTemplate(
  file: string,
  migrations = migrationsDirectory(),
): Promise<void> {
  const pglite = await openPglite({})
  const database = new PgliteDatabase(new PgliteConnection(pglite))
  try {
    await migrate(database, migrations)
    await database.runScript('CHECKPOINT')
    const dump = await pglite.dumpDataDir('none')
    mkdirSync(dirname(file), { recursive: true })
    const unfinished = `${file}.${randomBytes(6).toString('hex')}.tmp`
    await writeFile(unfinished, Buffer.from(await dump.arrayBuffer()))
    await rename(unfinished, file)
  } finally {
    await database.close()
  }
}

/**
 * The path of the template for these migrations in `cacheDirectory`, built when it is missing; older ones are removed
 * then. The name carries the driver's version and a hash of the migrations, so a template is never stale.
 */
export async function ensurePgliteTemplate(
  cacheDirectory: string,
  migrations = migrationsDirectory(),
): Promise<string> {
  const file = pgliteTemplatePath(cacheDirectory, migrations)
  if (existsSync(file)) return file
  await buildPgliteTemplate(file, migrations)
  for (const name of await readdir(cacheDirectory)) {
    const isOther = TEMPLATE_FILE.test(name) && join(cacheDirectory, name) !== file
    if (isOther) await rm(join(cacheDirectory, name), { force: true })
  }
  return file
}

const TEMPLATE_FILE = /^pglite-.*\.tar$/

/** Where `ensurePgliteTemplate` keeps the template; the file may be missing. */
export function pgliteTemplatePath(
  cacheDirectory: string,
  migrations = migrationsDirectory(),
): string {
  const hash = createHash('sha256')
  for (const migration of readMigrations(migrations)) hash.update(`${migration.checksum}\n`)
  return join(cacheDirectory, `pglite-${driverVersion()}-${hash.digest('hex').slice(0, 16)}.tar`)
}

function driverVersion(): string {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const manifest: unknown = JSON.parse(
    readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8'),
  )
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
    return String(manifest.version)
  }
  return 'unknown'
}
