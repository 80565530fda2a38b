import { findAccessById } from '@timelake/database/accounts'
import { listGrants } from '@timelake/database/grants'
import { NoSuchAccountError } from '../access/access-errors.ts'
import { accountByName } from '../access/change-account.ts'
import { checkName } from '../catalog/names.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { decodeSegment } from '../http/raw-path.ts'
import type { RouteCall } from '../http/route.ts'
import { accountJson, accountSecretJson, grantJson } from './account-json.ts'

/** More than an account may have. */
const GRANTS_SHOWN_MAX = 2_000

/** The account name in the path. Throws InvalidInputError for malformed or impossible names. */
export function accountInPath({ parameters }: RouteCall): string {
  const name = decodeSegment(parameters['name'] ?? '')
  checkName(name, 'name')
  return name
}

/** An account as it is now, with its grants and with what may be known of its secrets. Throws NoSuchAccountError. */
export async function accountAnswer({ catalog }: RouteCall, name: string): Promise<HttpAnswer> {
  const { database } = catalog.context
  const { id } = await accountByName(catalog, name)
  const access = await findAccessById(database, id)
  if (access === undefined) throw new NoSuchAccountError(name)
  const grants = await listGrants(database, { filter: { accountId: id }, limit: GRANTS_SHOWN_MAX })
  return jsonAnswer({
    ...accountJson(access.account),
    secrets: access.secrets.map(accountSecretJson),
    grants: grants.map(grantJson),
  })
}
