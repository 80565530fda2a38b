export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE'

/** What the router needs to know of a row of the table of routes. */
export interface RoutePattern {
  readonly method: HttpMethod
  /** For example `/v1/{prefix}/namespaces/{namespace}`. */
  readonly template: string
}

/** Raw, still encoded path segments by parameter name. */
export type RawParameters = Readonly<Record<string, string>>

export type RouteMatch<R> =
  | { readonly outcome: 'matched'; readonly route: R; readonly parameters: RawParameters }
  | { readonly outcome: 'wrong-method'; readonly allowed: readonly string[] }
  | { readonly outcome: 'no-route' }

interface Node<R> {
  readonly fixed: Map<string, Node<R>>
  parameter: Node<R> | undefined
  readonly routes: Map<string, { route: R; names: readonly string[] }>
}

/**
 * Matches raw paths segment by segment. Nothing is decoded before matching, so an encoded slash stays inside its
 * segment and a name never shadows a route. A fixed segment is preferred to a parameter where both fit and both have a
 * route of the method.
 */
export class Router<R extends RoutePattern> {
  readonly #root: Node<R> = newNode()

  constructor(routes: readonly R[]) {
    for (const route of routes) this.#add(route)
  }

  match(method: string, path: string): RouteMatch<R> {
    const segments = path.split('/')
    const values: string[] = []
    const node = find(this.#root, { segments, values, method }, 1)
    const found = node?.routes.get(method)
    if (found === undefined) {
      const other = find(this.#root, { segments, values: [], method: undefined }, 1)
      if (other === undefined) return { outcome: 'no-route' }
      return { outcome: 'wrong-method', allowed: [...other.routes.keys()] }
    }
    const parameters: Record<string, string> = {}
    for (let i = 0; i < values.length; i += 1) parameters[found.names[i] ?? ''] = values[i] ?? ''
    return { outcome: 'matched', route: found.route, parameters }
  }

  #add(route: R): void {
    const names: string[] = []
    let node = this.#root
    for (const segment of route.template.split('/').slice(1)) {
      if (segment.startsWith('{')) {
        names.push(segment.slice(1, -1))
        node.parameter ??= newNode()
        node = node.parameter
      } else {
        const next = node.fixed.get(segment) ?? newNode<R>()
        node.fixed.set(segment, next)
        node = next
      }
    }
    node.routes.set(route.method, { route, names })
  }
}

function newNode<R>(): Node<R> {
  return { fixed: new Map(), parameter: undefined, routes: new Map() }
}

interface Walk {
  readonly segments: readonly string[]
  /** Of the parameters on the way. */
  readonly values: string[]
  /** Undefined: any. */
  readonly method: string | undefined
}

function find<R>(node: Node<R>, walk: Walk, at: number): Node<R> | undefined {
  const { segments, values, method } = walk
  const segment = segments[at]
  if (segment === undefined) {
    const isRoute = method === undefined ? node.routes.size > 0 : node.routes.has(method)
    return isRoute ? node : undefined
  }
  const fixed = node.fixed.get(segment)
  const found = fixed === undefined ? undefined : find(fixed, walk, at + 1)
  if (found !== undefined || node.parameter === undefined || segment === '') return found
  values.push(segment)
  const below = find(node.parameter, walk, at + 1)
  if (below === undefined) values.pop()
  return below
}
