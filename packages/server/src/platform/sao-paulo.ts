/** Days of America/Sao_Paulo by the zone's rules: no daylight saving time today, but before 2019. Pure. */

const ZONE = 'America/Sao_Paulo'

const format = new Intl.DateTimeFormat('en-US', {
  timeZone: ZONE,
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})

export interface LocalTime {
  /** `2026-11-22`. */
  readonly day: string
  /** `23:59:59`. */
  readonly time: string
}

export function localTime(instantMs: number): LocalTime {
  const text = new Date(localMs(instantMs)).toISOString()
  return { day: text.slice(0, 10), time: text.slice(11, 19) }
}

/** The local time as if it were UTC, epoch milliseconds. */
export function localMs(instantMs: number): number {
  return instantMs + offsetAt(instantMs)
}

/** Cached by hour: querying the zone is slow, and its offset changes only at whole hours. */
let latest = { hour: Number.NaN, offsetMs: 0 }

function offsetAt(instantMs: number): number {
  const hour = Math.floor(instantMs / HOUR_MS)
  if (hour !== latest.hour) {
    const parts = Object.fromEntries(
      format.formatToParts(hour * HOUR_MS).map(({ type, value }) => [type, Number(value)]),
    )
    const { year = 0, month = 1, day = 0, hour: hours = 0, minute = 0, second = 0 } = parts
    latest = { hour, offsetMs: Date.UTC(year, month - 1, day, hours, minute, second) - hour * HOUR_MS }
  }
  return latest.offsetMs
}

/** The local day of an instant. It begins at 03:00 UTC. @source rules#close.2 */
export function dayOf(instantMs: number): string {
  return localTime(instantMs).day
}

/** Bounds of a day in epoch milliseconds: `from` inclusive, `to` exclusive. */
export interface DayBounds {
  readonly from: number
  readonly to: number
}

/** The bounds of a day that passes {@link isDay}. @source rules#close.2 */
export function boundsOf(day: string): DayBounds {
  return { from: startOf(day), to: startOf(dayAfter(day)) }
}

export function dayAfter(day: string, days = 1): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
}

export function isDay(text: string): boolean {
  if (!/^(?:19|2\d)\d{2}-\d{2}-\d{2}$/.test(text)) return false
  const at = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Three hours behind UTC, or two with daylight saving time. The day on which that begins starts at one o'clock. */
function startOf(day: string): number {
  const midnightUtc = Date.parse(`${day}T00:00:00Z`)
  const starts = [2, 3].map((hours) => midnightUtc + hours * HOUR_MS)
  return starts.find((at) => dayOf(at) === day && dayOf(at - 1) !== day) ?? midnightUtc + 3 * HOUR_MS
}
