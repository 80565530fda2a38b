import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lockDataDirectory } from '@timelake/database/data-directory-lock'
import { DataDirectoryInUseError } from '@timelake/database/database-errors'

export interface OwnJobsDirectory {
  readonly path: string
  /** Removes it with everything in it. */
  remove(): Promise<void>
}

const OWNED = /^worker-/

/**
 * A directory below `parent` that is this process's alone, and removes those of processes of this machine that are dead.
 * A living one's is never touched. Errors: those of the file system.
 */
export async function openOwnJobsDirectory(
  parent: string,
  { workerId, pid }: { readonly workerId: string; readonly pid: number },
): Promise<OwnJobsDirectory> {
  await mkdir(parent, { recursive: true, mode: 0o700 })
  await removeAbandoned(parent, pid)
  const path = join(parent, `worker-${workerId}`)
  // It gets its name with its lock inside, so that nobody takes it for an abandoned one in between.
  const draft = join(parent, `starting-${workerId}`)
  lockDataDirectory(draft, { pid })
  await rename(draft, path)
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

async function removeAbandoned(parent: string, pid: number): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!OWNED.test(name)) continue
    const directory = join(parent, name)
    try {
      lockDataDirectory(directory, { pid })
    } catch (cause) {
      if (cause instanceof DataDirectoryInUseError) continue
      throw cause
    }
    await rm(directory, { recursive: true, force: true })
  }
}
