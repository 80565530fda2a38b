import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** Seals short texts so that only a process with the same key can read them. Errors never hold a text or a key. */
export interface SecretBox {
  /**
   * The sealed text, another one for each call. It opens under the same context only, so a text that was moved to another
   * row does not open there. Throws SecretKeyError when this process has no key.
   */
  seal(plainText: string, context: string): string
  /** The text that was sealed. Throws SealedTextError, and SecretKeyError when this process has no key. */
  open(sealed: string, context: string): string
}

/** The key of this process is missing or malformed; the message is a sentence that names the variable. */
export class SecretKeyError extends Error {
  override readonly name = 'SecretKeyError'
}

/** A sealed text that does not open: sealed with another key or for another context, or damaged. */
export class SealedTextError extends Error {
  override readonly name = 'SealedTextError'
}

const VERSION = 'v1'
const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_ID_HEX_DIGITS = 8

interface Key {
  /** Tells keys apart without telling anything of them. */
  readonly id: string
  readonly bytes: Buffer
}

/**
 * AES-256-GCM under `key`, with a random nonce per text; `previousKey` still opens what it sealed. Both are 32 bytes in
 * base64. A sealed text is `v1.<key id>.<base64url of nonce, cipher text and tag>`; version, key id and context are
 * authenticated with it. Random nonces are safe for 2^32 texts per key, far more than there are warehouses.
 * Throws SecretKeyError for a malformed key.
 */
export function openSecretBox(keys: {
  readonly key: string
  readonly previousKey?: string
}): SecretBox {
  const current = readKey(keys.key, 'TIMELAKE_SECRET_KEY')
  const known = [current]
  if (keys.previousKey !== undefined) {
    known.push(readKey(keys.previousKey, 'TIMELAKE_PREVIOUS_SECRET_KEY'))
  }
  return {
    seal: (plainText, context) => seal(current, plainText, context),
    open: (sealed, context) => open(known, sealed, context),
  }
}

/** The box of a process without a key: refuses both, with SecretKeyError. */
export function noSecretBox(): SecretBox {
  const refuse = (verb: string) => (): never => {
    throw new SecretKeyError(
      `cannot ${verb} credentials: set TIMELAKE_SECRET_KEY (32 bytes in base64, as \`openssl rand -base64 32\` prints them)`,
    )
  }
  return { seal: refuse('keep'), open: refuse('read') }
}

function seal(key: Key, plainText: string, context: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(additionalData(key, context))
  const parts = [nonce, cipher.update(plainText, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return `${VERSION}.${key.id}.${Buffer.concat(parts).toString('base64url')}`
}

function open(keys: readonly Key[], sealed: string, context: string): string {
  const [version = '', keyId = '', payload = '', ...rest] = sealed.split('.')
  const bytes = Buffer.from(payload, 'base64url')
  const isOurs = version === VERSION && rest.length === 0 && /^[0-9a-f]{8}$/.test(keyId)
  // Other spellings of the same bytes are refused, so that a sealed text has one form.
  const isWhole = bytes.length >= NONCE_BYTES + TAG_BYTES && bytes.toString('base64url') === payload
  if (!isOurs || !isWhole) throw new SealedTextError('sealed credentials are damaged')
  const key = keys.find(({ id }) => id === keyId)
  if (key === undefined) throw wrongKey(keyId, keys)
  const decipher = createDecipheriv(CIPHER, key.bytes, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(additionalData(key, context))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const begin = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
    return Buffer.concat([begin, decipher.final()]).toString('utf8')
  } catch (cause) {
    const sentence = 'sealed credentials are damaged, or were sealed for another warehouse'
    throw new SealedTextError(sentence, { cause })
  }
}

function wrongKey(keyId: string, keys: readonly Key[]): SealedTextError {
  return new SealedTextError(
    `cannot open credentials: expected one of the keys ${keys.map(({ id }) => id).join(', ')}, found a text sealed with key ${keyId}; ` +
      'set TIMELAKE_SECRET_KEY, or TIMELAKE_PREVIOUS_SECRET_KEY, to the key that sealed it',
  )
}

function additionalData(key: Key, context: string): Buffer {
  return Buffer.from(`${VERSION}.${key.id}.${context}`)
}

function readKey(text: string, variable: string): Key {
  const bytes = Buffer.from(text, 'base64')
  const isBase64 = bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')
  if (!isBase64 || bytes.length !== KEY_BYTES) {
    const found = isBase64 ? `${bytes.length} bytes` : 'another text'
    throw new SecretKeyError(
      `${variable} is wrong: expected ${KEY_BYTES} bytes in base64, found ${found}`,
    )
  }
  const digest = createHash('sha256').update('timelake key id\n').update(bytes).digest('hex')
  return { id: digest.slice(0, KEY_ID_HEX_DIGITS), bytes }
}
