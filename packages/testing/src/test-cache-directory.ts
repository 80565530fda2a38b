import { fileURLToPath } from 'node:url'

/** Where tests keep what is made once per checkout. */
export function testCacheDirectory(): string {
  return fileURLToPath(new URL('../../../node_modules/.cache/timelake', import.meta.url))
}
