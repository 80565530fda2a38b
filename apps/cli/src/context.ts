import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Database } from '@timelake/database/sql-session'
import { openLocalObjectStore } from '@timelake/storage/local-object-store'
import { pathOfLocation } from '@timelake/storage/location-path'
import { sameStoreForAll, type WarehouseStores } from '@timelake/storage/warehouse-stores'
import type { ReachFaultPoint } from '@timelake/timelake/contract/fault-points'
import type { Settings } from '@timelake/timelake/contract/settings'
import { pino, type Logger } from 'pino'
import { Registry } from 'prom-client'
import type { CommandContext } from './command-context.ts'
import type { DataDirectory } from './data-directory.ts'
import { makeFaultPoint } from './fault-point.ts'

/** The outside world of one process: what the catalog and the worker are given. */
export interface ProcessContext {
  readonly database: Database
  readonly stores: WarehouseStores
  nowMs(): number
  newUuid(): string
  readonly log: Logger
  readonly registry: Registry
  readonly reachFaultPoint: ReachFaultPoint
}

/** Real time and fresh UUIDs. */
export const realClock = { nowMs: () => Date.now(), newUuid: () => randomUUID() }

/** The world of a command of one shot. */
export function makeCommandContext(settings: Settings): CommandContext {
  return {
    ...realClock,
    settings,
    print: (text) => void process.stdout.write(`${text}\n`),
    send: (request) => fetch(request),
    pause: (durationMs) => setTimeout(durationMs),
  }
}

/** Headers that may carry a secret; they are logged as `[hidden]` wherever they appear. */
const HIDDEN = [
  'authorization',
  'headers.authorization',
  '*.headers.authorization',
  'token',
  '*.token',
]

/** The log of this process: JSON lines on standard error, so that standard output stays for people. */
export function makeLog({ logLevel }: Settings): Logger {
  const redact = { paths: HIDDEN, censor: '[hidden]' }
  return pino({ level: logLevel, redact }, pino.destination(2))
}

export interface OpenParts {
  readonly database: Database
  readonly directory: DataDirectory
  readonly log: Logger
}

/**
 * The world of a one-process server around its open database. Its store serves the warehouse and the places that the
 * settings allow besides, so a link inside them leads nowhere else.
 */
export function makeContext(
  settings: Settings,
  { database, directory, log }: OpenParts,
): ProcessContext {
  const extraDirs = settings.extraAllowedLocations.filter(isLocalLocation).map(pathOfLocation)
  return {
    ...realClock,
    database,
    stores: sameStoreForAll(
      openLocalObjectStore({ rootDirs: [directory.warehousePath, ...extraDirs] }),
    ),
    log,
    registry: new Registry(),
    reachFaultPoint: makeFaultPoint(settings),
  }
}

function isLocalLocation(location: string): boolean {
  return location.startsWith('file:') || location.startsWith('/')
}
