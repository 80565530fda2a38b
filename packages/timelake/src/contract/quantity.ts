/** The smallest and largest value that is allowed, both included. */
export interface Bounds {
  readonly min: number
  readonly max: number
}

const DURATION_UNITS_MS = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

const BYTE_UNITS = new Map([
  ['B', 1],
  ['KiB', 1_024],
  ['MiB', 1_048_576],
  ['GiB', 1_073_741_824],
])

/** A whole number such as `8181`, within the bounds. Throws an Error whose message says what was expected. */
export function parseCount(text: string, bounds: Bounds): number {
  const expected = `a whole number from ${bounds.min} to ${bounds.max}`
  if (!/^\d{1,15}$/.test(text)) throw new Error(expected)
  return within(Number(text), bounds, expected)
}

/** Milliseconds of a duration such as `500ms`, `30s`, `10m`, `24h` or `7d`, within the bounds. Throws like parseCount. */
export function parseDurationMs(text: string, bounds: Bounds): number {
  const range = `from ${printDurationMs(bounds.min)} to ${printDurationMs(bounds.max)}`
  const expected = `a duration such as 500ms, 30s, 10m, 24h or 7d, ${range}`
  return parseWithUnit(text, { units: DURATION_UNITS_MS, bounds, expected })
}

/** Bytes of a size such as `512B`, `64KiB`, `32MiB` or `1GiB`, within the bounds. Throws like parseCount. */
export function parseBytes(text: string, bounds: Bounds): number {
  const range = `from ${printBytes(bounds.min)} to ${printBytes(bounds.max)}`
  const expected = `a size such as 64KiB, 32MiB or 1GiB, ${range}`
  return parseWithUnit(text, { units: BYTE_UNITS, bounds, expected })
}

/** The duration in the largest unit that divides it, for example `90000` → `90s`. */
export function printDurationMs(durationMs: number): string {
  return printWithUnit(durationMs, DURATION_UNITS_MS)
}

/** The size in the largest unit that divides it, for example `33554432` → `32MiB`. */
export function printBytes(sizeBytes: number): string {
  return printWithUnit(sizeBytes, BYTE_UNITS)
}

interface UnitRules {
  readonly units: ReadonlyMap<string, number>
  readonly bounds: Bounds
  readonly expected: string
}

function parseWithUnit(text: string, { units, bounds, expected }: UnitRules): number {
  const match = /^(\d{1,15})([A-Za-z]+)$/.exec(text)
  const factor = units.get(match?.[2] ?? '')
  if (match === null || factor === undefined) throw new Error(expected)
  return within(Number(match[1]) * factor, bounds, expected)
}

function within(value: number, { min, max }: Bounds, expected: string): number {
  if (value < min || value > max) throw new Error(expected)
  return value
}

function printWithUnit(value: number, units: ReadonlyMap<string, number>): string {
  const fitting = [...units].filter(([, factor]) => value % factor === 0 && value >= factor)
  const [unit, factor] = fitting.at(-1) ?? [...units][0] ?? ['', 1]
  return `${value / factor}${unit}`
}
