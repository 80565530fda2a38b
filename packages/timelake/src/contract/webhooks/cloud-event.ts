import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'

/** What an envelope says of its event. */
export interface EnvelopedEvent {
  readonly eventId: string
  readonly eventNumber: bigint
  readonly kind: string
  /** The warehouse's name, or its id when it is gone. */
  readonly warehouse: string
  readonly levels: readonly string[]
  readonly name: string | undefined
  readonly createdAtMs: number
  readonly data: JsonValue
}

export const CLOUD_EVENT_MEDIA_TYPE = 'application/cloudevents+json; charset=utf-8'

/** Digits of the largest event number: with as many, texts are in the order of the numbers. */
const SEQUENCE_DIGITS = 19

/**
 * The event as JSON in the structured form of CloudEvents 1.0, the same text whenever it is made. `id` is unique in all
 * warehouses; `partitionkey` is the table, view or namespace, within which `sequence` is dense.
 */
export function cloudEventText(event: EnvelopedEvent): string {
  return printJson({
    specversion: '1.0',
    id: event.eventId,
    source: `/warehouses/${encodeURIComponent(event.warehouse)}`,
    type: `timelake.${event.kind}`,
    subject: [...event.levels, ...(event.name === undefined ? [] : [event.name])].join('.'),
    time: new Date(event.createdAtMs).toISOString(),
    partitionkey: subjectOf(event.eventId),
    sequence: event.eventNumber.toString().padStart(SEQUENCE_DIGITS, '0'),
    datacontenttype: 'application/json',
    data: event.data,
  })
}

/** What a webhook is tried with: an event of no table. */
export function testEventText(test: {
  readonly id: string
  readonly webhook: string
  readonly nowMs: number
}): string {
  return printJson({
    specversion: '1.0',
    id: test.id,
    source: `/webhooks/${encodeURIComponent(test.webhook)}`,
    type: 'timelake.test',
    time: new Date(test.nowMs).toISOString(),
    datacontenttype: 'application/json',
    data: {},
  })
}

/** The id of the table, view or namespace that an event is about: its own id without the number. */
export function subjectOf(eventId: string): string {
  return eventId.slice(0, eventId.lastIndexOf('-'))
}
