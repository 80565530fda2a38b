import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where everything lies below TIMELAKE_DATA_DIR; absolute paths. */
export interface DataDirectory {
  readonly path: string
  readonly databasePath: string
  readonly jobsPath: string
  readonly warehousePath: string
  readonly warehouseLocation: string
}

/** The warehouse of the one-process mode. */
export const WAREHOUSE_NAME = 'main'

/** The places in a data directory, relative to the current folder. Makes nothing. */
export function dataDirectoryAt(path: string): DataDirectory {
  const absolute = resolve(path)
  const warehousePath = join(absolute, 'warehouse')
  return {
    path: absolute,
    databasePath: join(absolute, 'database'),
    jobsPath: join(absolute, 'jobs'),
    warehousePath,
    warehouseLocation: `file://${warehousePath}`,
  }
}

/**
 * Makes the directory and its parts. Only the owner may look into the jobs' (and the database's own) folder; clients of
 * other users must reach the warehouse.
 */
export function makeDataDirectory({ path, jobsPath, warehousePath }: DataDirectory): void {
  for (const each of [path, warehousePath]) mkdirSync(each, { recursive: true })
  mkdirSync(jobsPath, { recursive: true, mode: 0o700 })
}

/** Whether the database's files are there; it says nothing about their health. */
export function hasDatabase({ databasePath }: DataDirectory): boolean {
  return existsSync(join(databasePath, 'PG_VERSION'))
}

/** Where an empty database is kept ready for a first start; `scripts/run.mjs` fills it at installation. */
export function templateCacheDirectory(): string {
  return fileURLToPath(new URL('../../../node_modules/.cache/timelake', import.meta.url))
}
