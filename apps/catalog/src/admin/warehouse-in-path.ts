import { checkName } from '../catalog/names.ts'
import { decodeSegment } from '../http/raw-path.ts'
import type { RouteCall } from '../http/route.ts'

/** The warehouse name in the path. Throws InvalidInputError for malformed or impossible names. */
export function warehouseInPath({ parameters }: RouteCall): string {
  const name = decodeSegment(parameters['name'] ?? '')
  checkName(name, 'name')
  return name
}
