import type { CompactionStore } from './compaction-context.ts'

/** An object that we wrote is not there, or something else is. Nothing refers to it yet. */
export class OutputNotStoredError extends Error {
  override readonly name = 'OutputNotStoredError'
}

/**
 * Stores an object under a name that nobody else uses. A doubtful answer is settled by reading back: an object of the
 * right size under our unique name is ours. Throws OutputNotStoredError.
 */
export async function putOutput(
  store: CompactionStore,
  location: string,
  content:
    { readonly bytes: Uint8Array } | { readonly localPath: string; readonly sizeBytes: number },
): Promise<void> {
  const outcome =
    'bytes' in content
      ? await store.putIfAbsent(location, content.bytes)
      : await store.putFileIfAbsent(location, content.localPath)
  if (outcome === 'created') return
  const sizeBytes = 'bytes' in content ? content.bytes.length : content.sizeBytes
  const found = await store.stat(location)
  if (outcome === 'unknown' && found?.sizeBytes === sizeBytes) return
  const what = found === undefined ? 'nothing' : `${found.sizeBytes} bytes`
  throw new OutputNotStoredError(
    `cannot store ${location}: expected ${sizeBytes} bytes there, found ${what} (${outcome})`,
  )
}

/** Removes objects that nothing refers to, for certain; one that cannot be removed now stays recorded for later. */
export async function removeOutputs(
  store: CompactionStore,
  locations: readonly string[],
): Promise<readonly string[]> {
  const settled = await Promise.allSettled(locations.map((location) => store.delete(location)))
  return locations.filter((_, index) => settled[index]?.status === 'rejected')
}
