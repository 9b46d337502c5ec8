import { machine, type StateOf } from '../machine.ts'

/**
 * Cash-out: money sent to a Pix key or paid from a QR code. A doubt never releases
 * money.
 */

const cashOutStates = [
  'RESERVED',
  'DISPATCHED',
  'CONFIRMED',
  'FAILED',
  'REVERSED',
  'RELEASED',
  'PROVIDER_RESULT_UNKNOWN',
  'RECONCILIATION_REQUIRED',
] as const

/** Asking the partner is possible in every state and changes none by itself; it says when to ask (again). */
function work<const State extends string>(state: State) {
  return [
    { from: state, on: 'work.requested', to: state, source: 'rules#cash-out.work.1' },
    { from: state, on: 'work.claimed', to: state, source: 'rules#cash-out.work.2' },
    { from: state, on: 'work.done', to: state, source: 'rules#cash-out.work.3' },
  ] as const
}

type CashOutState = (typeof cashOutStates)[number]

/** One movement is one operation's: told for another one too, it waits in suspense for a person. */
function leftElsewhere<const State extends CashOutState>(state: State) {
  return {
    from: state,
    on: 'partner.confirmed',
    when: 'movement belongs to another operation',
    to: 'RECONCILIATION_REQUIRED',
    posts: 'left_unattributed',
    opens: 'movement_elsewhere',
    source: 'rules#cash-out.states.16',
  } as const
}

/** The same of what comes back: it is credited to nobody a second time. */
function returnedElsewhere<const State extends CashOutState>(state: State) {
  return {
    from: state,
    on: 'partner.returned',
    when: 'movement belongs to another operation',
    to: 'RECONCILIATION_REQUIRED',
    posts: 'arrived_unattributed',
    opens: 'movement_elsewhere',
    source: 'rules#cash-out.states.16',
  } as const
}

/** The only conditions under which a payout that was tried is sent once more, in whatever state. */
function sendingAgain<const State extends 'DISPATCHED' | 'PROVIDER_RESULT_UNKNOWN' | 'RECONCILIATION_REQUIRED'>(
  state: State,
) {
  return [
    {
      from: state,
      on: 'send.claimed',
      when: 'nothing of it left',
      to: state,
      source: 'rules#cash-out.unknown.1',
    },
    {
      from: state,
      on: 'send.claimed',
      when: 'asked in vain and safe to repeat',
      to: state,
      source: 'rules#cash-out.unknown.7',
    },
  ] as const
}

/** What the partner's answers do to a payout that may be under way: the same before and after a doubt about it. */
function underWay<const State extends 'DISPATCHED' | 'PROVIDER_RESULT_UNKNOWN'>(state: State) {
  return [
    ...sendingAgain(state),
    {
      from: state,
      on: 'send.rejected',
      when: 'another attempt may arrive',
      to: state,
      source: 'rules#cash-out.unknown.8',
    },
    {
      from: state,
      on: 'send.rejected',
      to: 'FAILED',
      posts: 'cash_out_released',
      emits: 'pix_cash_out',
      source: 'rules#cash-out.states.7',
    },
    { from: state, on: 'send.not_sent', to: state, source: 'rules#cash-out.states.8' },
    { from: state, on: 'send.unknown', to: 'PROVIDER_RESULT_UNKNOWN', source: 'rules#cash-out.unknown.3' },
    {
      from: state,
      on: 'send.contradicted',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'send_contradicted',
      source: 'rules#cash-out.states.9',
    },
    leftElsewhere(state),
    {
      from: state,
      on: 'partner.confirmed',
      when: 'amount differs',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'left_unattributed',
      opens: 'amount_differs',
      source: 'rules#cash-out.states.12',
    },
    {
      from: state,
      on: 'partner.confirmed',
      to: 'CONFIRMED',
      posts: 'cash_out_confirmed',
      emits: 'pix_cash_out',
      source: 'rules#cash-out.states.11',
    },
    {
      from: state,
      on: 'partner.failed',
      when: 'partner agrees when asked',
      to: 'FAILED',
      posts: 'cash_out_released',
      emits: 'pix_cash_out',
      source: 'rules#cash-out.states.13',
    },
    { from: state, on: 'partner.failed', to: state, source: 'rules#cash-out.states.14' },
    {
      from: state,
      on: 'partner.not_found',
      when: 'never arrived and must not be sent again',
      to: 'FAILED',
      posts: 'cash_out_released',
      emits: 'pix_cash_out',
      source: 'rules#cash-out.unknown.6',
    },
    { from: state, on: 'partner.not_found', to: state, source: 'rules#cash-out.unknown.4' },
    {
      from: state,
      on: 'clock.escalated',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'result_missing',
      source: 'rules#cash-out.unknown.5',
    },
  ] as const
}

/** Money that was given back and then left all the same. */
function ended<const State extends 'FAILED' | 'RELEASED'>(state: State) {
  return [
    {
      from: state,
      on: 'send.accepted',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'answer_after_end',
      source: 'rules#cash-out.ended.1',
    },
    {
      from: state,
      on: 'send.contradicted',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'answer_after_end',
      source: 'rules#cash-out.ended.1',
    },
    leftElsewhere(state),
    {
      from: state,
      on: 'partner.confirmed',
      when: 'amount differs',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'left_unattributed',
      opens: 'amount_differs',
      source: 'rules#cash-out.states.12',
    },
    {
      from: state,
      on: 'partner.confirmed',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'left_after_release',
      opens: 'confirmed_after_release',
      source: 'rules#cash-out.ended.2',
    },
    returnedElsewhere(state),
    {
      from: state,
      on: 'partner.returned',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'returned_without_sending',
      source: 'rules#cash-out.ended.3',
    },
  ] as const
}

/** Another word about a return that was booked changes nothing that was. */
function restated<const State extends 'REVERSED' | 'RECONCILIATION_REQUIRED'>(state: State) {
  return {
    from: state,
    on: 'partner.returned',
    when: 'return was booked otherwise',
    to: state,
    opens: 'return_restated',
    source: 'rules#cash-out.reversal.3',
  } as const
}

/** Another word about what left: about the same movement it books nothing, another movement is booked in any case. */
function confirmedAgain<const State extends 'CONFIRMED' | 'REVERSED'>(state: State) {
  return [
    leftElsewhere(state),
    {
      from: state,
      on: 'partner.confirmed',
      when: 'movement restated',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'confirmation_restated',
      source: 'rules#cash-out.confirmed.3',
    },
    {
      from: state,
      on: 'partner.confirmed',
      when: 'movement is a second one',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'left_unattributed',
      opens: 'second_payment',
      source: 'rules#cash-out.confirmed.5',
    },
  ] as const
}

/** What may be a return that is booked is not booked again for want of its id, nor once that is told. */
function returnedBefore<const State extends 'REVERSED' | 'RECONCILIATION_REQUIRED'>(state: State) {
  return {
    from: state,
    on: 'partner.returned',
    when: 'return may be known',
    to: state,
    opens: 'return_told_before',
    source: 'rules#cash-out.reversal.5',
  } as const
}

/** A confirmed payout that comes back. */
function returning<const State extends 'CONFIRMED' | 'REVERSED'>(state: State) {
  return [
    {
      from: state,
      on: 'partner.returned',
      when: 'return is of another payment',
      to: state,
      source: 'rules#cash-out.reversal.4',
    },
    returnedElsewhere(state),
    {
      from: state,
      on: 'partner.returned',
      when: 'return has no id',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'arrived_unattributed',
      opens: 'return_unnamed',
      source: 'rules#cash-out.reversal.5',
    },
    {
      from: state,
      on: 'partner.returned',
      when: 'returns exceed the payout',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'arrived_unattributed',
      opens: 'returned_too_much',
      source: 'rules#cash-out.reversal.2',
    },
    {
      from: state,
      on: 'partner.returned',
      to: 'REVERSED',
      posts: 'cash_out_returned',
      emits: 'pix_cash_out_reversal',
      source: 'rules#cash-out.reversal.1',
    },
  ] as const
}

/**
 * The life of a cash-out. `send.*` is what the partner answered to our own call, `partner.*` what it reports (by
 * webhook or when asked), `clock.*` the passing of time.
 * @source rules#cash-out.states
 */
export const cashOut = machine({
  resource: 'cash_out',
  states: cashOutStates,
  triggers: [
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
    'clock.escalated',
    'clock.overdue',
  ],
  guards: {
    'movement belongs to another operation': 'this end-to-end or return id was booked on another operation',
    'partner agrees when asked': 'the partner says it when asked by us, not only in an event',
    'amount differs': 'the partner states another amount than the payout',
    'movement restated': 'the confirmation names the end-to-end id that was booked, and another amount or recipient',
    'movement is a second one': 'the confirmation names another end-to-end id than the one that was booked',
    'reference differs': 'the partner names another reference than before',
    'return was booked otherwise': 'the return id was booked before with another amount',
    'returns exceed the payout': 'all returns together would exceed the value',
    'nothing of it left': 'its outcome is open, and no byte of any attempt left',
    'asked in vain and safe to repeat':
      'its outcome is open, the partner was asked since the last attempt and told none, it does once what it is told twice, still knows the first attempt, and has refused none',
    'another attempt may arrive': 'an attempt before the refused one may have arrived, or may still arrive',
    'return is of another payment': 'an event names another end-to-end id than the payout’s as the one that came back',
    'return may be known':
      'a return of the same amount was booked, and one of the two, this one or that one, was told without its id',
    'return has no id':
      'the bank, who cannot be asked, told no return id, so that it could be told again as another return',
    'never arrived and must not be sent again':
      'the partner, who never had it, was asked twice, a minute apart and five minutes after the last attempt, and it is not to be sent again: the partner would do it twice, has refused it, or knows the first attempt no longer',
    'evidence was missing': 'the case was opened only because no answer came',
    'sending was not recorded': 'the case was opened because we have no record of sending',
    'hold is gone': 'the reservation was given back before',
  },
  cases: {
    movement_elsewhere: 'The partner tells a movement that was booked on another operation. It is in suspense here.',
    confirmed_without_sending: 'The partner confirms a payout that we have no record of sending.',
    send_contradicted: 'The partner’s answer contradicts what was sent. The money stays reserved.',
    amount_differs: 'Another amount than the payout left. It is in suspense; what is reserved stays reserved.',
    answer_after_end: 'The partner answered about a payout that had already ended here.',
    confirmation_restated: 'The partner states other facts for a payout that was confirmed.',
    second_payment: 'Money left a second time for a payout that was confirmed. It is in suspense.',
    confirmed_in_doubt: 'Money left while the payout was in doubt. It is in suspense.',
    failed_after_confirmation: 'The partner reports a failure of a payout that was confirmed. Nothing was released.',
    return_restated: 'The partner states another amount for a return that was booked.',
    returned_too_much: 'More came back than was sent. The last return is in suspense.',
    return_told_before: 'A return was told with its id and without it, or there are two. One is booked.',
    return_unnamed: 'Money came back without a return id. It is in suspense.',
    returned_in_doubt: 'Money came back while the payout was in doubt. It is in suspense.',
    confirmed_after_release: 'Money left after its reservation was given back. What is there is held again.',
    returned_without_sending: 'A return arrived for a payout that was never confirmed.',
    result_missing: 'The partner gave no answer within 15 minutes.',
    outcome_overdue: 'The partner has had the order for a day and tells no outcome.',
  },
  rows: [
    ...cashOutStates.flatMap(work),

    { from: null, on: 'create', to: 'RESERVED', posts: 'cash_out_reserved', source: 'rules#cash-out.states.1' },

    { from: 'RESERVED', on: 'send.claimed', to: 'DISPATCHED', source: 'rules#cash-out.states.2' },
    {
      from: 'RESERVED',
      on: 'clock.released',
      to: 'RELEASED',
      posts: 'cash_out_released',
      emits: 'pix_cash_out',
      source: 'rules#cash-out.states.3',
    },
    leftElsewhere('RESERVED'),
    {
      from: 'RESERVED',
      on: 'partner.confirmed',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'confirmed_without_sending',
      source: 'rules#cash-out.states.5',
    },

    { from: 'DISPATCHED', on: 'send.accepted', to: 'DISPATCHED', source: 'rules#cash-out.states.6' },
    {
      from: 'DISPATCHED',
      on: 'clock.released',
      to: 'RELEASED',
      posts: 'cash_out_released',
      emits: 'pix_cash_out',
      source: 'rules#cash-out.states.10',
    },
    {
      from: 'DISPATCHED',
      on: 'clock.overdue',
      to: 'DISPATCHED',
      opens: 'outcome_overdue',
      source: 'rules#cash-out.states.15',
    },
    ...underWay('DISPATCHED'),

    {
      from: 'PROVIDER_RESULT_UNKNOWN',
      on: 'clock.released',
      to: 'RELEASED',
      posts: 'cash_out_released',
      emits: 'pix_cash_out',
      source: 'rules#cash-out.states.10',
    },
    { from: 'PROVIDER_RESULT_UNKNOWN', on: 'send.accepted', to: 'DISPATCHED', source: 'rules#cash-out.unknown.2' },
    ...underWay('PROVIDER_RESULT_UNKNOWN'),

    {
      from: 'CONFIRMED',
      on: 'send.accepted',
      when: 'reference differs',
      to: 'CONFIRMED',
      opens: 'answer_after_end',
      source: 'rules#cash-out.confirmed.2',
    },
    { from: 'CONFIRMED', on: 'send.accepted', to: 'CONFIRMED', source: 'rules#cash-out.confirmed.1' },
    {
      from: 'CONFIRMED',
      on: 'send.rejected',
      to: 'CONFIRMED',
      opens: 'answer_after_end',
      source: 'rules#cash-out.confirmed.2',
    },
    {
      from: 'CONFIRMED',
      on: 'partner.not_found',
      to: 'CONFIRMED',
      opens: 'answer_after_end',
      source: 'rules#cash-out.confirmed.2',
    },
    ...confirmedAgain('CONFIRMED'),
    {
      from: 'CONFIRMED',
      on: 'partner.failed',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'failed_after_confirmation',
      source: 'rules#cash-out.confirmed.4',
    },
    {
      from: 'CONFIRMED',
      on: 'send.contradicted',
      to: 'CONFIRMED',
      opens: 'answer_after_end',
      source: 'rules#cash-out.confirmed.2',
    },
    ...returning('CONFIRMED'),
    {
      from: 'REVERSED',
      on: 'send.contradicted',
      to: 'REVERSED',
      opens: 'answer_after_end',
      source: 'rules#cash-out.confirmed.2',
    },
    ...confirmedAgain('REVERSED'),
    restated('REVERSED'),
    returnedBefore('REVERSED'),
    ...returning('REVERSED'),

    ...ended('FAILED'),
    ...ended('RELEASED'),

    ...sendingAgain('RECONCILIATION_REQUIRED'),
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'clock.released',
      when: 'evidence was missing',
      to: 'RELEASED',
      posts: 'cash_out_released',
      emits: 'pix_cash_out',
      source: 'rules#cash-out.states.10',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'send.accepted',
      when: 'evidence was missing',
      to: 'DISPATCHED',
      source: 'rules#cash-out.reconciliation.1',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'send.rejected',
      when: 'another attempt may arrive',
      to: 'RECONCILIATION_REQUIRED',
      source: 'rules#cash-out.unknown.8',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'send.rejected',
      when: 'evidence was missing',
      to: 'FAILED',
      posts: 'cash_out_released',
      emits: 'pix_cash_out',
      source: 'rules#cash-out.reconciliation.1',
    },
    leftElsewhere('RECONCILIATION_REQUIRED'),
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.confirmed',
      when: 'amount differs',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'left_unattributed',
      opens: 'amount_differs',
      source: 'rules#cash-out.states.12',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.confirmed',
      when: 'hold is gone',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'left_after_release',
      opens: 'confirmed_after_release',
      source: 'rules#cash-out.ended.2',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.confirmed',
      when: 'evidence was missing',
      to: 'CONFIRMED',
      posts: 'cash_out_confirmed',
      emits: 'pix_cash_out',
      source: 'rules#cash-out.reconciliation.1',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.confirmed',
      when: 'sending was not recorded',
      to: 'CONFIRMED',
      posts: 'cash_out_confirmed',
      emits: 'pix_cash_out',
      source: 'rules#cash-out.states.4',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.confirmed',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'left_unattributed',
      opens: 'confirmed_in_doubt',
      source: 'rules#cash-out.reconciliation.2',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.failed',
      when: 'evidence was missing',
      to: 'FAILED',
      posts: 'cash_out_released',
      emits: 'pix_cash_out',
      source: 'rules#cash-out.reconciliation.1',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.not_found',
      when: 'never arrived and must not be sent again',
      to: 'FAILED',
      posts: 'cash_out_released',
      emits: 'pix_cash_out',
      source: 'rules#cash-out.unknown.6',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.not_found',
      to: 'RECONCILIATION_REQUIRED',
      source: 'rules#cash-out.unknown.4',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'send.contradicted',
      when: 'evidence was missing',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'send_contradicted',
      source: 'rules#cash-out.states.9',
    },
    returnedElsewhere('RECONCILIATION_REQUIRED'),
    restated('RECONCILIATION_REQUIRED'),
    returnedBefore('RECONCILIATION_REQUIRED'),
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.returned',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'arrived_unattributed',
      opens: 'returned_in_doubt',
      source: 'rules#cash-out.reconciliation.3',
    },
  ],
})

/** A state of a cash-out. */
export type CashOutStatus = StateOf<typeof cashOut>
