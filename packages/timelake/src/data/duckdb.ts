import { DuckDBInstance } from '@duckdb/node-api'

/** A row of plain values: text, number, bigint, boolean or null. Queries cast everything else to text. */
export type EngineRow = Readonly<Record<string, string | number | bigint | boolean | null>>

export interface EngineOptions {
  /** What the buffer manager may use before it spills; the process needs a few hundred MB more. */
  readonly memoryBytesMax: number
  readonly threadCount: number
  /** Where it spills to. Must exist. */
  readonly spillDirectory: string
  readonly spillBytesMax: number
}

export interface Engine {
  /** Runs one statement and returns its rows. Throws the engine's error. */
  query(sql: string): Promise<readonly EngineRow[]>
}

/**
 * An in-memory engine that reads and writes local Parquet files. Call it in a process of its own: an aborted worker
 * thread takes the whole process down. Times are UTC; it fetches no extension and reads no settings of the user.
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${Math.floor(options.memoryBytesMax / 1_000_000)}MB`,
    threads: String(options.threadCount),
    temp_directory: options.spillDirectory,
    max_temp_directory_size: `${Math.floor(options.spillBytesMax / 1_000_000)}MB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  await connection.run(`SET TimeZone = 'UTC'`)
  return {
    async query(sql) {
      const reader = await connection.runAndReadAll(sql)
      // `as`: every statement that we write returns the plain kinds of EngineRow.
      return reader.getRowObjects() as readonly EngineRow[]
    },
  }
}
