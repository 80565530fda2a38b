import { list, object, optional, stringMap, text } from '../spec/decode.ts'
import type { Filled } from '../spec/decode.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'

/** Spec: REST catalog, CatalogConfig. */
export interface CatalogSettings {
  readonly defaults: Readonly<Record<string, string>>
  readonly overrides: Readonly<Record<string, string>>
  /** `METHOD /v1/path`; absent means the default set of the protocol. */
  readonly endpoints?: readonly string[]
  /** ISO 8601 duration; absent means that idempotency keys are not supported. */
  readonly idempotencyKeyLifetime?: string
}

/** The answer of `/v1/config`. Both maps are always there because clients refuse an answer without them. */
export function encodeCatalogSettings(settings: CatalogSettings): JsonObject {
  return {
    defaults: settings.defaults,
    overrides: settings.overrides,
    endpoints: settings.endpoints,
    'idempotency-key-lifetime': settings.idempotencyKeyLifetime,
  }
}

/** Reads the answer of `/v1/config`. Throws InvalidInputError naming the member. */
export function decodeCatalogSettings(json: JsonValue): CatalogSettings {
  const raw = object(json, 'response')
  const settings: Filled<CatalogSettings> = {
    defaults: optional(raw['defaults'], 'defaults', stringMap) ?? {},
    overrides: optional(raw['overrides'], 'overrides', stringMap) ?? {},
  }
  const endpoints = optional(raw['endpoints'], 'endpoints', decodeTexts)
  if (endpoints !== undefined) settings.endpoints = endpoints
  const lifetime = optional(raw['idempotency-key-lifetime'], 'idempotency-key-lifetime', text)
  if (lifetime !== undefined) settings.idempotencyKeyLifetime = lifetime
  return settings
}

function decodeTexts(json: JsonValue | undefined, path: string): string[] {
  return list(json, path, text)
}
