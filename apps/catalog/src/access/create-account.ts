import {
  createAccount as createRow,
  findAccountById,
  type AccountKind,
  type AccountRow,
  type CreateAccountOutcome,
} from '@timelake/database/accounts'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import type { Catalog } from '../catalog/catalog.ts'
import { settleChange } from '../catalog/settle-change.ts'
import { AccountExistsError } from './access-errors.ts'
import { hashAccountSecret, newAccountSecret } from './account-secret.ts'

const ACCOUNTS_MAX = 10_000

/** What an operator says of a new account; issuer and subject exactly where the kind is not `service`. */
export interface AccountDraft {
  readonly name: string
  readonly kind: AccountKind
  readonly issuer: string | undefined
  readonly subject: string | undefined
  readonly description: string
}

/**
 * Makes an account without any grant, and answers the secret of a service account, which is told this once. Throws
 * InvalidInputError and AccountExistsError.
 */
export async function createAccount(
  { access, context }: Catalog,
  draft: AccountDraft,
): Promise<{ readonly row: AccountRow; readonly secret: string | undefined }> {
  const { database } = context
  const id = context.newUuid()
  const secret = draft.kind === 'service' ? newAccountSecret() : undefined
  const account = {
    ...draft,
    id,
    secret:
      secret === undefined
        ? undefined
        : { id: context.newUuid(), hash: await hashAccountSecret(secret) },
    nowMs: context.nowMs(),
    countMax: ACCOUNTS_MAX,
  }
  const created = await settleChange<CreateAccountOutcome>({
    what: 'the new account',
    send: () => createRow(database, account),
    isApplied: ({ outcome }) => outcome === 'created',
    findApplied: async () => {
      const row = await findAccountById(database, id)
      return row && { outcome: 'created', row }
    },
  })
  access.directory.forget()
  switch (created.outcome) {
    case 'created':
      context.log.info({ account: draft.name, kind: draft.kind }, 'account created')
      return { row: created.row, secret }
    case 'exists':
      throw new AccountExistsError(created.row.name)
    case 'too-many':
      throw new InvalidInputError(`expected at most ${ACCOUNTS_MAX} accounts, found as many`)
  }
}
