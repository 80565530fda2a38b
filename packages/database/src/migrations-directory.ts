import { fileURLToPath } from 'node:url'

/** The directory of the migration files that belong to this program. */
export function migrationsDirectory(): string {
  return fileURLToPath(new URL('../../../migrations', import.meta.url))
}
