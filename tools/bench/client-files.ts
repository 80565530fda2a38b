import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchS3 } from './shared-lake.ts'
import { openS3ObjectStore } from '@timelake/storage/s3-object-store'

/** Files as a client of a catalog writes them: manifests and manifest lists, by the location that the table names. */
export interface ClientFiles {
  write(location: string, bytes: Uint8Array): Promise<void>
  read(location: string): Promise<Uint8Array>
  /** Every location below a prefix. */
  list(prefix: string): Promise<readonly string[]>
  close(): void
}

/** On the local disk, as engines write there: nothing is flushed. */
export function openLocalClientFiles(): ClientFiles {
  const folders = new Set<string>()
  return {
    write(location, bytes) {
      const path = pathOf(location)
      const folder = path.slice(0, path.lastIndexOf('/'))
      if (!folders.has(folder)) mkdirSync(folder, { recursive: true })
      folders.add(folder)
      writeFileSync(path, bytes)
      return Promise.resolve()
    },
    read: (location) => Promise.resolve(readFileSync(pathOf(location))),
    list(prefix) {
      const root = pathOf(prefix)
      const entries = readdirSync(root, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile())
      return Promise.resolve(files.map((entry) => join(entry.parentPath, entry.name)))
    },
    close() {},
  }
}

function pathOf(location: string): string {
  return location.startsWith('/')
    ? location
    : fileURLToPath(location.replace(/^file:\/*/, 'file:///'))
}

/** In the bucket of `tools/services`. */
export function openS3ClientFiles(s3: BenchS3): ClientFiles {
  const { endpoint, region, accessKeyId, secretAccessKey } = s3
  const store = openS3ObjectStore({
    profile: { type: 's3', endpoint, region, pathStyle: true },
    credentials: { accessKeyId, secretAccessKey },
  })
  return {
    write: async (location, bytes) => void (await store.putIfAbsent(location, bytes)),
    read: (location) => store.get(location),
    list: async (prefix) => {
      const found: string[] = []
      for await (const { location } of store.list(prefix)) found.push(location)
      return found
    },
    close: () => store.close(),
  }
}
