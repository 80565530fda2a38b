import { grantRole } from '../access/change-grants.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { readJson, type RouteCall } from '../http/route.ts'
import { decodeGrantDraft, grantJson } from './account-json.ts'

/** POST /admin/v1/grants: a role at a place, instead of the one that the account had there. */
export async function createGrant(call: RouteCall): Promise<HttpAnswer> {
  const draft = decodeGrantDraft(await readJson(call))
  const place =
    draft.warehouse === undefined
      ? 'everywhere'
      : `in ${[draft.warehouse, ...draft.levels].join('.')}`
  call.subject.object = draft.account
  call.subject.detail = `${draft.role} ${place}`
  const row = await grantRole(call.catalog, draft)
  const named = { ...row, accountName: draft.account, warehouseName: draft.warehouse }
  return jsonAnswer(grantJson(named), 201)
}
