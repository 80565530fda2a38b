import { EVENT_KINDS } from '@timelake/database/outbox'
import type { WebhookRow } from '@timelake/database/webhook-row'
import type { DeliveryCounts, WebhookDelivery } from '@timelake/database/webhooks'
import { long, optional, text, timestampMs } from '@timelake/iceberg/spec/decode'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { parseJson } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { decodeWebhookFilter } from '@timelake/timelake/contract/webhooks/webhook-filter'
import { decodeWebhookSecret } from '@timelake/timelake/contract/webhooks/webhook-secret'
import { checkWebhookUrl } from '@timelake/timelake/contract/webhooks/webhook-target'
import type { CatalogConfig } from '../catalog-config.ts'
import { newWebhookKey } from '../catalog/create-webhook.ts'
import { checkName } from '../catalog/names.ts'
import type { Replay } from '../catalog/replay-webhook.ts'
import type { SecretRotation, WebhookChange, WebhookDraft } from '../catalog/webhook-draft.ts'
import { msJson } from './dropped-table-json.ts'
import { refuseUnknown } from './unknown-members.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const ATTEMPTS = { standard: 20, min: 1, max: 10_000 }
const RETRY_FOR_MS = { standard: DAY_MS, min: MINUTE_MS, max: 30 * DAY_MS }
const OLD_SECRET_FOR_MS = { standard: DAY_MS, min: 0, max: 30 * DAY_MS }
const TEXT_CHARACTERS_MAX = 200

type Rules = Pick<CatalogConfig, 'webhookAllowedAddresses'>

/** What a request to make a webhook says. Throws InvalidInputError that names the member and never holds a secret. */
export function decodeWebhookDraft(json: JsonObject, rules: Rules): WebhookDraft {
  refuseUnknown(json, [...CHANGEABLE, 'name', 'secret', 'after'])
  const name = text(json['name'], 'name')
  checkName(name, 'name')
  const { url, filter, attemptsMax, retryForMs } = decodeMembers(json, rules)
  if (url === undefined) throw new InvalidInputError('expected string, got nothing', 'url')
  return {
    name,
    url,
    filter: filter ?? decodeWebhookFilter(undefined, 'filter', EVENT_KINDS),
    policy: {
      attemptsMax: attemptsMax ?? ATTEMPTS.standard,
      retryForMs: retryForMs ?? RETRY_FOR_MS.standard,
    },
    key: decodeKey(json),
    after: optional(json['after'], 'after', shortText),
  }
}

/** What a request to change a webhook says: absent members stay. Errors as above. */
export function decodeWebhookChange(json: JsonObject, rules: Rules): WebhookChange {
  refuseUnknown(json, [...CHANGEABLE, 'version'])
  return {
    ...decodeMembers(json, rules),
    expectedVersion: optional(json['version'], 'version', long),
  }
}

const CHANGEABLE = ['url', 'filter', 'attempts-max', 'retry-for-ms'] as const

function decodeMembers(
  json: JsonObject,
  { webhookAllowedAddresses }: Rules,
): Pick<WebhookChange, 'url' | 'filter' | 'attemptsMax' | 'retryForMs'> {
  return {
    url: optional(json['url'], 'url', (value, path) =>
      checkWebhookUrl(text(value, path), path, webhookAllowedAddresses),
    ),
    filter: optional(json['filter'], 'filter', (value, path) =>
      decodeWebhookFilter(value, path, EVENT_KINDS),
    ),
    attemptsMax: optional(json['attempts-max'], 'attempts-max', within(ATTEMPTS)),
    retryForMs: optional(json['retry-for-ms'], 'retry-for-ms', within(RETRY_FOR_MS)),
  }
}

/** The body of a pause: a reason for others, if there is one. Throws InvalidInputError. */
export function decodePause(json: JsonObject): string {
  refuseUnknown(json, ['reason'])
  const reason = optional(json['reason'], 'reason', shortText) ?? ''
  return reason === '' ? 'paused by an operator' : reason
}

/** The body of a rotation: the new secret, or none to have one made. Throws InvalidInputError, as above. */
export function decodeRotation(json: JsonObject): SecretRotation {
  refuseUnknown(json, ['secret', 'old-secret-for-ms'])
  const decode = within(OLD_SECRET_FOR_MS)
  return {
    key: decodeKey(json) ?? newWebhookKey(),
    oldSecretForMs:
      optional(json['old-secret-for-ms'], 'old-secret-for-ms', decode) ??
      OLD_SECRET_FOR_MS.standard,
  }
}

/** The body of a replay. Throws InvalidInputError. */
export function decodeReplay(json: JsonObject): Replay {
  refuseUnknown(json, ['after', 'event-id', 'dead-letters', 'dead-letter'])
  const [member, ...further] = Object.keys(json)
  if (member === undefined || further.length > 0) throw new InvalidInputError(ONE_REPLAY)
  switch (member) {
    case 'after':
      return { from: 'cursor', after: shortText(json['after'], 'after') }
    case 'event-id':
      return { from: 'event', eventId: shortText(json['event-id'], 'event-id') }
    case 'dead-letter':
      return { from: 'dead-letters', eventId: shortText(json['dead-letter'], 'dead-letter') }
    default:
      if (json['dead-letters'] !== true) throw new InvalidInputError(ONE_REPLAY)
      return { from: 'dead-letters', eventId: undefined }
  }
}

const ONE_REPLAY =
  'expected one of {"after": cursor}, {"event-id": id}, {"dead-letter": id} and {"dead-letters": true}'

/** How the admin routes show a webhook: everything but its secret. */
export function webhookJson(row: WebhookRow, counts: DeliveryCounts): JsonObject {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    filter: parseJson(row.filter),
    'attempts-max': BigInt(row.attemptsMax),
    'retry-for-ms': BigInt(row.retryForMs),
    version: row.version,
    'created-ms': BigInt(row.createdAtMs),
    'updated-ms': BigInt(row.updatedAtMs),
    'old-secret-until-ms': msJson(row.oldSecretUntilMs),
    state: stateOf(row),
    'paused-reason': row.pausedReason ?? null,
    cursor: row.feedCursor,
    'waiting-events': BigInt(counts.waiting),
    'dead-letters': BigInt(counts.deadLetters),
    'delivered-events': row.deliveredCount,
    'last-delivered-ms': msJson(row.lastDeliveredAtMs),
    'failing-since-ms': msJson(row.failingSinceMs),
    'next-attempt-ms': row.failingSinceMs === undefined ? null : msJson(row.nextAttemptAtMs),
    'last-failure': row.lastFailure ?? null,
    'last-failed-ms': msJson(row.lastFailedAtMs),
    'events-lost-ms': msJson(row.eventsLostAtMs),
    'events-lost': row.eventsLost,
  }
}

function stateOf({ pausedReason, failingSinceMs }: WebhookRow): string {
  if (pausedReason !== undefined) return 'paused'
  return failingSinceMs === undefined ? 'active' : 'failing'
}

/** How the admin routes show a dead letter. */
export function deadLetterJson(letter: WebhookDelivery): JsonObject {
  return {
    'event-id': letter.eventId,
    kind: letter.kind,
    attempts: BigInt(letter.attempts),
    'first-attempt-ms': msJson(letter.firstAttemptAtMs),
    'given-up-ms': msJson(letter.givenUpAtMs),
    'last-failure': letter.lastFailure ?? null,
    event: parseJson(letter.body),
  }
}

function decodeKey(json: JsonObject): Uint8Array | undefined {
  return optional(json['secret'], 'secret', (value, path) =>
    decodeWebhookSecret(text(value, path), path),
  )
}

function shortText(value: JsonValue | undefined, path: string): string {
  const found = text(value, path)
  if (found.length <= TEXT_CHARACTERS_MAX && !found.includes('\u0000')) return found
  throw new InvalidInputError(`expected at most ${TEXT_CHARACTERS_MAX} characters`, path)
}

function within({ min, max }: { readonly min: number; readonly max: number }) {
  return (value: JsonValue | undefined, path: string): number => {
    const found = timestampMs(value, path)
    if (found >= min && found <= max) return found
    throw new InvalidInputError(`expected ${min} to ${max}, got ${found}`, path)
  }
}
