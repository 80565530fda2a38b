import { errors, jwtVerify, SignJWT } from 'jose'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { tableRootProperties } from '@timelake/iceberg/spec/table-roots'
import type { TableIdentifier } from '../catalog/table-identifier.ts'
import { OWN_ISSUER } from './access-token.ts'
import type { ServerKeys } from './server-keys.ts'

const ALGORITHM = 'HS256'
const TYPE = 'staged-table+jwt'
/** Longest ticket that is looked at; locations are bounded, so none that we sign is longer. */
const TICKET_CHARACTERS_MAX = 40_000

/** Who staged which table: a ticket is good for nobody and nothing else. */
export interface TicketHolder {
  readonly warehouseId: string
  readonly callerId: string
  readonly identifier: TableIdentifier
}

/** What of a staged table says where its objects are to be. */
export type StagedTable = Pick<TableMetadata, 'location' | 'properties' | 'tableUuid'>

/**
 * A staged table is kept nowhere, so its creator gets what the catalog must know of it to take along, signed: the folders, for
 * whom, and until when. Every process on the database proves what another one signed.
 */
export class StagedTickets {
  readonly #keys: ServerKeys
  readonly #nowMs: () => number
  readonly #lifetimeMs: number

  constructor(
    keys: ServerKeys,
    { nowMs, lifetimeMs }: { nowMs: () => number; lifetimeMs: number },
  ) {
    this.#keys = keys
    this.#nowMs = nowMs
    this.#lifetimeMs = lifetimeMs
  }

  /** The ticket for a table that the holder has staged just now. */
  async sign(holder: TicketHolder, table: StagedTable): Promise<string> {
    const key = await this.#keys.current()
    const { location, tableUuid, properties } = table
    return new SignJWT({ loc: location, uuid: tableUuid, folders: tableRootProperties(properties) })
      .setProtectedHeader({ alg: ALGORITHM, kid: key.id, typ: TYPE })
      .setIssuer(OWN_ISSUER)
      .setAudience(audienceOf(holder))
      .setSubject(holder.callerId)
      .setExpirationTime(Math.floor((this.#nowMs() + this.#lifetimeMs) / 1_000))
      .sign(key.bytes)
  }

  /** The staged table of a ticket; undefined for one that was not signed here for this holder, or is over. */
  async open(holder: TicketHolder, ticket: string): Promise<StagedTable | undefined> {
    if (ticket.length > TICKET_CHARACTERS_MAX) return undefined
    try {
      const { payload } = await jwtVerify<TicketClaims>(
        ticket,
        async ({ kid }) => {
          const key = kid === undefined ? undefined : await this.#keys.byId(kid)
          if (key === undefined) throw new errors.JWKSNoMatchingKey()
          return key.bytes
        },
        {
          algorithms: [ALGORITHM],
          issuer: OWN_ISSUER,
          audience: audienceOf(holder),
          subject: holder.callerId,
          typ: TYPE,
          currentDate: new Date(this.#nowMs()),
        },
      )
      return { location: payload.loc, tableUuid: payload.uuid, properties: payload.folders }
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined
      throw error
    }
  }
}

/** Written by `sign`, and proved by the signature before they are read. */
interface TicketClaims {
  readonly loc: string
  readonly uuid: string
  readonly folders: Readonly<Record<string, string>>
}

function audienceOf({ warehouseId, identifier }: TicketHolder): string {
  return JSON.stringify([warehouseId, ...identifier.levels, identifier.name])
}
