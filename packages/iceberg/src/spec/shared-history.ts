/*
 * Most of a metadata file with a long history is the text of the file before it. Whoever knows that one need not read it
 * again: the values whose texts are found at their places are the same values.
 */
import { snapshotLogTexts, snapshotTexts } from './history-texts.ts'
import type { RememberedTexts } from './remembered-texts.ts'
import type { Snapshot } from './snapshot.ts'
import type { SnapshotLogEntry, TableMetadata } from './table-metadata.ts'

/** What the lists of a metadata file begin with. */
export interface SharedHistory {
  readonly snapshots: readonly Snapshot[]
  readonly snapshotLog: readonly SnapshotLogEntry[]
}

export interface ReducedText extends SharedHistory {
  /** The text of the file without the texts of what is shared. */
  readonly text: string
}

/**
 * What the text of a metadata file shares with metadata that is known, of the same table or of any other; undefined when that
 * is nothing, or cannot be seen because the text is not spelled as this product spells it.
 */
export function shareHistory(text: string, known: TableMetadata): ReducedText | undefined {
  // In older files the identity of a table may be made of the whole text.
  if (known.formatVersion === 1) return undefined
  const uuid = JSON.stringify(known.tableUuid)
  if (!text.startsWith(`{"format-version":${known.formatVersion},"table-uuid":${uuid},`))
    return undefined
  const top = { at: 0, depth: 0 }
  const snapshots = findShared(text, top, {
    name: 'snapshots',
    values: known.snapshots,
    texts: snapshotTexts,
  })
  if (snapshots === undefined) return undefined
  const inside = { at: snapshots.end, depth: DEPTH_IN_LIST }
  const log = findShared(text, inside, {
    name: 'snapshot-log',
    values: known.snapshotLog,
    texts: snapshotLogTexts,
  })
  const { start, end } = snapshots
  return {
    snapshots: snapshots.values,
    snapshotLog: log?.values ?? [],
    text:
      log === undefined
        ? text.slice(0, start) + text.slice(end)
        : text.slice(0, start) + text.slice(end, log.start) + text.slice(log.end),
  }
}

interface KnownList<T extends object> {
  readonly name: string
  readonly values: readonly T[]
  readonly texts: RememberedTexts<T>
}

/** Values of a list whose texts are those from `start` to `end`, commas behind them included. */
interface SharedValues<T> {
  readonly values: readonly T[]
  readonly start: number
  readonly end: number
}

function findShared<T extends object>(
  text: string,
  from: Place,
  { name, values, texts }: KnownList<T>,
): SharedValues<T> | undefined {
  const start = findList(text, from, name)
  if (start === undefined) return undefined
  // The front may have been cut off since.
  const first = values.findIndex((value) => text.startsWith(texts.textOf(value), start))
  if (first < 0) return undefined
  let end = start
  let last = first
  for (; last < values.length; last += 1) {
    const value = texts.textOf(values[last] as T)
    if (!text.startsWith(value, end)) break
    const next = end + value.length
    if (text[next] !== ',' && text[next] !== ']') return undefined
    end = text[next] === ',' ? next + 1 : next
  }
  // A list may not end with a comma, but what is cut off here may.
  if (text[end] === ']' && text[end - 1] === ',') return undefined
  // Of repeated members the last one counts.
  if (text.includes(`"${name}":`, end)) return undefined
  return { values: values.slice(first, last), start, end }
}

/** A place in a JSON text, outside of strings, and how many objects and lists are open there. */
interface Place {
  readonly at: number
  readonly depth: number
}

const DEPTH_IN_LIST = 2
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = new Set([0x7b, 0x5b])
const CLOSE = new Set([0x7d, 0x5d])

/** Where the list begins that this member of the outermost object holds, behind its bracket. */
function findList(text: string, { at, depth }: Place, name: string): number | undefined {
  const opening = `"${name}":[`
  let open = depth
  for (let index = at; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      if (open === 1 && text.startsWith(opening, index)) return index + opening.length
      index = endOfString(text, index)
    } else if (OPEN.has(code)) open += 1
    else if (CLOSE.has(code)) open -= 1
  }
  return undefined
}

/** Where the quote is that ends the string which begins here. */
function endOfString(text: string, start: number): number {
  let index = start + 1
  while (index < text.length && text.charCodeAt(index) !== QUOTE) {
    index += text.charCodeAt(index) === BACKSLASH ? 2 : 1
  }
  return index
}
