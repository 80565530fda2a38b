import { sampleProcesses } from './server-process.ts'

/** How long and how wide one cell of a benchmark is measured. */
export interface CellPlan {
  readonly concurrency: number
  readonly durationMs: number
  readonly operationCountMax: number
  readonly processIds: readonly number[]
}

/** One measured cell. Times in milliseconds; percentiles are nearest-rank over all operations. */
export interface Cell {
  readonly operationCount: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU of the server's processes per operation; NaN when they are unknown. */
  readonly serverCpuMs: number
  readonly rssBytes: number
}

/**
 * Runs `operation(turn, lane)` in `concurrency` lanes, each waiting for its answer before the next one, until the time
 * or the number of operations is used up. An operation that throws ends the measurement with its error.
 */
export async function measureCell(
  plan: CellPlan,
  operation: (turn: number, lane: number) => Promise<void>,
): Promise<Cell> {
  const timesMs: number[] = []
  const before = sampleProcesses(plan.processIds)
  const startedMs = performance.now()
  let turn = 0
  const lane = async (index: number) => {
    while (turn < plan.operationCountMax && performance.now() - startedMs < plan.durationMs) {
      const beganMs = performance.now()
      await operation(turn++, index)
      timesMs.push(performance.now() - beganMs)
    }
  }
  await Promise.all(Array.from({ length: plan.concurrency }, (_, index) => lane(index)))
  const tookMs = performance.now() - startedMs
  const after = sampleProcesses(plan.processIds)
  timesMs.sort((left, right) => left - right)
  const isKnown = plan.processIds.length > 0
  return {
    operationCount: timesMs.length,
    perSecond: (timesMs.length * 1000) / tookMs,
    p50Ms: percentile(timesMs, 0.5),
    p99Ms: percentile(timesMs, 0.99),
    serverCpuMs: isKnown ? (after.cpuMs - before.cpuMs) / timesMs.length : Number.NaN,
    rssBytes: after.rssBytes,
  }
}

/** The nearest-rank percentile of an ascending list; NaN for an empty one. */
export function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)] ?? Number.NaN
}

const MIB = 1_048_576

/** One line of the printed table. */
export interface LabelledCell extends Cell {
  readonly label: string
  readonly note?: string
}

/** The cells as a Markdown table, to be pasted into docs/benchmarks.md. */
export function printCells(title: string, cells: readonly LabelledCell[]): string {
  const rows = cells.map((cell) => [
    cell.label,
    cell.perSecond.toFixed(cell.perSecond < 100 ? 1 : 0),
    cell.p50Ms.toFixed(2),
    cell.p99Ms.toFixed(2),
    Number.isNaN(cell.serverCpuMs) ? '' : cell.serverCpuMs.toFixed(3),
    cell.rssBytes === 0 ? '' : (cell.rssBytes / MIB).toFixed(0),
    String(cell.operationCount),
    cell.note ?? '',
  ])
  const header = [title, 'per s', 'p50 ms', 'p99 ms', 'server CPU ms/op', 'RSS MiB', 'n', '']
  return printTable(header, rows)
}

/** A Markdown table. */
export function printTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const line = (fields: readonly string[]) => `| ${fields.join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}
