import { parseBytes, parseCount, parseDurationMs, type Bounds } from './quantity.ts'

/** What a setting's text must look like; `README.md` explains each kind once. */
export type SettingKind = 'text' | 'count' | 'bytes' | 'duration' | 'switch' | 'list' | 'choice'

/** One process setting. `read` turns the text of the variable into a value or throws a sentence fragment. */
export interface SettingDefinition<Value> {
  readonly variable: string
  readonly kind: SettingKind
  /** As it would be written in the variable; undefined when the setting has no default. */
  readonly defaultText: string | undefined
  readonly bounds?: Bounds
  readonly doc: string
  readonly isSecret: boolean
  readonly read: (text: string) => Value
}

interface Description<Text extends string | undefined> {
  readonly variable: string
  readonly default: Text
  readonly doc: string
}

type Bounded<Text extends string | undefined> = Description<Text> & Bounds

type Read<Value, Text> = SettingDefinition<Text extends string ? Value : Value | undefined>

function define<Value, Text extends string | undefined>(
  kind: SettingKind,
  description: Description<Text> & Partial<Bounds> & { readonly isSecret?: boolean },
  read: (text: string) => Value,
): Read<Value, Text> {
  const { variable, doc, min, max } = description
  const bounds = min === undefined || max === undefined ? {} : { bounds: { min, max } }
  const isSecret = description.isSecret ?? false
  return { variable, kind, defaultText: description.default, ...bounds, doc, isSecret, read }
}

/** Any line of text. */
export const text = <T extends string | undefined>(d: Description<T> & { isSecret?: boolean }) =>
  define('text', d, readText)
/** A whole number within bounds. */
export const count = <T extends string | undefined>(d: Bounded<T>) =>
  define('count', d, (value) => parseCount(value, d))
/** A size, for example `64MiB`. */
export const bytes = <T extends string | undefined>(d: Bounded<T>) =>
  define('bytes', d, (value) => parseBytes(value, d))
/** A duration in milliseconds, for example `30s`. */
export const duration = <T extends string | undefined>(d: Bounded<T>) =>
  define('duration', d, (value) => parseDurationMs(value, d))
/** `on` or `off`. */
export const toggle = <T extends string | undefined>(d: Description<T>) =>
  define('switch', d, readSwitch)
/** Items separated by commas. */
export const list = <T extends string | undefined>(d: Description<T>) => define('list', d, readList)
/** Items separated by commas, each read by a function that throws a sentence fragment. */
export const listOf = <Value, T extends string | undefined>(
  readItem: (text: string) => Value,
  d: Description<T>,
) => define('list', d, (value) => readList(value).map(readItem))
/** One of the given words. */
export const choice = <Value extends string, T extends Value | undefined>(
  values: readonly Value[],
  d: Description<T>,
) => define('choice', d, (value) => readChoice(value, values))

function readText(value: string): string {
  const isPlain = /^[\x21-\x7e\u00a0-\uffff]([^\0-\x1f\x7f]*[^\s\0-\x1f\x7f])?$/u.test(value)
  if (!isPlain) throw new Error('text without control characters or outer spaces')
  return value
}

function readSwitch(value: string): boolean {
  if (value === 'on' || value === 'true') return true
  if (value === 'off' || value === 'false') return false
  throw new Error('on or off')
}

/** Items without outer spaces; none for an empty text. */
function readList(value: string): readonly string[] {
  const items = value.split(',').map((item) => item.trim())
  if (value === '') return []
  if (items.some((item) => item === '')) throw new Error('items separated by single commas')
  return items
}

function readChoice<Value extends string>(value: string, values: readonly Value[]): Value {
  const match = values.find((candidate) => candidate === value)
  if (match === undefined) throw new Error(`one of ${values.join(', ')}`)
  return match
}
