import type { NamespacePropertiesResult } from '@timelake/database/namespaces'
import {
  decodeNamespacePropertyChanges,
  encodeNamespacePropertyOutcome,
} from '@timelake/iceberg/rest/namespace-json'
import { printJson } from '@timelake/iceberg/spec/json'
import { confinedTo } from '../access/confine.ts'
import { updateNamespaceProperties } from '../catalog/update-namespace-properties.ts'
import { jsonTextAnswer, type HttpAnswer } from '../http/exchange.ts'
import { namespaceInPath } from '../http/path-names.ts'
import { readJson, type RouteCall } from '../http/route.ts'

/** POST …/namespaces/{namespace}/properties. */
export async function updateProperties(call: RouteCall): Promise<HttpAnswer> {
  const levels = namespaceInPath(call)
  const { updates, removals } = decodeNamespacePropertyChanges(await readJson(call))
  const result = await updateNamespaceProperties(call.catalog, {
    warehouse: await confinedTo(call, levels),
    slot: call.slot,
    levels,
    updates,
    removals,
    encode,
  })
  return jsonTextAnswer(200, encode(result))
}

function encode(result: NamespacePropertiesResult): string {
  return printJson(encodeNamespacePropertyOutcome(result))
}
