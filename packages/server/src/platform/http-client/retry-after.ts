/**
 * How long an answer asks us to wait, by its header `Retry-After`: seconds, or an HTTP date.
 * @param nowMs epoch milliseconds, by the clock that a date is held against
 * @returns milliseconds, below zero for a date that is past; `undefined` for what is neither
 */
export function retryAfterMs(text: string, nowMs: number): number | undefined {
  const told = text.trim()
  const askedMs = /^\d+$/.test(told) ? Number(told) * 1_000 : Date.parse(told) - nowMs
  return Number.isNaN(askedMs) ? undefined : askedMs
}
