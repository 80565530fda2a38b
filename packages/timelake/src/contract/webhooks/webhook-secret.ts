import { Buffer } from 'node:buffer'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'

/** The form of Standard Webhooks, by which people and scanners know what it is. */
const PREFIX = 'whsec_'
const BYTES_MIN = 24
const BYTES_MAX = 64

/** Bytes of a secret that the server makes. */
export const SECRET_BYTES = 32

/** The text of a secret. */
export function encodeWebhookSecret(bytes: Uint8Array): string {
  return `${PREFIX}${Buffer.from(bytes).toString('base64')}`
}

/** The key of a secret. Throws InvalidInputError, which never holds the text. */
export function decodeWebhookSecret(text: string, path: string): Uint8Array {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : ''
  const bytes = Buffer.from(encoded, 'base64')
  const isWhole = bytes.toString('base64') === encoded
  if (isWhole && bytes.length >= BYTES_MIN && bytes.length <= BYTES_MAX) return bytes
  throw new InvalidInputError(
    `expected ${PREFIX} and ${BYTES_MIN} to ${BYTES_MAX} bytes in base64, found another text`,
    path,
  )
}

/** What the secret of a webhook is sealed for. */
export function secretContext(webhookId: string): string {
  return `webhook ${webhookId}`
}
