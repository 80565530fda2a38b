import { Agent, request } from 'node:http'

const REQUEST_TIMEOUT_MS = 120_000
const SOCKETS_MAX = 64

export interface Answer {
  readonly status: number
  readonly etag: string | undefined
  readonly bodyBytes: number
  /** The body as it came over the wire (compressed, if it was asked for). */
  readonly body: Buffer
}

export interface CallOptions {
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly alsoFine?: readonly number[]
}

/** A keep-alive HTTP client for one catalog, thin enough that the server is what is measured. */
export class CatalogClient {
  readonly #origin: URL
  readonly #agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX })
  readonly #prefix: string

  private constructor(uri: string, prefix: string) {
    this.#origin = new URL(uri)
    this.#prefix = prefix
  }

  /** Reads `/v1/config` and takes over the path prefix. */
  static async connect(uri: string, warehouse: string | undefined): Promise<CatalogClient> {
    const query = warehouse === undefined ? '' : `?warehouse=${encodeURIComponent(warehouse)}`
    const answer = await new CatalogClient(uri, '').call('GET', `/v1/config${query}`)
    const { defaults, overrides } = readConfig(answer)
    const prefix = overrides?.['prefix'] ?? defaults?.['prefix']
    return new CatalogClient(uri, prefix === undefined ? '' : `/${prefix}`)
  }

  namespacePath(namespace: string): string {
    return `/v1${this.#prefix}/namespaces/${namespace}`
  }

  tablePath(namespace: string, table: string): string {
    return `${this.namespacePath(namespace)}/tables/${table}`
  }

  /** Where append intents of the table go; Timelake's own route. */
  appendsPath(namespace: string, table: string): string {
    return `/lake${this.tablePath(namespace, table)}/appends`
  }

  /** Sends a JSON text and expects 200, 304 or a status of `alsoFine`; throws an Error with status and message otherwise. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const answer = await this.exchange(method, path, options)
    if ([200, 304, ...(options.alsoFine ?? [])].includes(answer.status)) return answer
    const text = answer.body.toString('utf8').slice(0, 300)
    throw new Error(`${method} ${path}: expected 200, found ${answer.status} ${text}`)
  }

  createNamespace(namespace: string): Promise<Answer> {
    const path = this.namespacePath('').slice(0, -1)
    return this.call('POST', path, { body: JSON.stringify({ namespace: [namespace] }) })
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Sends a JSON text and gives the answer whatever its status; throws only when none comes. */
  exchange(
    method: string,
    path: string,
    { body, headers }: Omit<CallOptions, 'alsoFine'> = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          agent: this.#agent,
          host: this.#origin.hostname,
          port: this.#origin.port,
          method,
          path,
          timeout: REQUEST_TIMEOUT_MS,
          headers: { 'content-type': 'application/json', ...headers },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const all = Buffer.concat(chunks)
            const { statusCode: status = 0, headers: answered } = response
            resolve({ status, etag: answered.etag, bodyBytes: all.length, body: all })
          })
        },
      )
      sent.on('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer in time`)))
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

function readConfig(answer: Answer): {
  defaults?: Record<string, string>
  overrides?: Record<string, string>
} {
  // `as`: the two string maps of the config answer; the benchmark reads nothing else of it.
  return JSON.parse(answer.body.toString('utf8')) as {
    defaults?: Record<string, string>
    overrides?: Record<string, string>
  }
}
