import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createServer, type AddressInfo } from 'node:net'

const START_TIMEOUT_MS = 600_000
const SCRIPT = new URL('../rck/reference-server.sh', import.meta.url).pathname

export interface ReferenceServer {
  /** With a trailing slash. */
  readonly uri: string
  readonly stop: () => Promise<void>
}

/**
 * Starts the Java reference catalog (memory back end) on a free port, with its warehouse in `directory`. The first
 * start on a machine fetches and compiles it. Throws when it does not listen within ten minutes.
 */
export async function startReferenceServer(directory: string): Promise<ReferenceServer> {
  const port = await freePort()
  const child = spawn(SCRIPT, [String(port), directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  const stop = async () => {
    const closed =
      child.exitCode === null && child.signalCode === null ? once(child, 'close') : undefined
    child.kill('SIGTERM')
    await closed
  }
  const timer = setTimeout(() => child.kill('SIGTERM'), START_TIMEOUT_MS)
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('reference server ready')) continue
    clearTimeout(timer)
    return { uri: `http://127.0.0.1:${port}/`, stop }
  }
  clearTimeout(timer)
  await stop()
  throw new Error(`cannot start the reference server ${SCRIPT}: it ended before it listened`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
