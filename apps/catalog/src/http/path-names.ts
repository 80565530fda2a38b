import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { checkName, checkNamespace } from '../catalog/names.ts'
import type { TableIdentifier } from '../catalog/table-identifier.ts'
import { decodeNamespaceSegment, decodeSegment } from './raw-path.ts'
import type { RouteCall } from './route.ts'

/** The namespace in the path. Throws InvalidInputError for malformed or impossible names. */
export function namespaceInPath({ parameters }: RouteCall): string[] {
  const levels = decodeNamespaceSegment(required(parameters['namespace']))
  checkNamespace(levels, 'namespace')
  return levels
}

/** The table in the path. Throws InvalidInputError for malformed or impossible names. */
export function tableInPath(call: RouteCall): TableIdentifier {
  return identifierInPath(call, 'table')
}

/** The view in the path. Throws InvalidInputError for malformed or impossible names. */
export function viewInPath(call: RouteCall): TableIdentifier {
  return identifierInPath(call, 'view')
}

function identifierInPath(call: RouteCall, parameter: 'table' | 'view'): TableIdentifier {
  const levels = namespaceInPath(call)
  const name = decodeSegment(required(call.parameters[parameter]))
  checkName(name, parameter)
  return { levels, name }
}

function required(raw: string | undefined): string {
  if (raw === undefined) throw new InvalidInputError('the path lacks a name')
  return raw
}
