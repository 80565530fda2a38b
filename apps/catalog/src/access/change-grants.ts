import { deleteGrant, listGrants, putGrant, type GrantRow } from '@timelake/database/grants'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { NoSuchWarehouseError } from '../catalog/catalog-errors.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { settleChange } from '../catalog/settle-change.ts'
import { NoSuchAccountError, NoSuchGrantError } from './access-errors.ts'
import type { Role } from './caller.ts'
import { accountByName } from './change-account.ts'

const GRANTS_OF_ACCOUNT_MAX = 1_000

/** A role for an account: everywhere, in a warehouse, or in a namespace of it and what is below. */
export interface GrantDraft {
  readonly account: string
  readonly warehouse: string | undefined
  readonly levels: readonly string[]
  readonly role: Role
}

/**
 * Gives an account a role at a place, instead of the one that it had there. The namespace need not exist. Throws
 * NoSuchAccountError, NoSuchWarehouseError and InvalidInputError.
 */
export async function grantRole(catalog: Catalog, draft: GrantDraft): Promise<GrantRow> {
  const { database, log, newUuid, nowMs } = catalog.context
  const account = await accountByName(catalog, draft.account)
  const warehouse =
    draft.warehouse === undefined ? undefined : await catalog.warehouses.byName(draft.warehouse)
  const grant = {
    id: newUuid(),
    accountId: account.id,
    warehouseId: warehouse?.id,
    levels: draft.levels,
    role: draft.role,
    nowMs: nowMs(),
    countMax: GRANTS_OF_ACCOUNT_MAX,
  }
  // Sent twice it is the same grant, so the second answer is as good as the first.
  const put = await settleChange({
    what: 'the grant',
    send: () => putGrant(database, grant),
    isApplied: ({ outcome }) => outcome === 'granted',
    findApplied: async () => undefined,
  })
  catalog.access.directory.forget()
  switch (put.outcome) {
    case 'granted':
      log.info({ account: account.name, grant: put.row.id, role: draft.role }, 'role granted')
      return put.row
    case 'no-account':
      throw new NoSuchAccountError(draft.account)
    case 'no-warehouse':
      throw new NoSuchWarehouseError(draft.warehouse ?? '')
    case 'too-many':
      throw new InvalidInputError(
        `expected at most ${GRANTS_OF_ACCOUNT_MAX} grants of account ${draft.account}, found as many`,
      )
  }
}

/** Takes a grant back. Throws NoSuchGrantError. */
export async function revokeGrant(catalog: Catalog, id: string): Promise<void> {
  const { database, log } = catalog.context
  const [known] = await listGrants(database, { filter: { id }, limit: 1 })
  if (known === undefined) throw new NoSuchGrantError(id)
  await settleChange<GrantRow | undefined>({
    what: 'the removal of the grant',
    send: () => deleteGrant(database, { id }),
    isApplied: (row) => row !== undefined,
    findApplied: async () => {
      const [found] = await listGrants(database, { filter: { id }, limit: 1 })
      return found === undefined ? known : undefined
    },
  })
  catalog.access.directory.forget()
  log.info({ account: known.accountName, grant: id }, 'grant taken back')
}
