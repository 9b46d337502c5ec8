/** Guards of payouts and refunds about sending, each with its explanation. */
export const orderGuards = {
  'work is due': 'its time has come, and no other process has claimed it',
  'asked in vain and safe to repeat':
    'the bank, if it can be asked, was asked after the last attempt and reported no outcome; it carries out a repeated order once, its window for that is open by a clock that was not set back, and it has neither accepted nor refused the order',
  'the bank has it': 'the bank said before that it has the order, or its statement shows it',
  'refusal is of the latest attempt': 'no other attempt followed the one that was refused',
  'another attempt may arrive': 'an attempt besides the refused one may have arrived, or may still arrive',
  'no answer for 15 minutes': 'its outcome has been missing for 15 minutes',
  'the bank has had it for a day': 'it was first tried a day ago, and no case was opened yet',
  'only an event reports it': 'the bank can be asked, and has not said it when asked',
  'the statement shows it': 'the bank’s statement shows money that left for it, which is yet to be booked',
  'absence is proven':
    'the bank, asked twice, a minute apart and the last time five minutes after the last attempt, does not know the order and never had it; an answer counts for what was before its question, and the five minutes run anew after a step of the clock of more than 30 s and after the start of the process that asks',
  'it may be sent again':
    'the bank does once what it is told twice, still knows the first attempt, and has neither taken nor refused the order',
} as const

export type OrderGuard = keyof typeof orderGuards

/** Triggers of payouts and refunds. */
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
