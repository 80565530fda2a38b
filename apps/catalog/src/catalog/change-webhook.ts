import type { WebhookRow } from '@timelake/database/webhook-row'
import {
  deleteWebhook as deleteRow,
  findWebhook,
  findWebhookById,
  updateWebhook,
  type WebhookUpdate,
} from '@timelake/database/webhooks'
import { printJson } from '@timelake/iceberg/spec/json'
import { webhookFilterJson } from '@timelake/timelake/contract/webhooks/webhook-filter'
import type { CatalogContext } from '../context.ts'
import type { Catalog } from './catalog.ts'
import { sealWebhookKey } from './seal-webhook-key.ts'
import { settleChange } from './settle-change.ts'
import type { SecretRotation, WebhookChange } from './webhook-draft.ts'
import { NoSuchWebhookError, WebhookChangedError } from './webhook-errors.ts'

/** The webhook of this name. Throws NoSuchWebhookError. */
export async function webhookByName({ context }: Catalog, name: string): Promise<WebhookRow> {
  const row = await findWebhook(context.database, name)
  if (row === undefined) throw new NoSuchWebhookError(name)
  return row
}

/**
 * Changes a webhook; its sender sees it with its next pass, and a pause after failures is over. Throws NoSuchWebhookError,
 * InvalidInputError and WebhookChangedError.
 */
export async function changeWebhook(
  catalog: Catalog,
  name: string,
  change: WebhookChange,
): Promise<WebhookRow> {
  const { context } = catalog
  const row = await webhookByName(catalog, name)
  const { expectedVersion = row.version } = change
  if (expectedVersion !== row.version) throw new WebhookChangedError(name, expectedVersion)
  const update: WebhookUpdate = {
    id: row.id,
    expectedVersion,
    url: change.url?.href ?? row.url,
    filter: change.filter === undefined ? row.filter : printJson(webhookFilterJson(change.filter)),
    attemptsMax: change.attemptsMax ?? row.attemptsMax,
    retryForMs: change.retryForMs ?? row.retryForMs,
    ...secretsOf(context, row, change.rotation),
    pausedReason:
      change.pausedReason === null ? undefined : (change.pausedReason ?? row.pausedReason),
    nowMs: context.nowMs(),
  }
  const updated = await settleChange<WebhookRow | undefined>({
    what: 'the change of the webhook',
    send: () => updateWebhook(context.database, update),
    isApplied: (found) => found !== undefined,
    findApplied: async () => {
      const found = await findWebhookById(context.database, row.id)
      const isOurs =
        found?.version === expectedVersion + 1n &&
        found.url === update.url &&
        found.filter === update.filter &&
        found.sealedSecret === update.sealedSecret &&
        found.pausedReason === update.pausedReason
      return isOurs ? found : undefined
    },
  })
  if (updated === undefined) throw new WebhookChangedError(name, expectedVersion)
  context.log.info({ webhook: name, version: String(updated.version) }, 'webhook changed')
  return updated
}

function secretsOf(
  context: CatalogContext,
  row: WebhookRow,
  rotation: SecretRotation | undefined,
): Pick<WebhookRow, 'sealedSecret' | 'sealedOldSecret' | 'oldSecretUntilMs'> {
  const { sealedSecret, sealedOldSecret, oldSecretUntilMs } = row
  if (rotation === undefined) return { sealedSecret, sealedOldSecret, oldSecretUntilMs }
  return {
    sealedSecret: sealWebhookKey(context, rotation.key, row.id),
    sealedOldSecret: sealedSecret,
    oldSecretUntilMs: context.nowMs() + rotation.oldSecretForMs,
  }
}

/** Forgets a webhook and what waits for it. Throws NoSuchWebhookError. */
export async function deleteWebhook(catalog: Catalog, name: string): Promise<void> {
  const { context } = catalog
  const { database } = context
  const { id } = await webhookByName(catalog, name)
  await settleChange<'deleted' | 'missing'>({
    what: 'the removal of the webhook',
    send: () => deleteRow(database, { id }),
    isApplied: (outcome) => outcome === 'deleted',
    findApplied: async () =>
      (await findWebhookById(database, id)) === undefined ? 'deleted' : undefined,
  })
  context.log.info({ webhook: name }, 'webhook deleted')
}
