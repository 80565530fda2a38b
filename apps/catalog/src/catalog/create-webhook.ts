import { randomBytes } from 'node:crypto'
import type { WebhookRow } from '@timelake/database/webhook-row'
import {
  createWebhook as createRow,
  findWebhookById,
  type CreateWebhookOutcome,
} from '@timelake/database/webhooks'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { printJson } from '@timelake/iceberg/spec/json'
import { webhookFilterJson } from '@timelake/timelake/contract/webhooks/webhook-filter'
import { SECRET_BYTES } from '@timelake/timelake/contract/webhooks/webhook-secret'
import type { Catalog } from './catalog.ts'
import { sealWebhookKey } from './seal-webhook-key.ts'
import { settleChange } from './settle-change.ts'
import type { WebhookDraft } from './webhook-draft.ts'
import { WebhookExistsError } from './webhook-errors.ts'
import { placeOf } from './webhook-place.ts'

const WEBHOOKS_MAX = 100

/** A fresh secret. */
export function newWebhookKey(): Uint8Array {
  return randomBytes(SECRET_BYTES)
}

/**
 * Makes a webhook, which is sent to from then on, and answers its key, which is told this once. Throws InvalidInputError,
 * WebhookExistsError and EventsPrunedError.
 */
export async function createWebhook(
  { context }: Catalog,
  draft: WebhookDraft,
): Promise<{ readonly row: WebhookRow; readonly key: Uint8Array }> {
  const { database } = context
  const { name, url, filter, policy, key = newWebhookKey() } = draft
  const id = context.newUuid()
  const webhook = {
    ...{ id, name, ...policy },
    url: url.href,
    filter: printJson(webhookFilterJson(filter)),
    sealedSecret: sealWebhookKey(context, key, id),
    feedCursor: await placeOf(database, draft.after),
    pausedReason: undefined,
    nowMs: context.nowMs(),
    countMax: WEBHOOKS_MAX,
  }
  const created = await settleChange<CreateWebhookOutcome>({
    what: 'the new webhook',
    send: () => createRow(database, webhook),
    isApplied: ({ outcome }) => outcome === 'created',
    findApplied: async () => {
      const row = await findWebhookById(database, id)
      return row && { outcome: 'created', row }
    },
  })
  switch (created.outcome) {
    case 'created':
      context.log.info({ webhook: name, host: url.host }, 'webhook created')
      return { row: created.row, key }
    case 'exists':
      throw new WebhookExistsError(name)
    case 'too-many':
      throw new InvalidInputError(`expected at most ${WEBHOOKS_MAX} webhooks, found as many`)
  }
}
