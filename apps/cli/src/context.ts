import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import type { Database } from '@timelake/database/sql-session'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { pathOfLocation } from '@timelake/storage/location-path'
import {
  openWarehouseStores,
  type WarehouseStoresOptions,
} from '@timelake/storage/open-warehouse-stores'
import { noSecretBox, openSecretBox, type SecretBox } from '@timelake/storage/secret-box'
import type { WarehouseStores } from '@timelake/storage/warehouse-stores'
import type { ReachFaultPoint } from '@timelake/timelake/contract/fault-points'
import type { Settings } from '@timelake/timelake/contract/settings'
import { pino, type Logger } from 'pino'
import { Registry } from 'prom-client'
import type { InputContext } from './command-context.ts'
import type { DataDirectory } from './data-directory.ts'
import { CommandError, EXIT_CODES } from './exit-code.ts'
import { makeFaultPoint } from './fault-point.ts'

/** The outside world of one process: what the catalog and the worker are given. */
export interface ProcessContext {
  readonly database: Database
  readonly stores: WarehouseStores
  readonly secretBox: SecretBox
  nowMs(): number
  newUuid(): string
  /** From 0 to 1. */
  random(): number
  readonly log: Logger
  readonly registry: Registry
  readonly reachFaultPoint: ReachFaultPoint
}

/** Real time, fresh UUIDs and real chance. */
export const realClock = {
  nowMs: () => Date.now(),
  newUuid: () => randomUUID(),
  random: () => Math.random(),
}

/** The world of a command of one shot. */
export function makeCommandContext(settings: Settings): InputContext {
  return {
    ...realClock,
    settings,
    print: (text) => void process.stdout.write(`${text}\n`),
    send: (request) => fetch(request),
    readInput: () => text(process.stdin),
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
  readonly stores: WarehouseStores
  readonly log: Logger
}

/** The world of a process around its open database. */
export function makeContext(
  settings: Settings,
  { database, stores, log }: OpenParts,
): ProcessContext {
  return {
    ...realClock,
    database,
    stores,
    secretBox: secretBoxOf(settings),
    log,
    registry: new Registry(),
    reachFaultPoint: makeFaultPoint(settings),
  }
}

/**
 * The stores of all warehouses. Of this machine they serve the warehouse folder and the places that the settings allow
 * besides, so a link inside them leads nowhere else.
 */
export function openStores(
  settings: Settings,
  { warehousePath }: DataDirectory,
): WarehouseStores & { close(): void } {
  const { extraAllowedLocations, warehouseLocation } = settings
  const local = [...extraAllowedLocations, warehouseLocation ?? '']
    .filter(isLocalLocation)
    .map(pathOfLocation)
  return openWarehouseStores({
    secretBox: secretBoxOf(settings),
    localRootDirs: [warehousePath, ...local],
    extraAllowedLocations,
    ...defaultCredentials(settings),
  })
}

/** What opens sealed credentials; one that refuses, with the reason, when there is no key. */
function secretBoxOf({ secretKey: key, previousSecretKey }: Settings): SecretBox {
  if (key === undefined) return noSecretBox()
  return openSecretBox(
    previousSecretKey === undefined ? { key } : { key, previousKey: previousSecretKey },
  )
}

/** Keys for the warehouse of the settings, and for others at its endpoint that have none of their own. */
function defaultCredentials(
  settings: Settings,
): Pick<WarehouseStoresOptions, 'defaultCredentials'> {
  const { s3AccessKeyId, s3SecretAccessKey, s3Endpoint, warehouseLocation } = settings
  if (s3AccessKeyId === undefined && s3SecretAccessKey === undefined) return {}
  if (s3AccessKeyId === undefined || s3SecretAccessKey === undefined) {
    throw new CommandError(
      EXIT_CODES.wrongUsage,
      'TIMELAKE_S3_ACCESS_KEY_ID and TIMELAKE_S3_SECRET_ACCESS_KEY belong together: set both or neither',
    )
  }
  const credentials = { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey }
  const location = warehouseLocation && normalizeLocation(warehouseLocation)
  return { defaultCredentials: { endpoint: s3Endpoint, location, credentials } }
}

function isLocalLocation(location: string): boolean {
  return location.startsWith('file:') || location.startsWith('/')
}
