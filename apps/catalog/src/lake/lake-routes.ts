import type { Route } from '../http/route.ts'
import { appendFiles, replayAppendFiles } from './append-files.ts'
import { findCommit } from './find-commit.ts'
import { listEvents } from './list-events.ts'

/** Routes of Timelake's own protocol for writers and followers, outside the name space of the Iceberg REST protocol. */
export const LAKE_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    template: '/lake/v1/{prefix}/namespaces/{namespace}/tables/{table}/appends',
    operationId: 'appendFiles',
    access: 'table-writer',
    handle: appendFiles,
    replay: replayAppendFiles,
  },
  {
    method: 'GET',
    template: '/lake/v1/{prefix}/events',
    operationId: 'listEvents',
    access: 'warehouse',
    handle: listEvents,
  },
  {
    method: 'GET',
    template: '/lake/v1/{prefix}/namespaces/{namespace}/tables/{table}/commits',
    operationId: 'findCommit',
    access: 'table-reader',
    handle: findCommit,
  },
]
