/** A request as a client of the catalog sends it. */
export interface ServerRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With the query. */
  readonly path: string
  /** By lower-case name. */
  readonly headers?: Readonly<Record<string, string>>
  /** JSON text. */
  readonly body?: string
}

export interface ServerAnswer {
  readonly status: number
  readonly body: string
}

/** The catalog as clients reach it: whichever of its processes answers. */
export interface SimulatedServer {
  /** Throws ConnectionLostError when the answer, or the request, was lost on the way. */
  call(request: ServerRequest): Promise<ServerAnswer>
}

/** The process that was asked has died, or the network lost a message: what was asked may have been done. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError'
}
