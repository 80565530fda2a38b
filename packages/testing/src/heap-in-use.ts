import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of the heap that are still referenced, after a full collection. */
export function heapBytesInUse(): number {
  setFlagsFromString('--expose-gc')
  // `as`: a context made while the flag is set has this function.
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  return process.memoryUsage().heapUsed
}
