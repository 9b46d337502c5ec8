/** Guards common to payouts and refunds. */
export const orderGuards = {
  'work is due': 'the due time has passed, and no other process holds the claim',
  'asked in vain and safe to repeat':
    'the bank, if it supports queries, was queried after the last attempt and reported no outcome; it deduplicates orders, its window for that is open by a clock that was not set back, and it has neither accepted nor refused the order',
  'the bank has it': 'the bank reported that it has the order, or its statement shows it',
  'refusal is of the latest attempt': 'no later attempt followed the refused one',
  'another attempt may arrive': 'an attempt other than the refused one may have arrived, or may still arrive',
  'no answer for 15 minutes': 'the outcome has been missing for 15 minutes',
  'the bank has had it for a day': 'the first attempt was a day ago, and no case is open',
  'only an event reports it': 'the bank supports queries, and no query has confirmed the report',
  'the statement shows it': 'the bank’s statement shows an unbooked debit for it',
  'absence is proven':
    'the bank answered «not found» twice, a minute apart, the last time five minutes after the last attempt, and never had the order. An answer counts for the time before its query; the five minutes restart after a clock step of more than 30 s and after a start of the querying process',
  'it may be sent again':
    'the bank deduplicates orders, still knows the first attempt, and has neither accepted nor refused the order',
} as const

export type OrderGuard = keyof typeof orderGuards

/** Triggers common to payouts and refunds. */
export const orderTriggers = [
  'create',
  'work.requested',
  'work.claimed',
  'work.done',
  'send.claimed',
  'send.accepted',
  'send.rejected',
  'send.not_sent',
  'send.unknown',
  'send.contradicted',
  'partner.confirmed',
  'partner.failed',
  'partner.not_found',
  'partner.returned',
  'clock.released',
  'clock.overdue',
] as const
