import { isUuid } from '../ids.ts'

/**
 * The formats our schemas use. Those of strings are strict: a day is a day of the calendar, an instant has an offset. `int64`
 * tells generators of clients how wide a number is; what it may be, its bounds say.
 */
export const formats = { uuid: isUuid, date: isDay, 'date-time': isInstant, int64: true } as const

/** Year 0 is not in the calendar that databases keep. */
const DAY = /^(?!0000)\d{4}-\d{2}-\d{2}$/
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

function isDay(text: string): boolean {
  if (!DAY.test(text)) return false
  const midnight = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text)
}

function isInstant(text: string): boolean {
  return text[10] === 'T' && isDay(text.slice(0, 10)) && TIME.test(text.slice(11))
}
