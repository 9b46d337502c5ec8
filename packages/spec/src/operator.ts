import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import { machine, type StateOf } from './machine.ts'
import { cents, idempotencyKey, instant, int64, nullable, text, uuid } from './shapes.ts'

/**
 * Manual actions of the operator: stopping payouts and refunds, and adjusting the balance to the bank's. All of them
 * are audited.
 */

/**
 * An adjustment books a decision of an operator or of the reconciliation; its state says which. One that holds incoming
 * money changes until the money is assigned; the others are final at once.
 * @source rules#adjustment.create.2
 */
export const adjustment = machine({
  resource: 'adjustment',
  states: ['CREDITED', 'DEBITED', 'HELD', 'EXPLAINED', 'SUSPENDED', 'GAINED', 'BORNE', 'LOST'],
  meanings: {
    CREDITED: 'The merchant has it.',
    DEBITED: 'It went out.',
    HELD: 'It came in by the bank’s statement alone, and is held in suspense.',
    EXPLAINED: 'It was held until an operation explained it.',
    SUSPENDED: 'An operator decided that it is no operation’s. What is left of it is in suspense.',
    GAINED: 'It is a gain of the house.',
    BORNE: 'It left, or the bank does not have it, and the merchant bears it.',
    LOST: 'It left, or the bank does not have it, and the house bears it.',
  },
  reasons: {},
  triggers: [
    'operator.credited',
    'operator.debited',
    'operator.written_off',
    'operator.attributed',
    'operator.returned_to_payer',
    'line.unexplained',
    'line.explained',
    'line.claimed',
    'line.taken_back',
    'refund.confirmed',
    'refund.released',
    'refund.named',
  ],
  guards: {
    'a return of it is under way': 'an amount of it is being returned to its payer',
    'it is no payment': 'it is no payment, but a payout that came back',
    'it left': 'it left the bank’s account, or the bank does not have it',
    'of a movement': 'the bank’s statement has it, as a movement that nobody has booked',
    'its movement was taken back':
      'an operation had booked its movement, until an operator took that back, as the bank did not have it',
  },
  // biome-ignore format: one line of the table is one line
  lines: [
    { from: null, on: 'operator.credited', to: 'CREDITED', posts: 'adjustment_credited', rule: 'adjustment.states.1', says: 'What came in is `CREDITED`: it is free at once and repays a debt first. The ledger shows an `ADJUSTMENT` with the reason.' },

    // Unexplained incoming money.
    { from: null, on: 'line.unexplained', to: 'HELD', posts: 'held_arrived', opens: 'unexplained_credit', rule: 'adjustment.held.1', says: 'Incoming money that nothing explains is held in suspense, and is a case. That claims no movement: an operation that turns out to be paid by it books it as its own.' },
    { from: 'HELD', on: 'line.explained', to: 'EXPLAINED', posts: 'held_explained', rule: 'adjustment.held.2', says: 'Once an operation, or an adjustment, has booked it, or all of it went back by itself, it is held no more, and its case closes.' },
    { from: 'HELD', on: 'operator.attributed', to: 'EXPLAINED', posts: 'held_explained', decides: 'unexplained_credit', rule: 'adjustment.held.3', says: 'An operator names the operation that it is of, which books it by its own table in the same instant.' },
    { from: 'HELD', on: 'line.claimed', when: 'its movement was taken back', to: 'SUSPENDED', rule: 'adjustment.held.10', says: 'What the statement has after all, once an operator had taken its booking back, is in suspense under a movement that is booked once: nothing more is booked with the decision.' },
    { from: 'HELD', on: 'line.claimed', to: 'EXPLAINED', posts: 'held_explained', rule: 'adjustment.held.4', says: 'Any other decision, or a part of it that the bank takes back, makes it a movement of the adjustment’s own,' },
    { from: 'EXPLAINED', on: 'line.claimed', to: 'SUSPENDED', posts: 'arrived_unattributed', rule: 'adjustment.held.4', says: 'in suspense under its own id: no operation can book it any more. Both moves and what follows are one change.' },
    { from: 'SUSPENDED', on: 'operator.credited', unless: 'a return of it is under way', to: 'CREDITED', posts: 'held_credited', decides: 'unexplained_credit', rule: 'adjustment.held.5', says: 'What is left of it is the merchant’s, and repays a debt first.' },
    { from: 'SUSPENDED', on: 'operator.returned_to_payer', unless: 'it is no payment', to: 'same', decides: 'unexplained_credit', rule: 'adjustment.held.6', says: 'An amount of it goes back to its payer through the bank: a refund is ordered, and the money stays in suspense until the bank confirms it. Where the bank refuses, nothing changed. The case closes when nothing is left in suspense.' },
    { from: 'SUSPENDED', on: 'operator.written_off', unless: 'a return of it is under way', to: 'GAINED', posts: 'arrival_written_off', decides: 'unexplained_credit', rule: 'adjustment.held.7', says: 'What nobody claims is a gain.' },
    { from: 'SUSPENDED', on: 'line.taken_back', to: 'same', posts: 'arrival_returned', rule: 'adjustment.held.8', says: 'What the bank gives back of it by itself is taken from suspense. The case closes when nothing is left.' },
    { from: 'SUSPENDED', on: ['refund.confirmed', 'refund.released', 'refund.named'], to: 'same', rule: 'adjustment.held.9', says: 'What becomes of a refund of it is counted.' },

    // Unexplained outgoing money, and differences.
    { from: null, on: 'operator.debited', when: ['it left', 'of a movement'], to: 'BORNE', posts: 'debit_borne', rule: 'adjustment.differences.1', says: 'Outgoing money that nothing explains is booked when it is decided who bears it: the merchant, who owes what the balance does not have,' },
    { from: null, on: 'operator.written_off', when: ['it left', 'of a movement'], to: 'LOST', posts: 'debit_written_off', rule: 'adjustment.differences.1', says: 'or the house.' },
    { from: null, on: 'operator.debited', when: 'it left', to: 'BORNE', posts: 'difference_borne', rule: 'adjustment.differences.2', says: 'So is what the bank has less than the books have of a movement, and what left after all, once an operator had taken its booking back.' },
    { from: null, on: 'operator.debited', to: 'DEBITED', posts: 'adjustment_debited', rule: 'adjustment.states.2', says: 'What went out is `DEBITED`. The merchant’s servers are notified of neither.' },
    { from: null, on: 'operator.written_off', when: 'it left', to: 'LOST', posts: 'difference_lost', rule: 'adjustment.differences.2', says: 'It is a loss where the house bears it.' },
    { from: null, on: 'operator.written_off', to: 'GAINED', posts: 'difference_gained', rule: 'adjustment.differences.3', says: 'What the bank has more is a gain of the house where the merchant is not credited with it.' },
  ],
})

export type AdjustmentStatus = StateOf<typeof adjustment>

const reason = text(limits.reasonMaxLength, 'Why, for whoever reads the audit trail')

const VERSIONS = { minimum: 1, maximum: Number.MAX_SAFE_INTEGER }

const cashOutSwitch = Type.Object(
  {
    enabled: Type.Boolean(),
    reason: nullable(Type.String({ maxLength: limits.reasonMaxLength })),
    changedAt: nullable(instant),
    version: int64({ ...VERSIONS, description: 'One more each time it is set' }),
  },
  {
    title: 'CashOutSwitch',
    description:
      'Whether payouts and refunds are accepted and sent, since when and why; the latter two `null` until it is first set.',
  },
)

const suspended = { enabled: false, reason: 'Incident 42', changedAt: '2026-11-21T13:00:00.000Z', version: 2 }

/** @source rules#operator.switch.1 */
export const getCashOutSwitch = endpoint({
  id: 'getCashOutSwitch',
  method: 'GET',
  path: '/operator/cash-out-switch',
  auth: 'admin',
  role: 'viewer',
  tag: 'Operator',
  summary: 'Read whether payouts and refunds are enabled',
  description: 'With the reason, since when, and the `version` that switching on compares.',
  responses: { 200: { description: 'The switch as it stands', schema: cashOutSwitch, example: suspended } },
  errors: [],
})

/** @source rules#operator.switch.1 */
export const setCashOutSwitch = endpoint({
  id: 'setCashOutSwitch',
  method: 'PUT',
  path: '/operator/cash-out-switch',
  auth: 'admin',
  role: 'operator',
  tag: 'Operator',
  summary: 'Suspend or resume payouts and refunds',
  description:
    'Off: new payouts and refunds are refused with 503 `cash_out_suspended` at once, in every process, and what is reserved waits. What was sent already takes its course. Off always wins, whatever was asked before; on is 409 `version_conflict` where the switch was set meanwhile.',
  body: Type.Object(
    {
      enabled: Type.Boolean(),
      reason,
      version: Type.Optional(
        nullable(
          int64({
            ...VERSIONS,
            description:
              'On only: the version that was seen; left out, the one that stands when the request comes. Off ignores it.',
          }),
        ),
      ),
    },
    { title: 'CashOutSwitchRequest', additionalProperties: false },
  ),
  example: { enabled: false, reason: 'Incident 42' },
  responses: { 200: { description: 'The switch as it is now', schema: cashOutSwitch, example: suspended } },
  errors: ['version_conflict'],
})

/** @source rules#adjustment.create.1 */
export const createAdjustment = endpoint({
  id: 'createAdjustment',
  method: 'POST',
  path: '/operator/adjustments',
  auth: 'admin',
  role: 'operator',
  tag: 'Operator',
  summary: 'Adjust the balance: opening balance, top-up or withdrawal at the bank',
  description:
    'Books what was moved at the bank by hand; moves nothing there. From `PIXGATE_DESK_APPROVAL_FROM_CENTS` on, either way, it is proposed: a case `adjustment_requested`, which another person approves. The administrative token names nobody, so it proposes nothing: 403 `insufficient_role`. Send an `Idempotency-Key`, so that a lost answer is not booked twice.',
  headers: {
    'Idempotency-Key': { ...idempotencyKey, description: 'Replays the answer to the same request within 24 hours' },
  },
  body: Type.Object(
    {
      valueCents: int64({
        minimum: -Number(limits.valueMaxCents),
        maximum: Number(limits.valueMaxCents),
        description: 'Positive: came in; negative: went out. Never 0',
      }),
      reason,
    },
    { title: 'AdjustmentRequest', additionalProperties: false },
  ),
  example: { valueCents: 50000, reason: 'Opening balance' },
  responses: {
    201: {
      description: 'Booked; the ledger has it as `ADJUSTMENT`',
      headers: ['Idempotent-Replayed'],
      schema: Type.Object(
        {
          id: uuid,
          valueCents: cents('As it was sent, with its sign'),
          reason: Type.String({ maxLength: limits.reasonMaxLength }),
          createdAt: instant,
        },
        { title: 'Adjustment' },
      ),
      example: {
        id: '0198c0f0-3f00-7000-8000-1a2b3c4d5e6f',
        valueCents: 50000,
        reason: 'Opening balance',
        createdAt: '2026-11-21T13:00:00.000Z',
      },
    },
    202: {
      description: 'Proposed; nothing is booked until another person approves it',
      headers: ['Idempotent-Replayed'],
      schema: Type.Object(
        { caseId: uuid, proposalId: { ...uuid, description: 'To be approved or refused' } },
        { title: 'AdjustmentProposed' },
      ),
      example: {
        caseId: '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f',
        proposalId: '0198c0f3-3f00-7000-8000-8b9c0d1e2f3a',
      },
    },
  },
  errors: ['idempotency_key_reused', 'insufficient_balance'],
})
