import type { Route } from '../http/route.ts'

/** Routes of Timelake's own protocol for writers and followers, outside the name space of the Iceberg REST protocol. */
export const LAKE_ROUTES: readonly Route[] = []
