import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLocalObjectStore } from '@timelake/storage/local-object-store'
import type { ObjectStore } from '@timelake/storage/object-store'

export interface TestStore {
  readonly store: ObjectStore
  /** The store's only root, as a path and as a `file:///` location. */
  readonly directory: string
  readonly location: string
  remove(): Promise<void>
}

/** A local store on a new empty temporary directory. */
export async function openTestStore(): Promise<TestStore> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'timelake-test-')))
  return {
    store: openLocalObjectStore({ rootDirs: [directory] }),
    directory,
    location: `file://${directory}`,
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}
