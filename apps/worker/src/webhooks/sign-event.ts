import { createHmac } from 'node:crypto'

export interface SignedMessage {
  /** The id of the event: the same in every attempt. */
  readonly id: string
  readonly nowMs: number
  readonly body: string
  /** One signature for each, so that a receiver may know either while a secret is replaced. */
  readonly keys: readonly Uint8Array[]
}

/**
 * The headers by which a receiver knows who sent the body, and when: HMAC-SHA256 of id, seconds since 1970 and body, joined
 * by dots. Spec: Standard Webhooks, `v1` signatures.
 */
export function signEvent({ id, nowMs, body, keys }: SignedMessage): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000))
  const signatures = keys.map((key) => {
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`, 'utf8')
    return `v1,${mac.digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
