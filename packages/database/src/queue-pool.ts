/**
 * The part of a node-postgres pool that the job queue uses. A real pool of `pg` fits it, and so does the shim over
 * PGlite. int8 comes as a string and JSON parsed, as node-postgres does.
 */
export interface QueuePool {
  readonly options: { readonly keepAlive: boolean }
  query<Row = unknown>(text: string, params?: readonly unknown[]): Promise<QueueQueryResult<Row>>
  connect(): Promise<QueueClient>
  end(): Promise<void>
  on(event: 'error', listener: (error: Error) => void): this
  on(event: 'connect', listener: (client: QueueClient) => void): this
  removeAllListeners(event?: string): this
}

export interface QueueQueryResult<Row> {
  rows: Row[]
  rowCount: number
}

export interface QueueNotification {
  readonly channel: string
  readonly payload: string
}

/** A checked-out connection: what it does between BEGIN and COMMIT is one transaction. */
export interface QueueClient {
  query<Row = unknown>(text: string, params?: readonly unknown[]): Promise<QueueQueryResult<Row>>
  release(destroy?: boolean): void
  on(event: 'notification', listener: (message: QueueNotification) => void): this
  on(event: 'error', listener: (error: Error) => void): this
  on(event: 'end', listener: () => void): this
  removeListener(event: 'notification', listener: (message: QueueNotification) => void): this
  removeAllListeners(event?: string): this
}
