/** A table by the exact, case-sensitive levels of its namespace and its name. */
export interface TableIdentifier {
  readonly levels: readonly string[]
  readonly name: string
}

/** `a.b.t`, for messages only: a dot inside a name is not escaped. */
export function tableText(identifier: TableIdentifier): string {
  return [...identifier.levels, identifier.name].join('.')
}

/** `a.b`, for messages only. */
export function namespaceText(levels: readonly string[]): string {
  return levels.join('.')
}

/** A text that two identifiers share only when they are equal; names hold no control characters. */
export function identifierKey(warehouseId: string, identifier: TableIdentifier): string {
  return `${warehouseId}\u0000${identifier.levels.join('\u001f')}\u0000${identifier.name}`
}
