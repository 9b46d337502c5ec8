import { machine, type StateOf } from './machine.ts'

/**
 * Refund-in: all or part of a paid cash-in goes back. Its life. Doubt shows as a case, never as a state of its own.
 */

/**
 * The life of a refund-in. A return that the bank made by itself (MED) is born `CONFIRMED`.
 * @source rules#refund-in.states
 */
export const refundIn = machine({
  resource: 'refund_in',
  states: ['PENDING', 'CONFIRMED', 'FAILED'],
  triggers: [
    'create',
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
  ],
  guards: {
    'amount differs': 'the partner states another amount than the refund',
    'facts differ': 'the confirmation names another amount or return id than the one booked',
  },
  cases: {
    send_contradicted: 'The partner’s answer contradicts what was sent. The money stays reserved.',
    amount_differs: 'Another amount than the refund was returned. The money stays reserved.',
    confirmation_restated: 'The partner states other facts for a refund that was confirmed.',
    failed_after_confirmation: 'The partner reports a failure of a refund that was confirmed.',
    confirmed_after_release: 'Money left after its reservation was given back. What is there is held again.',
    result_missing: 'The partner gave no answer within 15 minutes.',
  },
  rows: [
    { from: null, on: 'create', to: 'PENDING', posts: 'refund_in_reserved', source: 'rules#refund-in.states.1' },
    {
      from: null,
      on: 'partner.returned',
      to: 'CONFIRMED',
      posts: 'taken_by_bank',
      emits: 'pix_cash_in_reversal',
      source: 'rules#refund-in.states.2',
    },

    { from: 'PENDING', on: 'send.claimed', to: 'PENDING', source: 'rules#refund-in.states.3' },
    { from: 'PENDING', on: 'send.accepted', to: 'PENDING', source: 'rules#refund-in.states.4' },
    {
      from: 'PENDING',
      on: 'send.rejected',
      to: 'FAILED',
      posts: 'refund_in_released',
      emits: 'pix_cash_in_reversal',
      source: 'rules#refund-in.states.5',
    },
    { from: 'PENDING', on: 'send.not_sent', to: 'PENDING', source: 'rules#refund-in.states.6' },
    { from: 'PENDING', on: 'send.unknown', to: 'PENDING', source: 'rules#refund-in.states.7' },
    {
      from: 'PENDING',
      on: 'send.contradicted',
      to: 'PENDING',
      opens: 'send_contradicted',
      source: 'rules#refund-in.states.8',
    },
    {
      from: 'PENDING',
      on: 'partner.confirmed',
      when: 'amount differs',
      to: 'PENDING',
      opens: 'amount_differs',
      source: 'rules#refund-in.states.10',
    },
    {
      from: 'PENDING',
      on: 'partner.confirmed',
      to: 'CONFIRMED',
      posts: 'refund_in_confirmed',
      emits: 'pix_cash_in_reversal',
      source: 'rules#refund-in.states.9',
    },
    {
      from: 'PENDING',
      on: 'partner.failed',
      to: 'FAILED',
      posts: 'refund_in_released',
      emits: 'pix_cash_in_reversal',
      source: 'rules#refund-in.states.11',
    },
    { from: 'PENDING', on: 'partner.not_found', to: 'PENDING', source: 'rules#refund-in.states.7' },
    {
      from: 'PENDING',
      on: 'clock.released',
      to: 'FAILED',
      posts: 'refund_in_released',
      emits: 'pix_cash_in_reversal',
      source: 'rules#refund-in.states.12',
    },
    {
      from: 'PENDING',
      on: 'clock.escalated',
      to: 'PENDING',
      opens: 'result_missing',
      source: 'rules#refund-in.states.13',
    },

    {
      from: 'CONFIRMED',
      on: 'partner.confirmed',
      when: 'facts differ',
      to: 'CONFIRMED',
      opens: 'confirmation_restated',
      source: 'rules#refund-in.ended.1',
    },
    {
      from: 'CONFIRMED',
      on: 'partner.failed',
      to: 'CONFIRMED',
      opens: 'failed_after_confirmation',
      source: 'rules#refund-in.ended.2',
    },

    {
      from: 'FAILED',
      on: 'partner.confirmed',
      to: 'FAILED',
      posts: 'left_after_release',
      opens: 'confirmed_after_release',
      source: 'rules#refund-in.ended.3',
    },
  ],
})

/** A state of a refund-in. */
export type RefundInStatus = StateOf<typeof refundIn>
