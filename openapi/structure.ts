/**
 * What two descriptions of one API can be compared by: names, types, required members, enumerations, status codes.
 * No prose, no examples.
 */
export interface ApiStructure {
  /** By `METHOD path`. */
  readonly operations: Readonly<Record<string, OperationStructure>>
  readonly schemas: Readonly<Record<string, SchemaStructure>>
}

export interface OperationStructure {
  readonly operationId: string
  /** `in name`, with `!` behind those that are required; sorted. */
  readonly parameters: readonly string[]
  readonly requestBody?: SchemaStructure
  /** The body's schema by status code; null for an answer without a body. */
  readonly responses: Readonly<Record<string, SchemaStructure | null>>
}

/** A schema reduced to the keywords of KEPT. */
export type SchemaStructure = Readonly<Record<string, unknown>>

type Node = Readonly<Record<string, unknown>>

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const

// Keywords whose value is copied as it is.
const PLAIN = ['type', '$ref', 'const', 'format', 'nullable']

/** The structure of a parsed OpenAPI document. References to parameters and responses are resolved, to schemas kept. */
export function structureOf(document: unknown): ApiStructure {
  const root = node(document)
  const operations: [string, OperationStructure][] = []
  for (const [path, item] of Object.entries(node(root['paths']))) {
    for (const method of METHODS) {
      const operation = node(item)[method]
      if (operation === undefined) continue
      const shared = list(node(item)['parameters'])
      operations.push([
        `${method.toUpperCase()} ${path}`,
        operationStructure(root, node(operation), shared),
      ])
    }
  }
  const schemas = Object.entries(node(node(root['components'])['schemas']))
  return {
    operations: Object.fromEntries(operations),
    schemas: Object.fromEntries(schemas.map(([name, schema]) => [name, reduceSchema(schema)])),
  }
}

function operationStructure(
  root: Node,
  operation: Node,
  shared: readonly unknown[],
): OperationStructure {
  const parameters = [...shared, ...list(operation['parameters'])].map((parameter) =>
    parameterName(resolve(root, parameter)),
  )
  const body = operation['requestBody']
  const responses = Object.entries(node(operation['responses'])).map(([status, response]) => [
    status,
    bodySchema(resolve(root, response)) ?? null,
  ])
  const requestBody = body === undefined ? undefined : bodySchema(resolve(root, body))
  return {
    operationId: String(operation['operationId']),
    parameters: [...new Set(parameters)].sort(),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: Object.fromEntries(responses) as Record<string, SchemaStructure | null>,
  }
}

function parameterName(parameter: Node): string {
  const isRequired = parameter['required'] === true
  return `${String(parameter['in'])} ${String(parameter['name'])}${isRequired ? '!' : ''}`
}

function bodySchema(message: Node): SchemaStructure | undefined {
  const [media] = Object.values(node(message['content']))
  const schema = node(media)['schema']
  return schema === undefined ? undefined : reduceSchema(schema)
}

function reduceSchema(schema: unknown): SchemaStructure {
  const from = node(schema)
  const reduced: Record<string, unknown> = {}
  for (const keyword of PLAIN) if (from[keyword] !== undefined) reduced[keyword] = from[keyword]
  // The order of these carries no meaning.
  for (const keyword of ['required', 'enum']) {
    if (from[keyword] !== undefined) reduced[keyword] = list(from[keyword]).map(String).sort()
  }
  for (const keyword of ['allOf', 'oneOf', 'anyOf']) {
    if (from[keyword] !== undefined) reduced[keyword] = list(from[keyword]).map(reduceSchema)
  }
  for (const keyword of ['items', 'additionalProperties']) {
    const value = from[keyword]
    if (value !== undefined)
      reduced[keyword] = typeof value === 'boolean' ? value : reduceSchema(value)
  }
  if (from['properties'] !== undefined) {
    const properties = Object.entries(node(from['properties']))
    reduced['properties'] = Object.fromEntries(
      properties.map(([name, value]) => [name, reduceSchema(value)]),
    )
  }
  if (from['discriminator'] !== undefined) {
    const { propertyName, mapping } = node(from['discriminator'])
    reduced['discriminator'] = mapping === undefined ? { propertyName } : { propertyName, mapping }
  }
  return reduced
}

function resolve(root: Node, value: unknown): Node {
  const reference = node(value)['$ref']
  if (typeof reference !== 'string') return node(value)
  const target = reference
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((at, key) => node(at)[key], root)
  return resolve(root, target)
}

// `as`: members of a parsed document are looked at one by one, and a missing one is an empty object.
function node(value: unknown): Node {
  return typeof value === 'object' && value !== null ? (value as Node) : {}
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
