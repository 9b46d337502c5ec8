/** Amounts, days, times and files as Brazilians write them; days are days of America/Sao_Paulo. */

const ZONE = 'America/Sao_Paulo'

/** A narrow no-break space between sign and amount would not be found by a search on the page. */
const NBSP = '\u00a0'

const AMOUNT = new Intl.NumberFormat('pt-BR', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** `R$ 1.234,56`, in every language: reais are written so. */
export function reais(cents: number): string {
  return `${cents < 0 ? '−' : ''}R$${NBSP}${AMOUNT.format(Math.abs(cents) / 100)}`
}

/** With `+` where it grew. */
export function signedReais(cents: number): string {
  return cents > 0 ? `+${reais(cents)}` : reais(cents)
}

/** Centavos of `1.234,56`, `1234,5` or `1234`; `undefined` for any other text. */
export function centsOf(text: string): number | undefined {
  const plain = text.replace(/^R\$/, '').replace(/[\s\u00a0]/g, '')
  const [, whole, decimals = ''] = /^(\d{1,3}(?:\.\d{3})+|\d+)(?:,(\d{1,2}))?$/.exec(plain) ?? []
  if (whole === undefined) return undefined
  const cents = Number(whole.replaceAll('.', '')) * 100 + Number(decimals.padEnd(2, '0'))
  return Number.isSafeInteger(cents) ? cents : undefined
}

/** `1.234,56`, to be edited. */
export function amountText(cents: number): string {
  return AMOUNT.format(cents / 100)
}

export interface Format {
  readonly count: (value: number) => string
  /** 99,5% */
  readonly percent: (share: number) => string
  /** 21/11/2026 */
  readonly day: (instant: string) => string
  /** 21 nov. 2026 */
  readonly longDay: (instant: string) => string
  /** 21/11/2026 10:15 */
  readonly moment: (instant: string) => string
  /** 10:15:02 */
  readonly time: (instant: string) => string
  /** 10:15 */
  readonly hour: (instant: string) => string
  /** 21 nov., 10:15 */
  readonly short: (instant: string) => string
  /** há 3 horas */
  readonly ago: (instant: string, now: number) => string
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

export function formatOf(language: string): Format {
  const format = (options: Intl.DateTimeFormatOptions) => {
    const formatter = new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, { timeZone: ZONE, ...options })
    return (instant: string) => formatter.format(new Date(instant))
  }
  const day = { day: '2-digit', month: '2-digit', year: 'numeric' } as const
  const hour = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const [dayText, hourText] = [format(day), format(hour)]
  const numbers = new Intl.NumberFormat(language)
  const percents = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 })
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'long' })
  return {
    count: (value) => numbers.format(value),
    percent: (share) => percents.format(share),
    day: dayText,
    longDay: format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }),
    moment: (instant) => `${dayText(instant)} ${hourText(instant)}`,
    time: format({ ...hour, second: '2-digit' }),
    hour: hourText,
    short: format({ day: 'numeric', month: 'short', ...hour }),
    ago: (instant, now) => {
      const ms = Date.parse(instant) - now
      const [unit, length] = UNITS.find(([, unitMs]) => Math.abs(ms) >= unitMs) ?? (['minute', 60_000] as const)
      return relative.format(Math.round(ms / length), unit)
    },
  }
}

/** The day in America/Sao_Paulo, as `2026-11-21`. */
export function dayKey(instant: number | string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: ZONE }).format(new Date(instant))
}

/** The day so many days before. */
export function daysBefore(day: string, days: number): string {
  const at = new Date(`${day}T12:00:00Z`)
  at.setUTCDate(at.getUTCDate() - days)
  return at.toISOString().slice(0, 10)
}

/** The minute in America/Sao_Paulo, as a field for a time has it: `2026-11-21T10:15`. */
export function minuteKey(instant: number): string {
  const text = new Intl.DateTimeFormat('sv-SE', {
    ...{ timeZone: ZONE, dateStyle: 'short', timeStyle: 'short' },
  }).format(new Date(instant))
  return text.replace(' ', 'T')
}

/** The instant of such a minute; `undefined` for any other text. */
export function instantOfMinute(minute: string): string | undefined {
  const asUtc = Date.parse(`${minute}Z`)
  if (Number.isNaN(asUtc)) return undefined
  return new Date(2 * asUtc - Date.parse(`${minuteKey(asUtc)}Z`)).toISOString()
}

/** A field that would be a formula, full-width characters included, is text. */
function field(text: string): string {
  const safe = /^\s*(?:[=+@\uff1d\uff0b\uff0d\uff20]|-(?![\d.,]+$))/.test(text) ? `'${text}` : text
  return /[";\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Lines as Excel in Brazil reads them: `;`, a byte order mark, and no formula. */
export function csvOf(rows: readonly (readonly string[])[]): string {
  return `\ufeff${rows.map((row) => `${row.map(field).join(';')}\r\n`).join('')}`
}
