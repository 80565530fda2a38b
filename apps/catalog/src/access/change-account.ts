import {
  deleteAccount as deleteRow,
  findAccessById,
  findAccount,
  findAccountById,
  rotateAccountSecret,
  updateAccount,
  type AccountRow,
} from '@timelake/database/accounts'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import type { Catalog } from '../catalog/catalog.ts'
import { settleChange } from '../catalog/settle-change.ts'
import { AccountChangedError, NoSuchAccountError } from './access-errors.ts'
import { hashAccountSecret, newAccountSecret } from './account-secret.ts'

/** What an operator changes of an account: absent members stay. */
export interface AccountChange {
  readonly description?: string | undefined
  readonly isDisabled?: boolean | undefined
  readonly expectedVersion?: bigint | undefined
}

/** The account of this name. Throws NoSuchAccountError. */
export async function accountByName({ context }: Catalog, name: string): Promise<AccountRow> {
  const row = await findAccount(context.database, name)
  if (row === undefined) throw new NoSuchAccountError(name)
  return row
}

/**
 * Changes an account. A disabled one is refused from the next request on; other processes see it after
 * TIMELAKE_ACCESS_MAX_AGE. Throws NoSuchAccountError and AccountChangedError.
 */
export async function changeAccount(
  catalog: Catalog,
  name: string,
  change: AccountChange,
): Promise<AccountRow> {
  const { database, log, nowMs } = catalog.context
  const row = await accountByName(catalog, name)
  const { expectedVersion = row.version, isDisabled } = change
  if (expectedVersion !== row.version) throw new AccountChangedError(name, expectedVersion)
  const disabledAtMs = isDisabled === false ? undefined : row.disabledAtMs
  const update = {
    id: row.id,
    expectedVersion,
    description: change.description ?? row.description,
    disabledAtMs: isDisabled === true ? (disabledAtMs ?? nowMs()) : disabledAtMs,
    nowMs: nowMs(),
  }
  const updated = await settleChange<AccountRow | undefined>({
    what: 'the change of the account',
    send: () => updateAccount(database, update),
    isApplied: (found) => found !== undefined,
    findApplied: async () => {
      const found = await findAccountById(database, row.id)
      const isOurs =
        found?.version === expectedVersion + 1n &&
        found.description === update.description &&
        found.disabledAtMs === update.disabledAtMs
      return isOurs ? found : undefined
    },
  })
  catalog.access.directory.forget()
  if (updated === undefined) throw new AccountChangedError(name, expectedVersion)
  log.info({ account: name, isDisabled: updated.disabledAtMs !== undefined }, 'account changed')
  return updated
}

/**
 * Gives a service account another secret, which is told this once; the one before is valid for as long as is asked for, and
 * with it the tokens that were got with it. Throws NoSuchAccountError and InvalidInputError.
 */
export async function rotateSecret(
  catalog: Catalog,
  name: string,
  { oldSecretForMs }: { readonly oldSecretForMs: number },
): Promise<{ readonly secret: string; readonly oldSecretUntilMs: number }> {
  const { database, log, newUuid, nowMs } = catalog.context
  const row = await accountByName(catalog, name)
  if (row.kind !== 'service') {
    throw new InvalidInputError(`expected a service account, found a ${row.kind} one`, 'name')
  }
  const secret = newAccountSecret()
  const atMs = nowMs()
  const rotation = {
    accountId: row.id,
    secret: { id: newUuid(), hash: await hashAccountSecret(secret) },
    oldValidUntilMs: atMs + oldSecretForMs,
    nowMs: atMs,
  }
  const rotated = await settleChange<AccountRow | undefined>({
    what: 'the rotation of the secret',
    send: () => rotateAccountSecret(database, rotation),
    isApplied: (found) => found !== undefined,
    findApplied: async () => {
      const found = await findAccessById(database, row.id)
      const isOurs = found?.secrets.some(({ id }) => id === rotation.secret.id)
      return isOurs === true ? found?.account : undefined
    },
  })
  catalog.access.directory.forget()
  if (rotated === undefined) throw new NoSuchAccountError(name)
  log.info({ account: name }, 'secret of account rotated')
  return { secret, oldSecretUntilMs: rotation.oldValidUntilMs }
}

/** Forgets an account with its secrets and grants: its tokens end. Throws NoSuchAccountError. */
export async function deleteAccount(catalog: Catalog, name: string): Promise<void> {
  const { database, log } = catalog.context
  const { id } = await accountByName(catalog, name)
  await settleChange<'deleted' | 'missing'>({
    what: 'the removal of the account',
    send: () => deleteRow(database, { id }),
    isApplied: (outcome) => outcome === 'deleted',
    findApplied: async () =>
      (await findAccountById(database, id)) === undefined ? 'deleted' : undefined,
  })
  catalog.access.directory.forget()
  log.info({ account: name }, 'account deleted')
}
