import { createAccount as createCatalogAccount } from '../access/create-account.ts'
import { NO_STORE } from '../access/oauth-error.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { readJson, type RouteCall } from '../http/route.ts'
import { accountJson, decodeAccountDraft } from './account-json.ts'

/** POST /admin/v1/accounts: the only answer beside that of a rotation that holds the secret. */
export async function createAccount(call: RouteCall): Promise<HttpAnswer> {
  const { catalog } = call
  const draft = decodeAccountDraft(await readJson(call), catalog.config.access)
  call.subject.object = draft.name
  const { row, secret } = await createCatalogAccount(catalog, draft)
  const credentials = secret === undefined ? {} : { 'client-id': row.name, secret }
  const answer = jsonAnswer({ ...accountJson(row), ...credentials }, 201)
  return { ...answer, headers: { ...answer.headers, ...NO_STORE } }
}
