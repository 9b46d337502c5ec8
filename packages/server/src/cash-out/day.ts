import type { Document } from '../engine/operation.ts'

/** The value of a day's payouts that were not given back, as the control `cash_out_day` keeps it. */
export interface SentDay extends Document {
  /** `YYYY-MM-DD` in São Paulo; `null` before the first payout. */
  readonly day: string | null
  readonly sentCents: number
}

const format = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Sao_Paulo', dateStyle: 'short' })

/**
 * The accounting day of an instant: São Paulo's.
 * @param instantMs epoch milliseconds
 * @source rules#cash-out.limits.2
 */
export function accountingDay(instantMs: number): string {
  return format.format(instantMs)
}

/** The day's total after a payout was reserved. Clocks differ by moments: around midnight the later day counts. */
export function dayAfterReserve(sent: SentDay, day: string, valueCents: bigint): SentDay {
  if (sent.day === null || sent.day < day) return { day, sentCents: Number(valueCents) }
  return { ...sent, sentCents: sent.sentCents + Number(valueCents) }
}

/** The day's total after a payout of `day` was given back; that of another day is over. */
export function dayAfterRelease(sent: SentDay, day: string, valueCents: bigint): SentDay {
  return sent.day === day ? { ...sent, sentCents: sent.sentCents - Number(valueCents) } : sent
}
