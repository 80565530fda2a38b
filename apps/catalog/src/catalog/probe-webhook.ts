import { findWebhookById, requestWebhookTest } from '@timelake/database/webhooks'
import type { Catalog } from './catalog.ts'
import { webhookByName } from './change-webhook.ts'

/** JSON text of the sender (send-webhook.ts); undefined when none has tried it in time. */
export interface ProbedWebhook {
  readonly testId: string
  readonly outcome: string | undefined
}

const LOOKS_MAX = 120
const LOOK_INTERVAL_MS = 100

/**
 * Has the sender try a webhook with an event of its own, from where it sends, and waits for what comes of it, some twelve
 * seconds at most. A further trial takes the place of this one. Throws NoSuchWebhookError.
 */
export async function probeWebhook(
  catalog: Catalog,
  name: string,
  signal: AbortSignal,
): Promise<ProbedWebhook> {
  const { database, newUuid, delay } = catalog.context
  const { id } = await webhookByName(catalog, name)
  const testId = newUuid()
  await requestWebhookTest(database, { id, testId })
  for (let look = 0; look < LOOKS_MAX && !signal.aborted; look += 1) {
    const row = await findWebhookById(database, id)
    if (row?.testId !== testId) break
    if (row.testOutcome !== undefined) return { testId, outcome: row.testOutcome }
    await delay(LOOK_INTERVAL_MS, signal)
  }
  return { testId, outcome: undefined }
}
