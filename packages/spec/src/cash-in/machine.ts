import { machine, type StateOf } from '../machine.ts'

/**
 * Cash-in: a charge that a payer pays.
 */

const cashInStates = [
  'PENDING',
  'PAID',
  'EXPIRED',
  'FAILED',
  'PROVIDER_RESULT_UNKNOWN',
  'RECONCILIATION_REQUIRED',
] as const

type CashInState = (typeof cashInStates)[number]

/** Asking the partner is possible in every state and changes none by itself; it says when to ask (again). */
function work<const State extends string>(state: State) {
  return [
    { from: state, on: 'work.requested', to: state, source: 'rules#cash-in.work.1' },
    { from: state, on: 'work.claimed', to: state, source: 'rules#cash-in.work.2' },
    {
      from: state,
      on: 'work.done',
      when: 'payment told is unconfirmed for too long',
      to: state,
      opens: 'payment_unconfirmed',
      source: 'rules#cash-in.credits.4',
    },
    { from: state, on: 'work.done', to: state, source: 'rules#cash-in.work.3' },
  ] as const
}

/** A credited cash-in keeps count of what goes back, in doubt too: that changes no state. */
function refunds<const State extends 'PAID' | 'RECONCILIATION_REQUIRED'>(state: State) {
  return [
    {
      from: state,
      on: 'refund.confirmed',
      when: 'returns exceed the payment',
      to: state,
      opens: 'returned_too_much',
      source: 'rules#cash-in.refunds.5',
    },
    { from: state, on: 'refund.confirmed', to: state, source: 'rules#cash-in.refunds.2' },
    { from: state, on: 'refund.released', to: state, source: 'rules#cash-in.refunds.3' },
    { from: state, on: 'refund.named', to: state, source: 'rules#cash-in.refunds.8' },
    { from: state, on: 'refund.answered', to: state, source: 'rules#cash-in.returns.3' },
    {
      from: state,
      on: 'refund.taken',
      when: 'return restated',
      to: state,
      opens: 'return_restated',
      source: 'rules#cash-in.refunds.6',
    },
    {
      from: state,
      on: 'refund.taken',
      when: 'returns exceed the payment',
      to: state,
      opens: 'returned_too_much',
      source: 'rules#cash-in.refunds.5',
    },
    { from: state, on: 'refund.taken', to: state, source: 'rules#cash-in.refunds.4' },
  ] as const
}

/** One movement is one operation's: told for another one too, it waits in suspense for a person. */
function bookedElsewhere<const State extends Exclude<CashInState, 'PAID'>>(state: State) {
  return {
    from: state,
    on: 'partner.confirmed',
    when: 'movement belongs to another operation',
    to: 'RECONCILIATION_REQUIRED',
    posts: 'arrived_unattributed',
    opens: 'movement_elsewhere',
    source: 'rules#cash-in.states.13',
  } as const
}

/** A return that names no refund of ours is the bank's own only once no refund of ours can be it. */
function returns<const State extends 'PAID' | 'RECONCILIATION_REQUIRED'>(state: State) {
  return [
    {
      from: state,
      on: 'return.told',
      when: 'return restated',
      to: state,
      opens: 'return_restated',
      source: 'rules#cash-in.refunds.6',
    },
    {
      from: state,
      on: 'return.told',
      when: 'movement belongs to another operation',
      to: state,
      posts: 'left_unattributed',
      opens: 'movement_elsewhere',
      source: 'rules#cash-in.refunds.11',
    },
    {
      from: state,
      on: 'return.told',
      when: 'return has no id and may be known',
      to: state,
      opens: 'return_unnamed',
      source: 'rules#cash-in.refunds.10',
    },
    {
      from: state,
      on: 'return.told',
      when: 'return has no id',
      to: state,
      posts: 'left_unattributed',
      opens: 'return_unnamed',
      source: 'rules#cash-in.refunds.10',
    },
    {
      from: state,
      on: 'return.told',
      when: 'payment is in suspense',
      to: state,
      posts: 'arrival_returned',
      opens: 'suspended_payment_returned',
      source: 'rules#cash-in.refunds.12',
    },
    {
      from: state,
      on: 'return.told',
      when: 'payment cannot be told',
      to: state,
      posts: 'left_unattributed',
      opens: 'return_unattributed',
      source: 'rules#cash-in.refunds.9',
    },
    { from: state, on: 'return.told', when: 'a refund may explain it', to: state, source: 'rules#cash-in.returns.1' },
    {
      from: state,
      on: 'return.told',
      when: 'returns exceed the payment',
      to: state,
      opens: 'returned_too_much',
      source: 'rules#cash-in.refunds.5',
    },
    { from: state, on: 'return.told', to: state, source: 'rules#cash-in.returns.2' },
    {
      from: state,
      on: 'return.unexplained',
      to: state,
      posts: 'return_held',
      opens: 'return_unexplained',
      source: 'rules#cash-in.returns.4',
    },
    {
      from: state,
      on: 'return.known',
      when: 'money of it is held',
      to: state,
      posts: 'return_known',
      source: 'rules#cash-in.returns.5',
    },
    { from: state, on: 'return.known', to: state, source: 'rules#cash-in.returns.5' },
  ] as const
}

/** What an event alone tells of a payment is verified with the bank before it is booked. */
function verifiedFirst<const State extends CashInState>(state: State) {
  return {
    from: state,
    on: 'partner.confirmed',
    when: 'payment is to be verified',
    to: state,
    source: 'rules#cash-in.credits.1',
  } as const
}

/** What an event alone tells of a failure changes nothing; the bank is asked. */
function failureOnlyTold<const State extends CashInState>(state: State) {
  return {
    from: state,
    on: 'partner.failed',
    when: 'only an event tells it',
    to: state,
    source: 'rules#cash-in.states.10',
  } as const
}

/** No charge is paid before it exists. */
function paidBeforeCharge<
  const State extends 'PENDING' | 'PROVIDER_RESULT_UNKNOWN' | 'EXPIRED' | 'RECONCILIATION_REQUIRED',
>(state: State) {
  return {
    from: state,
    on: 'partner.confirmed',
    when: 'payment is older than the charge',
    to: 'RECONCILIATION_REQUIRED',
    posts: 'arrived_unattributed',
    opens: 'paid_before_charge',
    source: 'rules#cash-in.states.14',
  } as const
}

/** Money counts, whatever else the answer that tells of it says. */
function paidInContradiction<
  const State extends 'PENDING' | 'PROVIDER_RESULT_UNKNOWN' | 'EXPIRED' | 'RECONCILIATION_REQUIRED',
>(state: State) {
  return {
    from: state,
    on: 'partner.confirmed',
    when: 'answer contradicts',
    to: 'RECONCILIATION_REQUIRED',
    posts: 'arrived_unattributed',
    opens: 'paid_in_doubt',
    source: 'rules#cash-in.states.12',
  } as const
}

/**
 * The life of a cash-in. `charge.*` is what the partner answered to our own calls, `partner.*` what it reports of the
 * payment (by webhook or when asked), `clock.*` the passing of time, `refund.*` what becomes of its refunds,
 * `return.*` what becomes of a return that names none of them.
 * @source rules#cash-in.states
 */
export const cashIn = machine({
  resource: 'cash_in',
  states: cashInStates,
  triggers: [
    'create',
    'work.requested',
    'work.claimed',
    'work.done',
    'charge.accepted',
    'charge.rejected',
    'charge.not_sent',
    'charge.unknown',
    'charge.contradicted',
    'charge.not_found',
    'partner.confirmed',
    'partner.failed',
    'clock.expired',
    'clock.escalated',
    'refund.reserved',
    'refund.confirmed',
    'refund.released',
    'refund.taken',
    'refund.named',
    'refund.answered',
    'return.told',
    'return.unexplained',
    'return.known',
  ],
  guards: {
    'movement belongs to another operation': 'this end-to-end id, or return id, was booked on another operation',
    'payment is to be verified':
      'only an event tells it, and its amount, what was booked unverified, its time, or what an event told of it before asks for more',
    'only an event tells it': 'the partner has not said it when asked',
    'payment is older than the charge': 'it is dated more than 300 s before the charge was made',
    'absence settles it':
      'the time is over, and the partner never took the charge, or does not know it when asked twice, 60 s apart and 5 minutes after the last attempt',
    'absence contradicts':
      'the partner took the charge, and does not know it when asked twice, 60 s apart and 5 minutes after the last attempt',
    'absence settles what was missing': 'the case was opened only because no answer came, and absence settles it',
    'end is unknown for too long': 'the time has been over for an hour, and the partner has not ended the charge',
    'payment told is unconfirmed for too long':
      'an event told a payment 15 minutes ago that the partner, asked, has not confirmed',
    'payment restated': 'this end-to-end id was booked before, with another amount',
    'payment is a second one': 'another end-to-end id was booked before',
    'amount differs': 'the partner states another amount than the charge',
    'settled late': 'the payment settled more than 60 s after `expirationDate`',
    'answer contradicts': 'the partner tells it in an answer that contradicts what was asked',
    'evidence was missing': 'the case was opened only because no answer came',
    'return restated': 'this return id was booked before, with another amount',
    'returns exceed the payment': 'all that went back together exceeds the value',
    'a refund may explain it':
      'a refund of this payment is open and of this very amount, and no reference tells that the return is not its own',
    'money of it is held':
      'it was not known for 15 minutes whose it is, and what was there of it is held; or it was told without an id before, and is in suspense',
    'payment is in suspense':
      'the payment that the bank gave back is not the credited one, and as much is in suspense of it',
    'payment cannot be told':
      'which of several payments the bank gave back is not told, or less of it is in suspense than went back',
    'return has no id': 'the bank told no return id, so that it could be told again as another return',
    'return has no id and may be known':
      'the bank told no return id, and a return of the same amount was booked or is awaited, or a refund is under way',
  },
  cases: {
    movement_elsewhere: 'The partner tells a movement that was booked on another operation. It is in suspense here.',
    amount_differs: 'A payment of another amount than the charge arrived. The money is in suspense.',
    paid_after_expiry: 'A payment settled after the charge had expired. The money is in suspense.',
    paid_after_failure: 'A payment arrived for a charge that had failed. The money is in suspense.',
    second_payment: 'The charge was paid a second time. The second payment is in suspense.',
    payment_restated: 'The partner states another amount for a payment that was booked. Nothing was booked again.',
    failed_after_payment: 'The partner reports a failure of a charge that was paid. Nothing was debited.',
    charge_contradicted: 'The partner’s answer contradicts what was asked. The Pix code was withheld.',
    charge_after_end: 'The partner answered about a charge that had already ended here.',
    paid_in_doubt: 'A payment arrived while the charge was in doubt. The money is in suspense.',
    paid_before_charge: 'A payment is dated before its charge was made. The money is in suspense.',
    payment_unconfirmed: 'The partner told a payment and does not confirm it when asked. Nothing was booked.',
    end_unknown: 'The time of the charge was over an hour ago, and the partner does not tell whether it was paid.',
    result_missing: 'The partner gave no answer within 15 minutes.',
    returned_too_much: 'More went back than was paid. All of it is booked.',
    return_restated: 'The partner states another amount for a return that was booked. Nothing was booked again.',
    return_unexplained:
      'Money went back, and for 15 minutes the partner has not told whether a refund under way is it. What is there of it is held.',
    suspended_payment_returned: 'The bank gave a payment back that was in suspense. It was taken from suspense.',
    return_unattributed: 'Money went back, and which payment it was of is unclear. It is in suspense.',
    return_unnamed: 'The bank tells a return without its id. It is in suspense, unless one like it was told before.',
  },
  rows: [
    {
      from: 'PENDING',
      on: 'work.done',
      when: 'end is unknown for too long',
      to: 'PENDING',
      opens: 'end_unknown',
      source: 'rules#cash-in.expired.5',
    },
    ...cashInStates.flatMap(work),

    { from: null, on: 'create', to: 'PENDING', source: 'rules#cash-in.states.1' },

    { from: 'PENDING', on: 'charge.accepted', to: 'PENDING', source: 'rules#cash-in.states.2' },
    { from: 'PENDING', on: 'charge.rejected', to: 'FAILED', emits: 'pix_cash_in', source: 'rules#cash-in.states.3' },
    { from: 'PENDING', on: 'charge.not_sent', to: 'PENDING', source: 'rules#cash-in.states.4' },
    { from: 'PENDING', on: 'charge.unknown', to: 'PROVIDER_RESULT_UNKNOWN', source: 'rules#cash-in.states.5' },
    {
      from: 'PENDING',
      on: 'charge.contradicted',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'charge_contradicted',
      source: 'rules#cash-in.states.6',
    },
    {
      from: 'PENDING',
      on: 'charge.not_found',
      when: 'absence settles it',
      to: 'EXPIRED',
      source: 'rules#cash-in.states.11',
    },
    {
      from: 'PENDING',
      on: 'charge.not_found',
      when: 'absence contradicts',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'charge_contradicted',
      source: 'rules#cash-in.states.15',
    },
    { from: 'PENDING', on: 'charge.not_found', to: 'PENDING', source: 'rules#cash-in.states.15' },
    verifiedFirst('PENDING'),
    bookedElsewhere('PENDING'),
    {
      from: 'PENDING',
      on: 'partner.confirmed',
      when: 'amount differs',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'arrived_unattributed',
      opens: 'amount_differs',
      source: 'rules#cash-in.states.8',
    },
    {
      from: 'PENDING',
      on: 'partner.confirmed',
      when: 'settled late',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'arrived_unattributed',
      opens: 'paid_after_expiry',
      source: 'rules#cash-in.states.9',
    },
    paidBeforeCharge('PENDING'),
    paidInContradiction('PENDING'),
    {
      from: 'PENDING',
      on: 'partner.confirmed',
      to: 'PAID',
      posts: 'cash_in_paid',
      emits: 'pix_cash_in',
      source: 'rules#cash-in.states.7',
    },
    failureOnlyTold('PENDING'),
    { from: 'PENDING', on: 'partner.failed', to: 'FAILED', emits: 'pix_cash_in', source: 'rules#cash-in.states.10' },
    { from: 'PENDING', on: 'clock.expired', to: 'EXPIRED', source: 'rules#cash-in.states.11' },

    { from: 'PROVIDER_RESULT_UNKNOWN', on: 'charge.accepted', to: 'PENDING', source: 'rules#cash-in.unknown.1' },
    {
      from: 'PROVIDER_RESULT_UNKNOWN',
      on: 'charge.rejected',
      to: 'FAILED',
      emits: 'pix_cash_in',
      source: 'rules#cash-in.unknown.2',
    },
    {
      from: 'PROVIDER_RESULT_UNKNOWN',
      on: 'charge.not_sent',
      to: 'PROVIDER_RESULT_UNKNOWN',
      source: 'rules#cash-in.unknown.3',
    },
    {
      from: 'PROVIDER_RESULT_UNKNOWN',
      on: 'charge.unknown',
      to: 'PROVIDER_RESULT_UNKNOWN',
      source: 'rules#cash-in.unknown.3',
    },
    {
      from: 'PROVIDER_RESULT_UNKNOWN',
      on: 'charge.contradicted',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'charge_contradicted',
      source: 'rules#cash-in.states.6',
    },
    {
      from: 'PROVIDER_RESULT_UNKNOWN',
      on: 'charge.not_found',
      when: 'absence settles it',
      to: 'EXPIRED',
      source: 'rules#cash-in.unknown.6',
    },
    {
      from: 'PROVIDER_RESULT_UNKNOWN',
      on: 'charge.not_found',
      to: 'PROVIDER_RESULT_UNKNOWN',
      source: 'rules#cash-in.unknown.3',
    },
    verifiedFirst('PROVIDER_RESULT_UNKNOWN'),
    bookedElsewhere('PROVIDER_RESULT_UNKNOWN'),
    {
      from: 'PROVIDER_RESULT_UNKNOWN',
      on: 'partner.confirmed',
      when: 'amount differs',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'arrived_unattributed',
      opens: 'amount_differs',
      source: 'rules#cash-in.states.8',
    },
    paidBeforeCharge('PROVIDER_RESULT_UNKNOWN'),
    paidInContradiction('PROVIDER_RESULT_UNKNOWN'),
    {
      from: 'PROVIDER_RESULT_UNKNOWN',
      on: 'partner.confirmed',
      to: 'PAID',
      posts: 'cash_in_paid',
      emits: 'pix_cash_in',
      source: 'rules#cash-in.unknown.4',
    },
    failureOnlyTold('PROVIDER_RESULT_UNKNOWN'),
    {
      from: 'PROVIDER_RESULT_UNKNOWN',
      on: 'partner.failed',
      to: 'FAILED',
      emits: 'pix_cash_in',
      source: 'rules#cash-in.unknown.5',
    },
    { from: 'PROVIDER_RESULT_UNKNOWN', on: 'clock.expired', to: 'EXPIRED', source: 'rules#cash-in.unknown.6' },
    {
      from: 'PROVIDER_RESULT_UNKNOWN',
      on: 'clock.escalated',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'result_missing',
      source: 'rules#cash-in.unknown.7',
    },

    { from: 'EXPIRED', on: 'charge.accepted', to: 'EXPIRED', source: 'rules#cash-in.expired.1' },
    verifiedFirst('EXPIRED'),
    bookedElsewhere('EXPIRED'),
    {
      from: 'EXPIRED',
      on: 'partner.confirmed',
      when: 'amount differs',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'arrived_unattributed',
      opens: 'amount_differs',
      source: 'rules#cash-in.states.8',
    },
    {
      from: 'EXPIRED',
      on: 'partner.confirmed',
      when: 'settled late',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'arrived_unattributed',
      opens: 'paid_after_expiry',
      source: 'rules#cash-in.states.9',
    },
    paidBeforeCharge('EXPIRED'),
    paidInContradiction('EXPIRED'),
    {
      from: 'EXPIRED',
      on: 'partner.confirmed',
      to: 'PAID',
      posts: 'cash_in_paid',
      emits: 'pix_cash_in',
      source: 'rules#cash-in.expired.2',
    },

    { from: 'PAID', on: 'charge.accepted', to: 'PAID', source: 'rules#cash-in.paid.1' },
    { from: 'PAID', on: 'charge.rejected', to: 'PAID', opens: 'charge_after_end', source: 'rules#cash-in.paid.2' },
    {
      from: 'PAID',
      on: 'partner.confirmed',
      when: 'payment restated',
      to: 'PAID',
      opens: 'payment_restated',
      source: 'rules#cash-in.paid.3',
    },
    verifiedFirst('PAID'),
    {
      from: 'PAID',
      on: 'partner.confirmed',
      when: 'movement belongs to another operation',
      to: 'PAID',
      posts: 'arrived_unattributed',
      opens: 'movement_elsewhere',
      source: 'rules#cash-in.states.13',
    },
    {
      from: 'PAID',
      on: 'partner.confirmed',
      when: 'payment is a second one',
      to: 'PAID',
      posts: 'arrived_unattributed',
      opens: 'second_payment',
      source: 'rules#cash-in.paid.4',
    },
    failureOnlyTold('PAID'),
    {
      from: 'PAID',
      on: 'partner.failed',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'failed_after_payment',
      source: 'rules#cash-in.paid.5',
    },
    { from: 'PAID', on: 'refund.reserved', to: 'PAID', source: 'rules#cash-in.refunds.1' },
    ...refunds('PAID'),
    ...returns('PAID'),

    {
      from: 'FAILED',
      on: 'charge.accepted',
      to: 'FAILED',
      opens: 'charge_after_end',
      source: 'rules#cash-in.failed.1',
    },
    verifiedFirst('FAILED'),
    bookedElsewhere('FAILED'),
    {
      from: 'FAILED',
      on: 'partner.confirmed',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'arrived_unattributed',
      opens: 'paid_after_failure',
      source: 'rules#cash-in.failed.2',
    },

    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.confirmed',
      when: 'payment restated',
      to: 'RECONCILIATION_REQUIRED',
      opens: 'payment_restated',
      source: 'rules#cash-in.paid.3',
    },
    verifiedFirst('RECONCILIATION_REQUIRED'),
    bookedElsewhere('RECONCILIATION_REQUIRED'),
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.confirmed',
      when: 'payment is a second one',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'arrived_unattributed',
      opens: 'second_payment',
      source: 'rules#cash-in.reconciliation.2',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.confirmed',
      when: 'amount differs',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'arrived_unattributed',
      opens: 'amount_differs',
      source: 'rules#cash-in.states.8',
    },
    paidBeforeCharge('RECONCILIATION_REQUIRED'),
    paidInContradiction('RECONCILIATION_REQUIRED'),
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.confirmed',
      when: 'evidence was missing',
      to: 'PAID',
      posts: 'cash_in_paid',
      emits: 'pix_cash_in',
      source: 'rules#cash-in.reconciliation.1',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.confirmed',
      to: 'RECONCILIATION_REQUIRED',
      posts: 'arrived_unattributed',
      opens: 'paid_in_doubt',
      source: 'rules#cash-in.reconciliation.3',
    },
    failureOnlyTold('RECONCILIATION_REQUIRED'),
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'partner.failed',
      when: 'evidence was missing',
      to: 'FAILED',
      emits: 'pix_cash_in',
      source: 'rules#cash-in.reconciliation.1',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'clock.expired',
      when: 'evidence was missing',
      to: 'EXPIRED',
      source: 'rules#cash-in.reconciliation.1',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'charge.not_found',
      when: 'absence settles what was missing',
      to: 'EXPIRED',
      source: 'rules#cash-in.reconciliation.1',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'charge.accepted',
      when: 'evidence was missing',
      to: 'PENDING',
      source: 'rules#cash-in.reconciliation.1',
    },
    {
      from: 'RECONCILIATION_REQUIRED',
      on: 'charge.rejected',
      when: 'evidence was missing',
      to: 'FAILED',
      emits: 'pix_cash_in',
      source: 'rules#cash-in.reconciliation.1',
    },
    ...refunds('RECONCILIATION_REQUIRED'),
    ...returns('RECONCILIATION_REQUIRED'),
  ],
})

/** A state of a cash-in. */
export type CashInStatus = StateOf<typeof cashIn>
