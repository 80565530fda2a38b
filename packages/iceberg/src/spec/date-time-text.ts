import { civilDate, daysSinceEpoch } from './civil-date.ts'

const SECONDS_PER_DAY = 86_400n

/** `YYYY-MM-DD` of days since 1970-01-01; years outside 0 to 9999 have a sign and at least six digits. */
export function printDate(days: number): string {
  const { year, month, day } = civilDate(days)
  return `${printYear(year)}-${twoDigits(String(month))}-${twoDigits(String(day))}`
}

/** Days since 1970-01-01 of `YYYY-MM-DD`; undefined when the text is no such date. */
export function parseDate(text: string): number | undefined {
  const match = /^(\d{4}|[+-]\d{6,8})-(\d{2})-(\d{2})$/.exec(text)
  if (match === null) return undefined
  const days = daysSinceEpoch({
    year: Number(match[1]),
    month: Number(match[2]),
    day: Number(match[3]),
  })
  // A day that its month does not have comes back as another date.
  return printDate(days) === text ? days : undefined
}

/** `HH:MM:SS.ffffff` of microseconds since midnight. */
export function printTime(micros: bigint): string {
  return printClock(micros, 6)
}

/** Microseconds since midnight of `HH:MM[:SS[.f…]]` with at most six digits; undefined otherwise. */
export function parseTime(text: string): bigint | undefined {
  return parseClock(text, 6)
}

/** `YYYY-MM-DDTHH:MM:SS.f…` of an instant counted in 10^−digits seconds since the epoch. */
export function printTimestamp(value: bigint, digits: 6 | 9): string {
  const unitsPerDay = SECONDS_PER_DAY * 10n ** BigInt(digits)
  const days = floorDiv(value, unitsPerDay)
  return `${printDate(Number(days))}T${printClock(value - days * unitsPerDay, digits)}`
}

/** Inverse of printTimestamp; the text may have fewer digits. Undefined when it is no such timestamp. */
export function parseTimestamp(text: string, digits: 6 | 9): bigint | undefined {
  const separatorAt = text.indexOf('T')
  if (separatorAt < 0) return undefined
  const days = parseDate(text.slice(0, separatorAt))
  const clock = parseClock(text.slice(separatorAt + 1), digits)
  if (days === undefined || clock === undefined) return undefined
  return BigInt(days) * SECONDS_PER_DAY * 10n ** BigInt(digits) + clock
}

/** Division that rounds toward negative infinity. `divisor` is positive. */
export function floorDiv(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor
  return dividend % divisor < 0n ? quotient - 1n : quotient
}

function printYear(year: number): string {
  if (year >= 0 && year <= 9999) return String(year).padStart(4, '0')
  return `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}`
}

function twoDigits(digits: string): string {
  return digits.padStart(2, '0')
}

function printClock(value: bigint, digits: 6 | 9): string {
  const unitsPerSecond = 10n ** BigInt(digits)
  const seconds = value / unitsPerSecond
  const fraction = String(value % unitsPerSecond).padStart(digits, '0')
  const parts = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n]
  return `${parts.map((part) => twoDigits(String(part))).join(':')}.${fraction}`
}

function parseClock(text: string, digits: 6 | 9): bigint | undefined {
  const match = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?$/.exec(text)
  if (match === null) return undefined
  const [hours = '0', minutes = '0', seconds = '0', fraction = ''] = match.slice(1)
  if (fraction.length > digits) return undefined
  const wholeSeconds = BigInt(hours) * 3600n + BigInt(minutes) * 60n + BigInt(seconds)
  return wholeSeconds * 10n ** BigInt(digits) + BigInt(fraction.padEnd(digits, '0'))
}
