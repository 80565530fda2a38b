import type { WebhookRow } from '@timelake/database/webhook-row'
import { SealedTextError, SecretKeyError, type SecretBox } from '@timelake/storage/secret-box'
import {
  decodeWebhookSecret,
  secretContext,
} from '@timelake/timelake/contract/webhooks/webhook-secret'

/** The keys that sign for a webhook, the newest first; undefined when this process cannot open them. */
export function openKeys(
  { secretBox, nowMs }: { readonly secretBox: SecretBox; nowMs(): number },
  { id, sealedSecret, sealedOldSecret, oldSecretUntilMs = 0 }: WebhookRow,
): readonly Uint8Array[] | undefined {
  const isOldValid = sealedOldSecret !== undefined && nowMs() < oldSecretUntilMs
  const sealed = isOldValid ? [sealedSecret, sealedOldSecret] : [sealedSecret]
  try {
    return sealed.map((text) =>
      decodeWebhookSecret(secretBox.open(text, secretContext(id)), 'secret'),
    )
  } catch (error) {
    if (error instanceof SealedTextError || error instanceof SecretKeyError) return undefined
    throw error
  }
}
