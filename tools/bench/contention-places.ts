import { openLocalClientFiles, openS3ClientFiles, type ClientFiles } from './client-files.ts'
import { startOwnServer, type ServerUnderTest } from './server-process.ts'
import { openSharedLake, type SharedLake } from './shared-lake.ts'

/**
 * Where the catalog runs. `embedded`: as `npm start`. `services`: on PostgreSQL and S3. `two-processes`: two of them on one
 * lake, writers dealt to both. `slow-store`: each of the catalog's requests to the store takes 60 ms more.
 */
export type Place = (typeof PLACES)[number]
export const PLACES = ['embedded', 'services', 'two-processes', 'slow-store'] as const

const STORE_DELAY_MS = 60

/** The catalog processes of a place, running. */
export interface OpenPlace {
  readonly uris: readonly string[]
  readonly processIds: readonly number[]
  readonly files: ClientFiles
  close(): Promise<void>
}

/** Starts what the place needs. Throws when PostgreSQL or S3 is missing (shared-lake.ts). */
export async function openPlace(place: Place): Promise<OpenPlace> {
  switch (place) {
    case 'embedded':
      return openOn([await startOwnServer()], openLocalClientFiles())
    case 'services':
      return openShared(await openSharedLake(), 1)
    case 'two-processes':
      return openShared(await openSharedLake(), 2)
    case 'slow-store':
      return openShared(await openSharedLake({ storeDelayMs: STORE_DELAY_MS }), 1)
  }
}

async function openShared(lake: SharedLake, processCount: number): Promise<OpenPlace> {
  const servers: ServerUnderTest[] = []
  // One after the other: the first makes the tables of the database.
  for (let index = 0; index < processCount; index++) {
    servers.push(await startOwnServer(lake.settings))
  }
  return openOn(servers, openS3ClientFiles(lake.s3), lake)
}

function openOn(
  servers: readonly ServerUnderTest[],
  files: ClientFiles,
  lake?: SharedLake,
): OpenPlace {
  return {
    uris: servers.map(({ uri }) => uri),
    processIds: servers.flatMap(({ processIds }) => processIds),
    files,
    close: async () => {
      files.close()
      for (const server of servers) await server.stop()
      await lake?.close()
    },
  }
}
