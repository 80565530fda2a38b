const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const
const DURATION_UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** A size for people, with two or three digits: `1.4 MiB`. */
export function printSize(sizeBytes: bigint): string {
  let value = Number(sizeBytes)
  let unit = 0
  while (value >= 1_024 && unit < BYTE_UNITS.length - 1) {
    value /= 1_024
    unit += 1
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1
  return `${value.toFixed(digits)} ${BYTE_UNITS[unit]}`
}

/** A count with its noun, grouped by thousands: `1,204 files`, `1 file`. */
export function printCount(count: bigint, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1n ? '' : 's'}`
}

/** A time with its distance from now: `2026-01-05T10:00:00Z (3 min ago)`. */
export function printTime(timeMs: bigint, nowMs: number): string {
  const time = new Date(Number(timeMs)).toISOString().replace(/\.\d+Z$/, 'Z')
  const distanceMs = nowMs - Number(timeMs)
  const text = printDuration(Math.abs(distanceMs))
  return distanceMs >= 0 ? `${time} (${text} ago)` : `${time} (in ${text})`
}

/** A duration in its largest whole unit: `3 min`. */
export function printDuration(durationMs: number): string {
  const [unit, factor] = DURATION_UNITS.find(([, size]) => durationMs >= size) ?? ['ms', 1]
  return `${Math.floor(durationMs / factor)} ${unit}`
}
