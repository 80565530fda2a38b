import { extraMembers, object, optional, stringMap, text } from './decode.ts'
import type { Filled } from './decode.ts'
import type { JsonObject, JsonValue } from './json-value.ts'
import type { EncryptedKey } from './table-metadata.ts'

const KEY_MEMBERS = new Set(['key-id', 'encrypted-key-metadata', 'encrypted-by-id', 'properties'])

/** Reads an encryption key; the base64 text is kept as sent. Throws InvalidInputError. Spec: Encryption Keys. */
export function decodeEncryptedKey(json: JsonValue | undefined, path: string): EncryptedKey {
  const raw = object(json, path)
  const key: Filled<EncryptedKey> = {
    keyId: text(raw['key-id'], `${path}.key-id`),
    encryptedKeyMetadata: text(raw['encrypted-key-metadata'], `${path}.encrypted-key-metadata`),
  }
  const encryptedById = optional(raw['encrypted-by-id'], `${path}.encrypted-by-id`, text)
  if (encryptedById !== undefined) key.encryptedById = encryptedById
  const properties = optional(raw['properties'], `${path}.properties`, stringMap)
  if (properties !== undefined) key.properties = properties
  const extra = extraMembers(raw, KEY_MEMBERS)
  if (extra !== undefined) key.extra = extra
  return key
}

/** The JSON form of an encryption key. Inverse of decodeEncryptedKey. */
export function encodeEncryptedKey(key: EncryptedKey): JsonObject {
  return {
    ...key.extra,
    'key-id': key.keyId,
    'encrypted-key-metadata': key.encryptedKeyMetadata,
    'encrypted-by-id': key.encryptedById,
    properties: key.properties,
  }
}
