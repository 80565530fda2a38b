import { isJsonArray } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'

/** Partitions that one line names. */
const PARTITIONS_SHOWN_MAX = 3

/** One line about an event as the server answers it: when, what, to which table, its number, and what it did. */
export function printEvent(event: JsonObject): string {
  const time = new Date(Number(event['timestamp-ms'])).toISOString()
  const name = [...texts(event['namespace']), text(event['name'])].filter((part) => part !== '')
  const number = text(event['event-number'])
  const what = detail(text(event['kind']), objectOf(event['data']))
  return [time, text(event['kind']), name.join('.'), `#${number}`, ...what].join('  ')
}

function detail(kind: string, data: JsonObject): readonly string[] {
  if (kind.startsWith('job-')) return [text(data['job-kind']), text(data['reason'])]
  if (kind.endsWith('-renamed')) {
    const source = objectOf(data['source'])
    return [`from ${[...texts(source['namespace']), text(source['name'])].join('.')}`]
  }
  const operation = text(data['operation'])
  const { changes, 'snapshot-id': snapshot } = data
  return [
    ...(operation === '' ? [] : [operation]),
    ...(snapshot === undefined ? [] : [`snapshot ${text(snapshot)}`]),
    ...partitionTexts(objectOf(changes)),
  ]
}

function partitionTexts({ unavailable, partitions, ...changes }: JsonObject): readonly string[] {
  if (unavailable !== undefined) return [`changes unknown: ${text(unavailable)}`]
  const all = isJsonArray(partitions) ? partitions.map(objectOf) : []
  const shown = all.slice(0, PARTITIONS_SHOWN_MAX).map(partitionText)
  const more = Number(changes['partition-count'] ?? 0n) - shown.length
  return more > 0 ? [...shown, `and ${more} more partitions`] : shown
}

function partitionText(change: JsonObject): string {
  const values = Object.entries(objectOf(change['partition'])).map(
    ([name, value]) => `${name}=${value === null || value === undefined ? 'null' : text(value)}`,
  )
  const counts = [
    signed('+', change['added-files'], 'files'),
    signed('-', change['removed-files'], 'files'),
    signed('+', change['added-rows'], 'rows'),
    signed('-', change['removed-rows'], 'rows'),
  ]
  return [...values, ...counts.filter((count) => count !== '')].join(' ')
}

function signed(sign: string, value: JsonValue | undefined, unit: string): string {
  return value === undefined || value === 0n ? '' : `${sign}${text(value)} ${unit}`
}

function objectOf(value: JsonValue | undefined): JsonObject {
  if (value === undefined || value === null || typeof value !== 'object') return {}
  return isJsonArray(value) ? {} : value
}

function texts(value: JsonValue | undefined): readonly string[] {
  return value !== undefined && isJsonArray(value) ? value.map(text) : []
}

/** Control characters of other people's names would steer the terminal. */
function text(value: JsonValue | undefined): string {
  if (value === undefined || value === null || typeof value === 'object') return ''
  return String(value).replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?')
}
