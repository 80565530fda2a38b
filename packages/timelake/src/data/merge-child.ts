import { openEngine, type Engine, type EngineOptions, type EngineRow } from './duckdb.ts'

/** What the parent sends: the options once, then statements. */
export type MergeChildRequest =
  | { readonly kind: 'open'; readonly id: number; readonly options: EngineOptions }
  | { readonly kind: 'query'; readonly id: number; readonly sql: string }

export type MergeChildReply =
  | { readonly id: number; readonly rows: readonly EngineRow[] }
  | { readonly id: number; readonly error: string }

/** The process that runs the engine. It ends when its parent does, however the parent ends. */
function main(): void {
  let engine: Promise<Engine> | undefined
  process.on('disconnect', () => process.exit(0))
  process.on('message', (message: MergeChildRequest) => {
    const work =
      message.kind === 'open'
        ? (engine = openEngine(message.options)).then(() => [])
        : answerQuery(engine, message.sql)
    work.then(
      (rows) => reply({ id: message.id, rows }),
      (error: unknown) => reply({ id: message.id, error: String(error) }),
    )
  })
}

async function answerQuery(
  engine: Promise<Engine> | undefined,
  sql: string,
): Promise<readonly EngineRow[]> {
  if (engine === undefined) throw new Error('the engine was not opened')
  return (await engine).query(sql)
}

function reply(message: MergeChildReply): void {
  if (process.connected) process.send?.(message)
}

// Signals from a terminal reach the whole process group; the parent decides when this process ends.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
main()
