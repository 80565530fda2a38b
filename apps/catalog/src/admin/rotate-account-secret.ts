import { rotateSecret } from '../access/change-account.ts'
import { NO_STORE } from '../access/oauth-error.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { readOptionalJson, type RouteCall } from '../http/route.ts'
import { accountInPath } from './account-in-path.ts'
import { decodeSecretRotation } from './account-json.ts'

/** POST /admin/v1/accounts/{name}/secret: another secret; the one before is valid for as long as is asked for. */
export async function rotateAccountSecret(call: RouteCall): Promise<HttpAnswer> {
  const name = accountInPath(call)
  const rotation = decodeSecretRotation(await readOptionalJson(call))
  const { secret, oldSecretUntilMs } = await rotateSecret(call.catalog, name, rotation)
  const answer = jsonAnswer({
    'client-id': name,
    secret,
    'old-secret-until-ms': BigInt(oldSecretUntilMs),
  })
  return { ...answer, headers: { ...answer.headers, ...NO_STORE } }
}
