/** A day of the proleptic Gregorian calendar; `month` and `day` count from 1. */
export interface CivilDate {
  readonly year: number
  readonly month: number
  readonly day: number
}

const DAYS_PER_ERA = 146_097
/** Days from 0000-03-01 to 1970-01-01. Years that start in March have their leap day at the end. */
const EPOCH_SHIFT_DAYS = 719_468

/** The date of days since 1970-01-01, for any 32-bit day: `Date` ends 100 million days from the epoch. */
export function civilDate(days: number): CivilDate {
  const shifted = days + EPOCH_SHIFT_DAYS
  const era = Math.floor(shifted / DAYS_PER_ERA)
  const dayOfEra = shifted - era * DAYS_PER_ERA
  const leapDays =
    Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096)
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365)
  const dayOfYear = dayOfEra - daysBeforeYear(yearOfEra)
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
  }
}

/** Days since 1970-01-01 of a date. Inverse of civilDate for dates that exist. */
export function daysSinceEpoch({ year, month, day }: CivilDate): number {
  const yearFromMarch = month <= 2 ? year - 1 : year
  const era = Math.floor(yearFromMarch / 400)
  const monthFromMarch = month > 2 ? month - 3 : month + 9
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + day - 1
  return (
    era * DAYS_PER_ERA + daysBeforeYear(yearFromMarch - era * 400) + dayOfYear - EPOCH_SHIFT_DAYS
  )
}

function daysBeforeYear(yearOfEra: number): number {
  return 365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100)
}
