import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { SecretKeyError } from '@timelake/storage/secret-box'
import {
  encodeWebhookSecret,
  secretContext,
} from '@timelake/timelake/contract/webhooks/webhook-secret'
import type { CatalogContext } from '../context.ts'

/** The sealed secret for a webhook with this id. Throws InvalidInputError when this process has no key to seal with. */
export function sealWebhookKey(
  { secretBox }: CatalogContext,
  key: Uint8Array,
  webhookId: string,
): string {
  try {
    return secretBox.seal(encodeWebhookSecret(key), secretContext(webhookId))
  } catch (cause) {
    if (!(cause instanceof SecretKeyError)) throw cause
    throw new InvalidInputError(cause.message, 'secret', { cause })
  }
}
