import type { CatalogEntry } from '@timelake/iceberg/rest/catalog-entry-json'
import { list, object, text } from '@timelake/iceberg/spec/decode'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { parseJson } from '@timelake/iceberg/spec/json'
import { isLocationBelow } from '@timelake/iceberg/spec/location'
import type { CommandContext } from './command-context.ts'

export interface TargetWarehouse {
  /** Without a path. */
  readonly uri: string
  readonly token: string | undefined
  readonly name: string
}

/**
 * Where the tables of a warehouse may lie by its own row, as a server of ours tells; its server may allow more.
 * Undefined for other catalogs, and when it cannot be asked: it only helps to explain a refusal.
 */
export async function warehousePrefixes(
  { uri, token, name }: TargetWarehouse,
  { send }: Pick<CommandContext, 'send'>,
): Promise<readonly string[] | undefined> {
  const headers: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  const path = `/admin/v1/warehouses/${encodeURIComponent(name)}`
  const response = await send(new Request(`${uri}${path}`, { headers })).catch(() => undefined)
  if (response?.status !== 200) return undefined
  try {
    const raw = object(parseJson(await response.text()), 'response')
    const allowed = list(raw['allowed-locations'], 'allowed-locations', text)
    return [text(raw['location'], 'location'), ...allowed]
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error
    return undefined
  }
}

/** Why the target may refuse an entry for its place, with the settings that would allow it; undefined when it lies inside. */
export function outsideReason(
  { location, metadataLocation }: Pick<CatalogEntry, 'location' | 'metadataLocation'>,
  prefixes: readonly string[] | undefined,
): string | undefined {
  if (prefixes === undefined) return undefined
  const outside = [location, metadataLocation].find(
    (each) => !prefixes.some((prefix) => isLocationBelow(prefix, each)),
  )
  if (outside === undefined) return undefined
  return (
    `${outside} is outside the target's warehouse: add its folder to the warehouse's allowed locations there, ` +
    "or to TIMELAKE_EXTRA_ALLOWED_LOCATIONS of the target's server"
  )
}
