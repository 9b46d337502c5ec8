import { machine, type StateOf } from '../machine.ts'

/**
 * Refund-in: all or part of a paid cash-in goes back, because the merchant or the bank says so. Doubt shows as a case, never as a state of its own.
 */

const refundInStates = ['PENDING', 'CONFIRMED', 'FAILED'] as const

/** Asking the partner is possible in every state and changes none by itself; it says when to ask (again). */
function work<const State extends string>(state: State) {
  return [
    { from: state, on: 'work.requested', to: state, source: 'rules#refund-in.work.1' },
    { from: state, on: 'work.claimed', to: state, source: 'rules#refund-in.work.2' },
    { from: state, on: 'work.done', to: state, source: 'rules#refund-in.work.3' },
  ] as const
}

/** One movement is one operation's: told for another one too, it waits in suspense for a person. */
function leftElsewhere<const State extends string>(state: State) {
  return {
    from: state,
    on: 'partner.confirmed',
    when: 'movement belongs to another operation',
    to: state,
    posts: 'left_unattributed',
    opens: 'movement_elsewhere',
    source: 'rules#refund-in.doubt.9',
  } as const
}

/** What went back of another payment is not this refund: the bank is asked what became of it. */
function ofAnotherPayment<const State extends string>(state: State) {
  return {
    from: state,
    on: 'partner.confirmed',
    when: 'another payment went back',
    to: state,
    source: 'rules#refund-in.doubt.7',
  } as const
}

/** The end of a refund of which nothing left. */
const released = { to: 'FAILED', posts: 'refund_in_released', emits: 'pix_cash_in_reversal' } as const

/**
 * The life of a refund-in. `send.*` is what the partner answered to our own call, `partner.*` what it reports (by webhook
 * or when asked), `clock.*` the passing of time. A return that the bank made by itself (MED) is born `CONFIRMED`.
 * @source rules#refund-in.states
 */
export const refundIn = machine({
  resource: 'refund_in',
  states: refundInStates,
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
    'movement belongs to another operation': 'this return id was booked on an operation that is not of this payment',
    'partner agrees when asked': 'the partner says it when asked by us, not only in an event',
    'sending was not recorded': 'it was never claimed for sending, and only an event says that it was sent',
    'return was booked before':
      'the return id was booked as another movement of the cash-in, or one of both was told without an id and is of the same amount',
    'amount differs': 'the partner states another amount than the refund',
    'another payment went back': 'an event names another end-to-end id than that of the payment which the refund is of',
    'return has no id':
      'the bank, who cannot be asked, told no return id, so that it could be told again as another return',
    'waits for a person': 'what the partner said before contradicts what was sent',
    'return restated': 'the confirmation names the return id that was booked, and another amount',
    'return is a second one': 'the confirmation names another return id than the one that was booked',
    'reference differs': 'the partner names another reference than before',
    'money is held again': 'money had left after the end before, and what was there of it is held',
    'nothing of it left': 'it was never claimed for sending, or no byte of any attempt left',
    'asked in vain and safe to repeat':
      'the partner was asked since the last attempt and told no outcome, it does once what it is told twice, still knows the first attempt, and has refused none',
    'another attempt may arrive': 'an attempt before the refused one may have arrived, or may still arrive',
    'never arrived and must not be sent again':
      'the partner, who never had it, was asked twice, a minute apart and five minutes after the last attempt, and it is not to be sent again: the partner would do it twice, has refused it, or knows the first attempt no longer',
  },
  cases: {
    movement_elsewhere: 'The partner tells a movement that was booked on another operation. It is in suspense here.',
    confirmed_without_sending: 'The partner confirms a refund that we have no record of sending.',
    send_contradicted: 'The partner’s answer contradicts what was sent. The money stays reserved.',
    amount_differs: 'Another amount than the refund was returned. It is in suspense; what is reserved stays reserved.',
    confirmed_unnamed:
      'Money left for the refund without a return id. It is in suspense; what is reserved stays reserved.',
    return_booked_before: 'The partner confirms the refund by a return that was booked as another one.',
    confirmed_in_doubt: 'Money was returned while the refund was in doubt. It is in suspense.',
    answer_after_end: 'The partner answered about a refund that had already ended here.',
    confirmation_restated: 'The partner states other facts for a refund that was confirmed.',
    second_payment: 'Money left a second time for a refund that was confirmed. It is in suspense.',
    failed_after_confirmation: 'The partner reports a failure of a refund that was confirmed. Nothing was released.',
    confirmed_after_release: 'Money left after its reservation was given back. What is there is held again.',
    result_missing: 'The partner gave no answer within 15 minutes.',
    outcome_overdue: 'The partner has had the order for a day and tells no outcome.',
  },
  rows: [
    ...refundInStates.flatMap(work),

    { from: null, on: 'create', to: 'PENDING', posts: 'refund_in_reserved', source: 'rules#refund-in.states.1' },
    {
      from: null,
      on: 'partner.returned',
      to: 'CONFIRMED',
      posts: 'taken_by_bank',
      emits: 'pix_cash_in_reversal',
      source: 'rules#refund-in.returns.1',
    },

    {
      from: 'PENDING',
      on: 'send.claimed',
      when: 'nothing of it left',
      to: 'PENDING',
      source: 'rules#refund-in.states.2',
    },
    {
      from: 'PENDING',
      on: 'send.claimed',
      when: 'asked in vain and safe to repeat',
      to: 'PENDING',
      source: 'rules#refund-in.unknown.2',
    },
    { from: 'PENDING', on: 'send.accepted', to: 'PENDING', source: 'rules#refund-in.states.3' },
    {
      from: 'PENDING',
      on: 'send.rejected',
      when: 'another attempt may arrive',
      to: 'PENDING',
      source: 'rules#refund-in.unknown.5',
    },
    { from: 'PENDING', on: 'send.rejected', ...released, source: 'rules#refund-in.states.4' },
    { from: 'PENDING', on: 'send.not_sent', to: 'PENDING', source: 'rules#refund-in.states.5' },
    { from: 'PENDING', on: 'clock.released', ...released, source: 'rules#refund-in.states.6' },
    { from: 'PENDING', on: 'send.unknown', to: 'PENDING', source: 'rules#refund-in.unknown.1' },
    {
      from: 'PENDING',
      on: 'send.contradicted',
      to: 'PENDING',
      opens: 'send_contradicted',
      source: 'rules#refund-in.doubt.1',
    },
    ofAnotherPayment('PENDING'),
    leftElsewhere('PENDING'),
    {
      from: 'PENDING',
      on: 'partner.confirmed',
      when: 'sending was not recorded',
      to: 'PENDING',
      opens: 'confirmed_without_sending',
      source: 'rules#refund-in.doubt.2',
    },
    {
      from: 'PENDING',
      on: 'partner.confirmed',
      when: 'return was booked before',
      to: 'PENDING',
      opens: 'return_booked_before',
      source: 'rules#refund-in.doubt.3',
    },
    {
      from: 'PENDING',
      on: 'partner.confirmed',
      when: 'return has no id',
      to: 'PENDING',
      posts: 'left_unattributed',
      opens: 'confirmed_unnamed',
      source: 'rules#refund-in.doubt.8',
    },
    {
      from: 'PENDING',
      on: 'partner.confirmed',
      when: 'amount differs',
      to: 'PENDING',
      posts: 'left_unattributed',
      opens: 'amount_differs',
      source: 'rules#refund-in.doubt.4',
    },
    {
      from: 'PENDING',
      on: 'partner.confirmed',
      when: 'waits for a person',
      to: 'PENDING',
      posts: 'left_unattributed',
      opens: 'confirmed_in_doubt',
      source: 'rules#refund-in.doubt.5',
    },
    {
      from: 'PENDING',
      on: 'partner.confirmed',
      to: 'CONFIRMED',
      posts: 'refund_in_confirmed',
      emits: 'pix_cash_in_reversal',
      source: 'rules#refund-in.states.7',
    },
    {
      from: 'PENDING',
      on: 'partner.failed',
      when: 'partner agrees when asked',
      ...released,
      source: 'rules#refund-in.states.8',
    },
    { from: 'PENDING', on: 'partner.failed', to: 'PENDING', source: 'rules#refund-in.states.9' },
    {
      from: 'PENDING',
      on: 'partner.not_found',
      when: 'never arrived and must not be sent again',
      ...released,
      source: 'rules#refund-in.unknown.3',
    },
    { from: 'PENDING', on: 'partner.not_found', to: 'PENDING', source: 'rules#refund-in.unknown.2' },
    {
      from: 'PENDING',
      on: 'clock.escalated',
      to: 'PENDING',
      opens: 'result_missing',
      source: 'rules#refund-in.unknown.4',
    },
    {
      from: 'PENDING',
      on: 'clock.overdue',
      to: 'PENDING',
      opens: 'outcome_overdue',
      source: 'rules#refund-in.states.10',
    },

    {
      from: 'CONFIRMED',
      on: 'send.accepted',
      when: 'reference differs',
      to: 'CONFIRMED',
      opens: 'answer_after_end',
      source: 'rules#refund-in.ended.2',
    },
    { from: 'CONFIRMED', on: 'send.accepted', to: 'CONFIRMED', source: 'rules#refund-in.ended.1' },
    {
      from: 'CONFIRMED',
      on: 'send.rejected',
      to: 'CONFIRMED',
      opens: 'answer_after_end',
      source: 'rules#refund-in.ended.2',
    },
    {
      from: 'CONFIRMED',
      on: 'send.contradicted',
      to: 'CONFIRMED',
      opens: 'answer_after_end',
      source: 'rules#refund-in.ended.2',
    },
    {
      from: 'CONFIRMED',
      on: 'partner.not_found',
      to: 'CONFIRMED',
      opens: 'answer_after_end',
      source: 'rules#refund-in.ended.2',
    },
    ofAnotherPayment('CONFIRMED'),
    leftElsewhere('CONFIRMED'),
    {
      from: 'CONFIRMED',
      on: 'partner.confirmed',
      when: 'return restated',
      to: 'CONFIRMED',
      opens: 'confirmation_restated',
      source: 'rules#refund-in.ended.3',
    },
    {
      from: 'CONFIRMED',
      on: 'partner.confirmed',
      when: 'return was booked before',
      to: 'CONFIRMED',
      opens: 'return_booked_before',
      source: 'rules#refund-in.doubt.3',
    },
    {
      from: 'CONFIRMED',
      on: 'partner.confirmed',
      when: 'return is a second one',
      to: 'CONFIRMED',
      posts: 'left_unattributed',
      opens: 'second_payment',
      source: 'rules#refund-in.ended.8',
    },
    {
      from: 'CONFIRMED',
      on: 'partner.failed',
      to: 'CONFIRMED',
      opens: 'failed_after_confirmation',
      source: 'rules#refund-in.ended.4',
    },

    {
      from: 'FAILED',
      on: 'send.accepted',
      to: 'FAILED',
      opens: 'answer_after_end',
      source: 'rules#refund-in.ended.5',
    },
    {
      from: 'FAILED',
      on: 'send.contradicted',
      to: 'FAILED',
      opens: 'answer_after_end',
      source: 'rules#refund-in.ended.5',
    },
    ofAnotherPayment('FAILED'),
    leftElsewhere('FAILED'),
    {
      from: 'FAILED',
      on: 'partner.confirmed',
      when: 'return was booked before',
      to: 'FAILED',
      opens: 'return_booked_before',
      source: 'rules#refund-in.doubt.3',
    },
    {
      from: 'FAILED',
      on: 'partner.confirmed',
      when: 'money is held again',
      to: 'FAILED',
      posts: 'left_unattributed',
      opens: 'confirmed_in_doubt',
      source: 'rules#refund-in.ended.7',
    },
    {
      from: 'FAILED',
      on: 'partner.confirmed',
      to: 'FAILED',
      posts: 'left_after_release',
      opens: 'confirmed_after_release',
      source: 'rules#refund-in.ended.6',
    },
  ],
})

/** A state of a refund-in. */
export type RefundInStatus = StateOf<typeof refundIn>
