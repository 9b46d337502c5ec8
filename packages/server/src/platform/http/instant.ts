/** The first and the last instant whose year has four digits: an offset may lead beyond, where the database has no such text. */
const YEARS = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')] as const

/**
 * An instant that narrows a list, epoch milliseconds. Of what is beyond those years, where nothing is, it is their end.
 * @param text a date-time of RFC 3339
 * @source rules#desk.31, rules#webhooks.18
 */
export function instantOf(text: string): number {
  return Math.min(Math.max(Date.parse(text), YEARS[0]), YEARS[1])
}

/** An instant as the API writes it. */
export function instantText(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString()
}
