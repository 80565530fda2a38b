import { haveAccounts } from '@timelake/database/accounts'
import type { CatalogConfig } from '../catalog-config.ts'
import type { CatalogContext } from '../context.ts'
import { AccessDirectory } from './access-directory.ts'
import type { Authentication } from './authenticate.ts'
import { CheckClient } from './check-client.ts'
import { IdentityProviders } from './identity-providers.ts'
import type { TokenIssuer } from './issue-token.ts'
import { ServerKeys } from './server-keys.ts'

/** What a catalog knows of who may ask. */
export interface Access extends TokenIssuer {
  readonly identityProviders: IdentityProviders | undefined
}

/** Puts the parts together; nothing is read yet. */
export function openAccess(config: CatalogConfig, context: CatalogContext): Access {
  const { identityProviders: rules, maxAgeMs, tokenLifetimeMs } = config.access
  return {
    context,
    tokenLifetimeMs,
    tokenKeys: new ServerKeys(context, 'access-tokens'),
    directory: new AccessDirectory(context, { maxAgeMs }),
    clients: new CheckClient(context),
    identityProviders: rules && new IdentityProviders(rules, context),
  }
}

/**
 * How callers from the network prove who they are. `auto` means: not at all, unless there is something to prove it with; so an
 * account that was made on an open server closes it at its next start.
 */
export async function openAuthentication(
  { access: { authentication }, token }: CatalogConfig,
  { context, directory, tokenKeys, identityProviders }: Access,
): Promise<Authentication> {
  const { database, nowMs } = context
  const isRequired =
    authentication === 'required' ||
    (authentication === 'auto' &&
      (token !== undefined || identityProviders !== undefined || (await haveAccounts(database))))
  return { isRequired, token, tokenKeys, identityProviders, directory, nowMs }
}
