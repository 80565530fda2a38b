import { int, list, object, stringMap, text } from '../spec/decode.ts'
import type { Decode } from '../spec/decode.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { assertNever } from '../spec/invariant.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { decodeSchema, encodeSchema } from '../spec/schema-json.ts'
import { decodeViewVersion, encodeViewVersion } from '../view/view-version-json.ts'
import type { ViewRequirement, ViewUpdate } from '../view/view-update.ts'

type Action = ViewUpdate['action']

/** Reads the members of one action; `of(name, decode)` reads a member. */
type DecodeMembers = (of: <T>(name: string, decode: Decode<T>) => T, raw: JsonObject) => ViewUpdate

/**
 * Reads a view update; its action is compared without regard to case, unknown members are ignored. Throws
 * InvalidInputError naming an unknown action or a missing or impossible member. Spec: REST catalog, ViewUpdate.
 */
export function decodeViewUpdate(json: JsonValue | undefined, path: string): ViewUpdate {
  const raw = object(json, path)
  const action = text(raw['action'], `${path}.action`)
  const lower = action.toLowerCase()
  if (!Object.hasOwn(DECODERS, lower)) {
    throw new InvalidInputError(`unknown update action "${action}" of a view`, `${path}.action`)
  }
  // `as`: the table has exactly the actions as members.
  const decodeMembers = DECODERS[lower as Action]
  return decodeMembers((name, decode) => decode(raw[name], `${path}.${name}`), raw)
}

const DECODERS: { readonly [A in Action]: DecodeMembers } = {
  'assign-uuid': (of) => ({ action: 'assign-uuid', uuid: of('uuid', text) }),
  'upgrade-format-version': (of) => ({
    action: 'upgrade-format-version',
    formatVersion: of('format-version', int),
  }),
  'add-schema': (of) => ({ action: 'add-schema', schema: of('schema', decodeSchema) }),
  'set-location': (of) => ({ action: 'set-location', location: of('location', text) }),
  'set-properties': (of, raw) => ({
    action: 'set-properties',
    updates: of(raw['updates'] === undefined ? 'updated' : 'updates', stringMap),
  }),
  'remove-properties': (of, raw) => ({
    action: 'remove-properties',
    removals: of(raw['removals'] === undefined ? 'removed' : 'removals', decodeTexts),
  }),
  'add-view-version': (of) => ({
    action: 'add-view-version',
    viewVersion: of('view-version', decodeViewVersion),
  }),
  'set-current-view-version': (of) => ({
    action: 'set-current-view-version',
    viewVersionId: of('view-version-id', int),
  }),
}

/** The JSON form of a view update. Inverse of decodeViewUpdate. */
export function encodeViewUpdate(update: ViewUpdate): JsonObject {
  return { action: update.action, ...encodeMembers(update) }
}

function encodeMembers(update: ViewUpdate): JsonObject {
  switch (update.action) {
    case 'assign-uuid':
      return { uuid: update.uuid }
    case 'upgrade-format-version':
      return { 'format-version': BigInt(update.formatVersion) }
    case 'add-schema':
      return { schema: encodeSchema(update.schema) }
    case 'set-location':
      return { location: update.location }
    case 'set-properties':
      return { updates: update.updates }
    case 'remove-properties':
      return { removals: update.removals }
    case 'add-view-version':
      return { 'view-version': encodeViewVersion(update.viewVersion) }
    case 'set-current-view-version':
      return { 'view-version-id': BigInt(update.viewVersionId) }
    default:
      return assertNever(update, 'view update')
  }
}

/** Reads a requirement of a view commit. Throws InvalidInputError naming an unknown type. */
export function decodeViewRequirement(json: JsonValue | undefined, path: string): ViewRequirement {
  const raw = object(json, path)
  const type = text(raw['type'], `${path}.type`)
  if (type.toLowerCase() !== 'assert-view-uuid') {
    throw new InvalidInputError(`unknown requirement type "${type}" of a view`, `${path}.type`)
  }
  return { type: 'assert-view-uuid', uuid: text(raw['uuid'], `${path}.uuid`) }
}

function decodeTexts(json: JsonValue | undefined, path: string): string[] {
  return list(json, path, text)
}
