/**
 * What a route asks of its caller. `open`: nothing, not even who it is. `caller`: that it has proved who it is; `warehouse`: a
 * role somewhere in the warehouse of the prefix, which is not found otherwise (visible-warehouse.ts). For both the handler sees to the rest, because the names are not in the
 * path. `server-admin`: that it manages the server. Others: a role where the path leads; `namespace-seen` is also enough to
 * have a role somewhere below.
 */
export type RouteAccess =
  | 'open'
  | 'caller'
  | 'server-admin'
  | 'warehouse'
  | 'namespace-seen'
  | `${'namespace' | 'table' | 'view'}-${'reader' | 'writer'}`
