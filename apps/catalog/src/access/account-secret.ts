import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const SECRET_BYTES = 32
const SALT_BYTES = 16
const HASH_BYTES = 32
const PREFIX = 'tls_'
const SECRET = /^tls_[A-Za-z0-9_-]{43}$/
/** 16 MiB and some 50 ms for each look. */
const COST = { N: 16_384, r: 8, p: 1 }

// `as`: of the overloads promisify picks the one without options.
const derive = promisify(scrypt) as unknown as (
  secret: string,
  salt: Uint8Array,
  lengthBytes: number,
  options: typeof COST,
) => Promise<Uint8Array>

/** A fresh secret: 256 random bits that name what they are, for those who look for leaked secrets. */
export function newAccountSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64url')
}

/** Whether a text could be a secret of ours. */
export function isAccountSecret(text: string): boolean {
  return SECRET.test(text)
}

/** What is kept of a secret: `scrypt.<salt>.<hash>` in base64url. */
export async function hashAccountSecret(secret: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await derive(secret, salt, HASH_BYTES, COST)
  return ['scrypt', salt.toString('base64url'), Buffer.from(hash).toString('base64url')].join('.')
}

/** Whether a secret is the one of which the hash is; takes the same time for every secret. */
export async function isSecretOf(secret: string, kept: string): Promise<boolean> {
  const [scheme, salt = '', hash = ''] = kept.split('.')
  const expected = Buffer.from(hash, 'base64url')
  if (scheme !== 'scrypt' || expected.length !== HASH_BYTES) return false
  const found = await derive(secret, Buffer.from(salt, 'base64url'), HASH_BYTES, COST)
  return timingSafeEqual(expected, found)
}
