const BYTES_MAX = 1_048_576
const TIMEOUT_MS = 5_000

/** A document that an identity provider should serve did not come, or is no JSON object. */
export class IdentityProviderError extends Error {
  override readonly name = 'IdentityProviderError'
}

/**
 * The JSON object at an address that an operator set, or that an identity provider named: at most `BYTES_MAX` bytes within
 * `TIMEOUT_MS`; redirects are not followed. Throws IdentityProviderError.
 */
export async function fetchJson(url: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const answer = await fetch(url, {
      redirect: 'error',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (!answer.ok) throw new Error(`expected status 200, got ${answer.status}`)
    const value: unknown = JSON.parse(await readText(answer))
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Error('expected a JSON object')
    }
    return value as Record<string, unknown> // `as`: checked above
  } catch (cause) {
    throw new IdentityProviderError(`cannot read ${url}`, { cause })
  }
}

async function readText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let lengthBytes = 0
  const reader = answer.body?.getReader()
  while (reader !== undefined) {
    const { done, value } = await reader.read()
    if (done) break
    lengthBytes += value.length
    if (lengthBytes > BYTES_MAX) {
      await reader.cancel()
      throw new Error(`expected at most ${BYTES_MAX} bytes`)
    }
    chunks.push(value)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Whether keys may be read from there: over TLS, or from this machine. */
export function isSafeProviderUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback)
  return isSafe && username === '' && password === ''
}
