import {
  discardDeadLetters as discardRows,
  moveWebhook,
  replayDeadLetters,
} from '@timelake/database/webhooks'
import type { Catalog } from './catalog.ts'
import { webhookByName } from './change-webhook.ts'
import { settleChange } from './settle-change.ts'
import { NoSuchWebhookError } from './webhook-errors.ts'
import { placeBefore, placeOf } from './webhook-place.ts'

/** What is to be sent again. */
export type Replay =
  /** Everything behind a cursor, or from the oldest event that is kept with `start`. */
  | { readonly from: 'cursor'; readonly after: string }
  /** An event and everything behind it. */
  | { readonly from: 'event'; readonly eventId: string }
  /** A dead letter, or all. */
  | { readonly from: 'dead-letters'; readonly eventId: string | undefined }

/**
 * Lets a webhook send again; answers how many dead letters come back. Throws NoSuchWebhookError, InvalidInputError and
 * EventsPrunedError.
 */
export async function replayWebhook(
  catalog: Catalog,
  name: string,
  replay: Replay,
): Promise<{ readonly deadLetterCount: number }> {
  const { database, log } = catalog.context
  const { id } = await webhookByName(catalog, name)
  log.info({ webhook: name, replay: replay.from }, 'webhook sends again')
  switch (replay.from) {
    case 'cursor':
      await move(catalog, { id, name, cursor: await placeOf(database, replay.after) })
      return { deadLetterCount: 0 }
    case 'event':
      await move(catalog, { id, name, cursor: await placeBefore(database, replay.eventId) })
      return { deadLetterCount: 0 }
    case 'dead-letters': {
      const { eventId } = replay
      const send = () => replayDeadLetters(database, { webhookId: id, eventId })
      return { deadLetterCount: await settle('the replay of dead letters', send) }
    }
  }
}

async function move(
  { context }: Catalog,
  { id, name, cursor }: { readonly id: string; readonly name: string; readonly cursor: string },
): Promise<void> {
  const send = () => moveWebhook(context.database, { id, cursor })
  if ((await settle('the replay of the webhook', send)) === undefined) {
    throw new NoSuchWebhookError(name)
  }
}

/** Forgets a dead letter, or all; answers how many. Throws NoSuchWebhookError. */
export async function discardDeadLetters(
  catalog: Catalog,
  name: string,
  eventId: string | undefined,
): Promise<number> {
  const { id: webhookId } = await webhookByName(catalog, name)
  const { database } = catalog.context
  return settle('the removal of dead letters', () => discardRows(database, { webhookId, eventId }))
}

/** Of a change that may be made twice. */
function settle<Outcome>(what: string, send: () => Promise<Outcome>): Promise<Outcome> {
  return settleChange({ what, send, isApplied: () => true, findApplied: async () => undefined })
}
