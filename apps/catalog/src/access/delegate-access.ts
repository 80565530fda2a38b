import { assertNever } from '@timelake/iceberg/spec/invariant'
import type { RemoteSigningConfig, StorageCredential } from '@timelake/iceberg/rest/load-table-json'
import {
  UnvendableScopeError,
  VENDED_LIFE_MS_MIN,
  type AccessBroker,
  type AccessScope,
} from '@timelake/storage/access-broker'
import { StoreUnavailableError } from '@timelake/storage/object-store'
import type { TableRow } from '@timelake/database/table-row'
import type { SessionCredentials } from '@timelake/storage/session-credentials'
import { storageProperties } from '../catalog/storage-properties.ts'
import type { TableIdentifier } from '../catalog/table-identifier.ts'
import type { DelegationMode, Warehouse } from '../catalog/warehouse.ts'
import type { RouteCall } from '../http/route.ts'
import { includesRole, type Role } from './caller.ts'
import { noteAccess } from './note-access.ts'
import { formerRootsOf, prefixOf, scopeOf, type ScopedTable } from './table-scope.ts'

export const DELEGATION_HEADER = 'x-iceberg-access-delegation'
/** Where a signed ticket travels: in the query of our own routes, and in the properties of requests to sign. */
export const TICKET_PARAMETER = 'ticket'

/** How a caller reaches the objects of a table. Both parts of it hold the same, because clients read one or the other. */
export interface DelegatedAccess {
  readonly config: Readonly<Record<string, string>>
  readonly storageCredentials: readonly StorageCredential[]
  readonly remoteSigningConfig?: RemoteSigningConfig
}

/** A table that access is asked for. */
export interface DelegationTarget extends ScopedTable {
  readonly warehouse: Warehouse
  readonly identifier: TableIdentifier
  /** Absent for a table that is staged, or was made just now. */
  readonly row?: TableRow
  /** Of the scan that the access is for: it is read only. */
  readonly planId?: string
  /** Of a table that is staged and not committed. */
  readonly ticket?: string
}

const NO_ACCESS: DelegatedAccess = { config: {}, storageCredentials: [] }

/**
 * What the warehouse gives this caller of what the caller asked for in X-Iceberg-Access-Delegation: the first of the
 * warehouse's modes that was asked for and can be given. Nothing for callers who ask for nothing, for local warehouses,
 * and where no mode can be given. Throws StoreUnavailableError. Spec: REST catalog, LoadTableResult.config.
 */
export async function delegatedAccess(
  call: RouteCall,
  target: DelegationTarget,
): Promise<DelegatedAccess> {
  return (await findAccess(call, target)) ?? NO_ACCESS
}

/** Whether `findAccess` may find anything; without a look at the table. */
export function isAccessAsked({ request }: RouteCall, { settings }: Warehouse): boolean {
  const header = request.header(DELEGATION_HEADER)
  if (header === undefined || settings.delegation.length === 0) return false
  const asked = askedModes(header)
  return settings.delegation.some((mode) => asked.has(ASKED_AS[mode]))
}

/** The same as `delegatedAccess`, undefined for nothing. */
export async function findAccess(
  call: RouteCall,
  target: DelegationTarget,
): Promise<DelegatedAccess | undefined> {
  if (!isAccessAsked(call, target.warehouse)) return undefined
  const asked = askedModes(call.request.header(DELEGATION_HEADER) ?? '')
  return giveFirst(
    call,
    target,
    target.warehouse.settings.delegation.filter((mode) => asked.has(ASKED_AS[mode])),
  )
}

/**
 * The same for a table that has been made just now: when the store cannot give anything, the answer is the table alone. An
 * error would say that there is none.
 */
export async function findAccessToNew(
  call: RouteCall,
  target: DelegationTarget,
): Promise<DelegatedAccess | undefined> {
  try {
    return await findAccess(call, target)
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error
    call.catalog.context.log.warn({ err: error }, 'a new table is answered without access to it')
    return undefined
  }
}

/** Credentials for whoever asks for them by their own route. Empty where the warehouse gives none to this caller. */
export async function findCredentials(
  call: RouteCall,
  target: DelegationTarget,
): Promise<readonly StorageCredential[]> {
  const modes = target.warehouse.settings.delegation.filter((mode) => mode !== 'remote-signing')
  const access = await giveFirst(call, target, modes)
  return access?.storageCredentials ?? []
}

/** What clients call the modes: to them static keys are credentials like others. */
const ASKED_AS: Readonly<Record<DelegationMode, string>> = {
  'vended-credentials': 'vended-credentials',
  'static-keys': 'vended-credentials',
  'remote-signing': 'remote-signing',
}

function askedModes(header: string): ReadonlySet<string> {
  return new Set(header.split(',').map((mode) => mode.trim().toLowerCase()))
}

async function giveFirst(
  call: RouteCall,
  target: DelegationTarget,
  modes: readonly DelegationMode[],
): Promise<DelegatedAccess | undefined> {
  const { warehouse, identifier } = target
  const broker = call.catalog.context.stores.brokerOf(warehouse.row)
  const role = call.caller.grants.roleAt(warehouse.id, identifier.levels)
  if (broker === undefined || role === undefined) return undefined
  const { row, formerRoots } = target
  const moved =
    row === undefined || formerRoots !== undefined ? {} : await formerRootsOf(call.catalog, row)
  for (const mode of modes) {
    const offer = { mode, broker, role }
    const access = await giveIfPossible(call, { ...target, ...moved }, offer)
    if (access !== undefined) return access
  }
  return undefined
}

interface Offer {
  readonly mode: DelegationMode
  readonly broker: AccessBroker
  readonly role: Role
}

async function giveIfPossible(
  call: RouteCall,
  target: DelegationTarget,
  offer: Offer,
): Promise<DelegatedAccess | undefined> {
  try {
    return await give(call, target, offer)
  } catch (error) {
    if (!(error instanceof UnvendableScopeError)) throw error
    const { warehouse, metadata } = target
    const fields = { warehouse: warehouse.name, table: metadata.tableUuid, mode: offer.mode }
    call.catalog.context.log.warn({ ...fields, err: error }, 'a way of access cannot be given')
    return undefined
  }
}

async function give(
  call: RouteCall,
  target: DelegationTarget,
  { mode, broker, role }: Offer,
): Promise<DelegatedAccess | undefined> {
  const { tableUuid } = target.metadata
  switch (mode) {
    case 'vended-credentials': {
      const mayWrite = includesRole(role, 'writer') && target.planId === undefined
      const access = mayWrite ? 'write' : 'read'
      const session = await vend(call, broker, scopeOf(target, access))
      const { accessKeyId } = session
      noteAccess(call, { mode, access, tableUuid, accessKeyId })
      return credentialsAccess(target, session)
    }
    case 'static-keys':
      // They open the whole warehouse and let everything be changed there.
      if (!includesRole(call.caller.grants.roleAt(target.warehouse.id), 'writer')) return undefined
      noteAccess(call, { mode, access: 'write', tableUuid })
      return credentialsAccess(target, await broker.keys())
    case 'remote-signing':
      // What is signed is noted when it is signed.
      return signingAccess(target)
    default:
      return assertNever(mode, 'delegation mode')
  }
}

/** A session for the scope alone, with the expiry that the caller is told. */
async function vend(
  { catalog, caller }: RouteCall,
  broker: AccessBroker,
  scope: AccessScope,
): Promise<SessionCredentials> {
  const { credentialsLifetimeMs: durationMs } = catalog.config.delegation
  if (durationMs >= VENDED_LIFE_MS_MIN) {
    return broker.vend(scope, { sessionName: caller.id, durationMs })
  }
  // A name for each half of the time, because the store's sessions last longer than what callers are told.
  const halfMs = durationMs / 2
  const half = Math.floor(catalog.context.nowMs() / halfMs)
  const sessionName = `${caller.id}@${half}`
  const session = await broker.vend(scope, { sessionName, durationMs: VENDED_LIFE_MS_MIN })
  return { ...session, expiresAtMs: Math.floor((half + 2) * halfMs) }
}

function credentialsAccess(
  target: DelegationTarget,
  credentials: SessionCredentials,
): DelegatedAccess {
  const { accessKeyId, secretAccessKey, sessionToken, expiresAtMs } = credentials
  const config = {
    ...clientProperties(target.warehouse),
    's3.access-key-id': accessKeyId,
    's3.secret-access-key': secretAccessKey,
    ...(sessionToken === undefined ? {} : { 's3.session-token': sessionToken }),
    ...(expiresAtMs === undefined
      ? {}
      : {
          's3.session-token-expires-at-ms': String(expiresAtMs),
          'client.refresh-credentials-endpoint': tablePath(target, 'credentials'),
        }),
  }
  return { config, storageCredentials: [{ prefix: prefixOf(target), config }] }
}

/** The endpoint is relative to the catalog's URI, which clients know better than the server, in every spelling. */
function signingAccess(target: DelegationTarget): DelegatedAccess {
  const endpoint = tablePath(target, 'sign')
  const config = {
    ...clientProperties(target.warehouse),
    's3.remote-signing-enabled': 'true',
    'signer.endpoint': endpoint,
    's3.signer.endpoint': endpoint,
    // PyIceberg's other FileIO cannot have requests signed.
    's3.signer': 'S3V4RestSigner',
    'py-io-impl': 'pyiceberg.io.fsspec.FsspecFileIO',
  }
  const { ticket } = target
  if (ticket === undefined) return { config, storageCredentials: [] }
  const remoteSigningConfig = { properties: { [TICKET_PARAMETER]: ticket } }
  return { config, storageCredentials: [], remoteSigningConfig }
}

/** Where the store is, as clients of this warehouse are told elsewhere. */
function clientProperties({ row, settings }: Warehouse): Record<string, string> {
  const { defaults, overrides } = settings
  return Object.fromEntries(
    Object.entries(storageProperties(row)).map(([key, value]) => [
      key,
      overrides[key] ?? defaults[key] ?? value,
    ]),
  )
}

/** Relative to the catalog's URI. */
function tablePath({ warehouse, identifier, ticket }: DelegationTarget, leaf: string): string {
  const namespace = identifier.levels.map(encodeURIComponent).join('%1F')
  const table = `namespaces/${namespace}/tables/${encodeURIComponent(identifier.name)}`
  const path = `v1/${encodeURIComponent(warehouse.name)}/${table}/${leaf}`
  return ticket === undefined ? path : `${path}?${TICKET_PARAMETER}=${ticket}`
}
