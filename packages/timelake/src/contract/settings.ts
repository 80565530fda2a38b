import { ACCESS_SETTINGS } from './access-settings.ts'
import { DELEGATION_SETTINGS } from './delegation-settings.ts'
import { FAULT_POINTS, type FaultPoint } from './fault-points.ts'
import { nearestName } from './nearest-name.ts'
import {
  bytes,
  choice,
  count,
  duration,
  list,
  listOf,
  text,
  toggle,
  type SettingDefinition,
} from './setting-kinds.ts'
import { PLANNING_SETTINGS } from './planning-settings.ts'
import { parseRange, type AddressRange } from './webhooks/address-ranges.ts'

/** A setting whose text is wrong, or a variable that does not exist. The message is a whole sentence. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly variable: string
  constructor(variable: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.variable = variable
  }
}

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const KIB = 1_024
const MIB = 1_048_576
const GIB = 1_073_741_824

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/**
 * Every setting that a Timelake process reads from its environment, in the order of the README's table.
 * Table settings (per table, stored as table properties) are declared elsewhere.
 */
export const SETTINGS = {
  host: text({
    variable: 'TIMELAKE_HOST',
    default: '127.0.0.1',
    doc: 'Address to listen on. Anything but a loopback address makes the catalog reachable from other machines: set a token too.',
  }),
  port: count({
    variable: 'TIMELAKE_PORT',
    default: '8181',
    min: 0,
    max: 65_535,
    doc: 'Port to listen on; 0 picks a free one.',
  }),
  dataDirectory: text({
    variable: 'TIMELAKE_DATA_DIR',
    default: './data',
    doc: 'Directory of the database, the warehouse and the working files of jobs. One process at a time may use it.',
  }),
  databaseUrl: text({
    variable: 'TIMELAKE_DATABASE_URL',
    default: undefined,
    isSecret: true,
    doc: 'PostgreSQL (15 or newer) that holds the catalog, `postgres://user:password@host:5432/database`. Unset: an embedded database in the data directory.',
  }),
  databaseConnectionsMax: count({
    variable: 'TIMELAKE_DATABASE_CONNECTIONS_MAX',
    default: '10',
    min: 2,
    max: 1_000,
    doc: 'Connections that this process opens to PostgreSQL at most.',
  }),
  redisUrl: text({
    variable: 'TIMELAKE_REDIS_URL',
    default: undefined,
    isSecret: true,
    doc: 'Redis or Valkey that carries the messages of jobs, `redis://:password@host:6379`. Needed by workers on PostgreSQL; losing it loses no work.',
  }),
  secretKey: text({
    variable: 'TIMELAKE_SECRET_KEY',
    default: undefined,
    isSecret: true,
    doc: 'Key that seals the credentials of warehouses and the secrets of webhooks: 32 bytes in base64 (`openssl rand -base64 32`). All processes on one database need the same one.',
  }),
  previousSecretKey: text({
    variable: 'TIMELAKE_PREVIOUS_SECRET_KEY',
    default: undefined,
    isSecret: true,
    doc: 'The key before TIMELAKE_SECRET_KEY, while it is being replaced: still opens what it sealed.',
  }),
  warehouseLocation: text({
    variable: 'TIMELAKE_WAREHOUSE_LOCATION',
    default: undefined,
    doc: 'Where the warehouse `main` lies, for example `s3://lake/main`; made at the first start. Unset: a folder of the data directory.',
  }),
  s3Endpoint: text({
    variable: 'TIMELAKE_S3_ENDPOINT',
    default: undefined,
    doc: 'Endpoint of the S3-compatible store of TIMELAKE_WAREHOUSE_LOCATION, `http(s)://host:port`. Unset: AWS.',
  }),
  s3Region: text({
    variable: 'TIMELAKE_S3_REGION',
    default: 'us-east-1',
    doc: 'Its region.',
  }),
  s3AccessKeyId: text({
    variable: 'TIMELAKE_S3_ACCESS_KEY_ID',
    default: undefined,
    doc: 'Its access key; with TIMELAKE_S3_SECRET_ACCESS_KEY. Unset: the identity of the machine, as the AWS SDK finds it.',
  }),
  s3SecretAccessKey: text({
    variable: 'TIMELAKE_S3_SECRET_ACCESS_KEY',
    default: undefined,
    isSecret: true,
    doc: 'Its secret key.',
  }),
  isS3PathStyle: toggle({
    variable: 'TIMELAKE_S3_PATH_STYLE',
    default: 'on',
    doc: 'Whether the bucket stands in the path (most stores) or in the host name (AWS).',
  }),
  token: text({
    variable: 'TIMELAKE_TOKEN',
    default: undefined,
    isSecret: true,
    doc: 'Bearer token of the operator, who may do everything. The commands of the CLI send it.',
  }),
  ...ACCESS_SETTINGS,
  uri: text({
    variable: 'TIMELAKE_URI',
    default: 'http://127.0.0.1:8181',
    doc: 'Where `timelake info` and `timelake maintain` find the running server.',
  }),
  migrateFromToken: text({
    variable: 'TIMELAKE_MIGRATE_FROM_TOKEN',
    default: undefined,
    isSecret: true,
    doc: 'Bearer token for the catalog that `timelake migrate --from` reads. Unset: TIMELAKE_TOKEN if it is the server at TIMELAKE_URI.',
  }),
  migrateToToken: text({
    variable: 'TIMELAKE_MIGRATE_TO_TOKEN',
    default: undefined,
    isSecret: true,
    doc: 'Bearer token for the catalog that `timelake migrate --to` writes to. Unset: TIMELAKE_TOKEN if it is the server at TIMELAKE_URI.',
  }),
  logLevel: choice(LOG_LEVELS, {
    variable: 'TIMELAKE_LOG_LEVEL',
    default: 'info',
    doc: 'Least important log line that is written: fatal, error, warn, info, debug, trace or silent.',
  }),
  allowedHosts: list({
    variable: 'TIMELAKE_ALLOWED_HOSTS',
    default: '',
    doc: 'Further values of the Host header to answer, beside loopback names and TIMELAKE_HOST.',
  }),
  allowedOrigins: list({
    variable: 'TIMELAKE_ALLOWED_ORIGINS',
    default: '',
    doc: 'Values of the Origin header (web pages) to answer. Requests without Origin are always answered.',
  }),
  extraAllowedLocations: list({
    variable: 'TIMELAKE_EXTRA_ALLOWED_LOCATIONS',
    default: '',
    doc: 'Location prefixes outside the warehouse where tables may lie, for example `file:///mnt/old-lake`.',
  }),
  bodyBytesMax: bytes({
    variable: 'TIMELAKE_BODY_BYTES_MAX',
    default: '32MiB',
    min: 64 * KIB,
    max: GIB,
    doc: 'Largest request body.',
  }),
  pageSizeMax: count({
    variable: 'TIMELAKE_PAGE_SIZE_MAX',
    default: '1000',
    min: 1,
    max: 100_000,
    doc: 'Most entries in one page of a listing; a client may ask for fewer.',
  }),
  metadataBytesMax: bytes({
    variable: 'TIMELAKE_METADATA_BYTES_MAX',
    default: '256MiB',
    min: MIB,
    max: 2 * GIB,
    doc: 'Largest table metadata file that is read or written, uncompressed. Never more than a sixth of the heap.',
  }),
  metadataCacheBytesMax: bytes({
    variable: 'TIMELAKE_METADATA_CACHE_BYTES_MAX',
    default: '128MiB',
    min: 0,
    max: 64 * GIB,
    doc: 'Memory for decoded and encoded table metadata.',
  }),
  ...PLANNING_SETTINGS,
  ...DELEGATION_SETTINGS,
  commitQueueDepthMax: count({
    variable: 'TIMELAKE_COMMIT_QUEUE_DEPTH_MAX',
    default: '1000',
    min: 1,
    max: 100_000,
    doc: 'Commits that may wait for one table; further ones are held for a moment, then answered 409 if they are stale and 503 if not.',
  }),
  commitQueueFullWaitMs: duration({
    variable: 'TIMELAKE_COMMIT_QUEUE_FULL_WAIT',
    default: '500ms',
    min: 0,
    max: 60_000,
    doc: 'How long a commit is held that finds the queue of its table full.',
  }),
  commitAttemptsMax: count({
    variable: 'TIMELAKE_COMMIT_ATTEMPTS_MAX',
    default: '10',
    min: 1,
    max: 1_000,
    doc: 'How often one commit is applied again after somebody else moved the table.',
  }),
  isTurnstileOn: toggle({
    variable: 'TIMELAKE_TURNSTILE',
    default: 'on',
    doc: 'Whether writers who race for one table take turns, by waiting for the answers to their loads; see docs/turnstile.md.',
  }),
  turnContendedForMs: duration({
    variable: 'TIMELAKE_TURNSTILE_CONTENDED_FOR',
    default: '3s',
    min: 100,
    max: HOUR_MS,
    doc: 'How long writers of a table take turns after one of them lost a race there.',
  }),
  turnHoldMsMax: duration({
    variable: 'TIMELAKE_TURNSTILE_HOLD_MAX',
    default: '3s',
    min: 25,
    max: 60_000,
    doc: 'The longest that one writer keeps the others waiting, from the answer to its load to its commit.',
  }),
  turnWaitMsMax: duration({
    variable: 'TIMELAKE_TURNSTILE_WAIT_MAX',
    default: '45s',
    min: 100,
    max: 10 * 60_000,
    doc: 'The longest that a load waits for its turn; then it is answered anyway, and so is a commit of DuckDB after 20 seconds. Keep it below the time that clients and proxies wait.',
  }),
  idempotencyLifetimeMs: duration({
    variable: 'TIMELAKE_IDEMPOTENCY_LIFETIME',
    default: '24h',
    min: 60 * SECOND_MS,
    max: 30 * DAY_MS,
    doc: 'How long the outcome of a request with an Idempotency-Key is remembered.',
  }),
  idempotencyLeaseMs: duration({
    variable: 'TIMELAKE_IDEMPOTENCY_LEASE',
    default: '60s',
    min: SECOND_MS,
    max: HOUR_MS,
    doc: 'How long a running request holds its key; after that a repeat takes over.',
  }),
  drainTimeoutMs: duration({
    variable: 'TIMELAKE_DRAIN_TIMEOUT',
    default: '20s',
    min: 0,
    max: HOUR_MS,
    doc: 'How long a stopping process waits for requests and jobs that have begun.',
  }),
  isMaintenanceEnabled: toggle({
    variable: 'TIMELAKE_MAINTENANCE',
    default: 'on',
    doc: 'Whether this process runs maintenance jobs. `off` leaves tables as clients wrote them.',
  }),
  compactionQuietMs: duration({
    variable: 'TIMELAKE_COMPACTION_QUIET',
    default: '3s',
    min: 0,
    max: DAY_MS,
    doc: 'A table is looked at once its commits have paused this long.',
  }),
  compactionFileCount: count({
    variable: 'TIMELAKE_COMPACTION_FILE_COUNT',
    default: '100',
    min: 2,
    max: 1_000_000,
    doc: 'A table is looked at without waiting for a pause after this many commits.',
  }),
  purgeGraceMs: duration({
    variable: 'TIMELAKE_PURGE_GRACE',
    default: '10s',
    min: 0,
    max: 30 * DAY_MS,
    doc: 'How long after a drop with `purgeRequested=true` the files of the table are left alone.',
  }),
  eventRetentionMs: duration({
    variable: 'TIMELAKE_EVENT_RETENTION',
    default: '7d',
    min: 60 * SECOND_MS,
    max: 3_650 * DAY_MS,
    doc: 'How long events can be read, see `/lake/v1/{prefix}/events`. Workers forget older ones, once they have acted on them.',
  }),
  isWebhooksEnabled: toggle({
    variable: 'TIMELAKE_WEBHOOKS',
    default: 'on',
    doc: 'Whether this process sends events to webhooks. Processes on one database share the work.',
  }),
  webhookAllowedAddresses: listOf(readRange, {
    variable: 'TIMELAKE_WEBHOOK_ALLOWED_ADDRESSES',
    default: '',
    doc: 'Addresses and ranges beside public ones where webhooks may lead, over http too, for example `10.0.0.0/8,127.0.0.1`. All processes on one database need the same ones.',
  }),
  webhookTimeoutMs: duration({
    variable: 'TIMELAKE_WEBHOOK_TIMEOUT',
    default: '10s',
    min: SECOND_MS,
    max: 60 * SECOND_MS,
    doc: 'How long a webhook waits for the answer to one event.',
  }),
  jobConcurrency: count({
    variable: 'TIMELAKE_JOB_CONCURRENCY',
    default: '1',
    min: 1,
    max: 64,
    doc: 'Maintenance jobs that run at the same time, each with its own child process.',
  }),
  jobMemoryBytesMax: bytes({
    variable: 'TIMELAKE_JOB_MEMORY_BYTES_MAX',
    default: '512MiB',
    min: 64 * MIB,
    max: 1_024 * GIB,
    doc: 'Memory that one merging child process may use before it spills to disk.',
  }),
  jobDiskBytesMax: bytes({
    variable: 'TIMELAKE_JOB_DISK_BYTES_MAX',
    default: '16GiB',
    min: 64 * MIB,
    max: 1_024 * GIB,
    doc: 'Disk that one job may use for inputs and outputs of a merge on an object store; what does not fit waits for a later run.',
  }),
  jobDeadlineMs: duration({
    variable: 'TIMELAKE_JOB_DEADLINE',
    default: '30m',
    min: SECOND_MS,
    max: DAY_MS,
    doc: 'A job that runs longer is stopped and counted as failed.',
  }),
  faultPoint: choice<FaultPoint, undefined>(FAULT_POINTS, {
    variable: 'TIMELAKE_FAULT_POINT',
    default: undefined,
    doc: 'For crash tests only: the process kills itself at this step.',
  }),
  faultHit: count({
    variable: 'TIMELAKE_FAULT_HIT',
    default: '1',
    min: 1,
    max: 1_000_000,
    doc: 'For crash tests only: which time the step is reached counts.',
  }),
  faultProofFile: text({
    variable: 'TIMELAKE_FAULT_PROOF',
    default: undefined,
    doc: 'For crash tests only: file that gets one line with the step before the process dies.',
  }),
} as const

export type SettingKey = keyof typeof SETTINGS

type ValueOf<D> = D extends SettingDefinition<infer Value> ? Value : never

/** The settings of one process, by the keys of SETTINGS; `…Ms` in milliseconds, `…BytesMax` in bytes. */
export type Settings = { readonly [Key in SettingKey]: ValueOf<(typeof SETTINGS)[Key]> }

const PREFIX = 'TIMELAKE_'

/**
 * The settings in an environment, defaults filled in. Pure: the caller passes the environment.
 * Throws SettingsError for the first variable, in name order, that starts with TIMELAKE_ and is unknown, empty or malformed; the
 * message names the variable, what was expected and what was found (never the text of a secret).
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  refuseUnknownVariables(env)
  const entries = Object.entries(SETTINGS).map(([key, definition]) => [
    key,
    readSetting(definition, env[definition.variable]),
  ])
  // `as`: the keys and value types are those of SETTINGS by construction.
  return Object.fromEntries(entries) as Settings
}

function refuseUnknownVariables(env: Readonly<Record<string, string | undefined>>): void {
  const known = Object.values(SETTINGS).map(({ variable }) => variable)
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith(PREFIX) && !known.includes(name),
  )
  const [first] = unknown.sort()
  if (first === undefined) return
  const near = nearestName(first, known)
  const hint = near === undefined ? 'see the table in README.md' : `did you mean ${near}?`
  throw new SettingsError(first, `${first} is not a setting of Timelake: ${hint}`)
}

function readSetting(definition: SettingDefinition<unknown>, found: string | undefined): unknown {
  const written = found ?? definition.defaultText
  if (written === undefined) return undefined
  try {
    if (found === '') throw new Error('a value, or no variable at all')
    return definition.read(written)
  } catch (cause) {
    const shown = definition.isSecret ? 'another text' : JSON.stringify(written)
    const expected = (cause as Error).message
    const sentence = `${definition.variable} is wrong: expected ${expected}, found ${shown}`
    throw new SettingsError(definition.variable, sentence, { cause })
  }
}

function readRange(text: string): AddressRange {
  const range = parseRange(text)
  if (range === undefined)
    throw new Error('addresses or ranges such as 10.0.0.0/8, separated by commas')
  return range
}
