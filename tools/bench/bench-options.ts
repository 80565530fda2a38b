import { parseArgs } from 'node:util'

import { startOwnServer, type ServerUnderTest } from './server-process.ts'

export interface BenchOptions {
  readonly durationMs: number
  readonly snapshotCounts: readonly number[]
  readonly tableCount: number
  readonly warehouse: string | undefined
  /** Another server to measure instead of ours. */
  readonly uri: string | undefined
  readonly processIds: readonly number[]
  /** Whether clients ask for credentials, on the services of `tools/services`. */
  readonly credentials: boolean
}

/**
 * The flags that every benchmark here takes:
 * `--seconds 4` per cell, `--snapshots 10,1000,10000`, `--tables 16`, and to measure another server of this machine
 * `--uri URI --pid PID [--warehouse NAME]`. Throws an Error for an unknown flag or a count that is not one.
 */
export function readBenchOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '4' },
      snapshots: { type: 'string', default: '10,1000,10000' },
      tables: { type: 'string', default: '16' },
      warehouse: { type: 'string' },
      uri: { type: 'string' },
      pid: { type: 'string', multiple: true },
      credentials: { type: 'boolean', default: false },
    },
  })
  return {
    durationMs: positive(values.seconds) * 1000,
    snapshotCounts: values.snapshots.split(',').map(positive),
    tableCount: positive(values.tables),
    warehouse: values.warehouse ?? (values.uri === undefined ? 'main' : undefined),
    uri: values.uri,
    processIds: (values.pid ?? []).map(positive),
    credentials: values.credentials,
  }
}

function positive(text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0)
    throw new Error(`expected a positive number, found ${text}`)
  return value
}

/** The server that the options name, or one of ours; the caller stops it. */
export async function serverUnderTest(options: BenchOptions): Promise<ServerUnderTest> {
  const { uri, processIds } = options
  if (uri === undefined) return startOwnServer()
  return { uri, processIds, stop: () => Promise.resolve() }
}
