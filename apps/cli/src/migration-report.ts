import { closeSync, openSync, writeSync } from 'node:fs'
import { printJson } from '@timelake/iceberg/spec/json'
import { EXIT_CODES, type ExitCode } from './exit-code.ts'
import type { MigrationVerdict } from './plan-migration.ts'

/**
 * `migrated`: done by this run. `to-migrate`: a dry run would have done it. `moved-on`: the source changed after it was
 * copied. `failed`: the reason says what a catalog answered.
 */
export type MigrationOutcome = MigrationVerdict | 'migrated' | 'to-migrate' | 'moved-on' | 'failed'

export interface MigrationLine {
  readonly kind: 'namespace' | 'table' | 'view'
  readonly levels: readonly string[]
  /** Absent for a namespace. */
  readonly name?: string
  readonly outcome: MigrationOutcome
  readonly reason?: string | undefined
  readonly uuid?: string | undefined
  readonly metadataLocation?: string | undefined
}

export interface MigrationReport {
  /** Written at once, so that an interrupted run leaves what it did. */
  add(line: MigrationLine): void
  /** A table of outcomes by kind. */
  summary(): string
  /** Failed over conflicts and skipped ones over done. */
  exitCode(): ExitCode
  close(): void
}

export interface ReportOptions {
  /** Gets a JSON line for each subject; a file that is there is replaced. */
  readonly path: string | undefined
  /** Gets a line for each subject that needs a look. */
  readonly print: (text: string) => void
}

const OUTCOMES = [
  'migrated',
  'to-migrate',
  'already-there',
  'skipped',
  'conflict',
  'moved-on',
  'failed',
] as const satisfies readonly MigrationOutcome[]

const KINDS = ['namespace', 'table', 'view'] as const

/** An empty report. Errors: those of the file system. */
export function openMigrationReport({ path, print }: ReportOptions): MigrationReport {
  const file = path === undefined ? undefined : openSync(path, 'w')
  const counts = new Map<string, number>()
  const countOf = (kind: string, outcome: string): number => counts.get(`${kind} ${outcome}`) ?? 0
  const total = (outcome: MigrationOutcome): number =>
    KINDS.reduce((sum, kind) => sum + countOf(kind, outcome), 0)
  return {
    add(line) {
      const { kind, outcome } = line
      counts.set(`${kind} ${outcome}`, countOf(kind, outcome) + 1)
      if (file !== undefined) writeSync(file, `${printJson(lineJson(line))}\n`)
      const needsLook = outcome !== 'already-there' && line.reason !== undefined
      if (needsLook) print(`${kind} ${nameOf(line)}: ${outcome}: ${line.reason}`)
    },
    summary() {
      const shown = OUTCOMES.filter((outcome) => total(outcome) > 0)
      const rows = shown.map((outcome) => [
        outcome,
        ...KINDS.map((kind) => String(countOf(kind, outcome))),
      ])
      return columns([['', ...KINDS.map((kind) => `${kind}s`)], ...rows])
    },
    exitCode() {
      if (total('failed') > 0) return EXIT_CODES.failed
      const openCount = total('skipped') + total('conflict') + total('moved-on')
      return openCount > 0 ? EXIT_CODES.incomplete : EXIT_CODES.done
    },
    close() {
      if (file !== undefined) closeSync(file)
    },
  }
}

function lineJson(line: MigrationLine) {
  return {
    kind: line.kind,
    namespace: line.levels,
    name: line.name,
    outcome: line.outcome,
    reason: line.reason,
    uuid: line.uuid,
    'metadata-location': line.metadataLocation,
  }
}

function nameOf({ levels, name }: MigrationLine): string {
  return (name === undefined ? levels : [...levels, name]).join('.')
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(...rows.map((row) => (row[index] ?? '').length)),
  )
  return rows
    .map((row) =>
      row
        .map((cell, index) => {
          const width = widths[index] ?? 0
          return index === 0 ? cell.padEnd(width) : cell.padStart(width)
        })
        .join('  '),
    )
    .join('\n')
}
