import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import { machine, type StateOf } from './machine.ts'
import { cents, idempotencyKey, instant, int64, nullable, text, uuid } from './shapes.ts'

/** Manual actions of operators: the kill switch and adjustments of the balance. All are audited. */

/**
 * A booking by an operator or the reconciliation; the state is its kind. A held credit changes its state until it is
 * decided; the others are final at creation.
 * @source rules#adjustment.create.2
 */
export const adjustment = machine({
  resource: 'adjustment',
  states: ['CREDITED', 'DEBITED', 'HELD', 'EXPLAINED', 'SUSPENDED', 'GAINED', 'BORNE', 'LOST'],
  meanings: {
    CREDITED: 'Credited to the merchant.',
    DEBITED: 'Debited for a withdrawal.',
    HELD: 'A credit on the bank’s statement without an operation, held in suspense.',
    EXPLAINED: 'Was held until an operation explained it.',
    SUSPENDED: 'An operator decided that it belongs to no operation. The rest is in suspense.',
    GAINED: 'A gain of the house.',
    BORNE: 'A debit, or a credit that the bank lacks, borne by the merchant.',
    LOST: 'A debit, or a credit that the bank lacks, borne by the house.',
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
    'a return of it is under way': 'an amount of it is being returned to the payer',
    'it is no payment': 'it is not a payment, but a returned payout',
    'it left': 'it left the bank’s account, or the bank lacks it',
    'of a movement': 'the bank’s statement has it as an unbooked movement',
    'its movement was taken back':
      'an operation had booked its movement until an operator reversed that, as the bank lacked it',
  },
  // biome-ignore format: one line of the table is one line
  lines: [
    { from: null, on: 'operator.credited', to: 'CREDITED', posts: 'adjustment_credited', rule: 'adjustment.states.1', says: 'A credit is available at once and repays a debt first. The ledger shows an `ADJUSTMENT` with the reason.' },

    // Unexplained credits.
    { from: null, on: 'line.unexplained', to: 'HELD', posts: 'held_arrived', opens: 'unexplained_credit', rule: 'adjustment.held.1', says: 'An unexplained credit is held in suspense, with a case. The hold claims no movement, so an operation paid by it can book it.' },
    { from: 'HELD', on: 'line.explained', to: 'EXPLAINED', posts: 'held_explained', rule: 'adjustment.held.2', says: 'Once an operation or an adjustment has booked it, or the bank returned all of it, the hold ends and the case closes.' },
    { from: 'HELD', on: 'operator.attributed', to: 'EXPLAINED', posts: 'held_explained', decides: 'unexplained_credit', rule: 'adjustment.held.3', says: 'An operator attributes it to an operation, which books it by its own table in the same commit.' },
    { from: 'HELD', on: 'line.claimed', when: 'its movement was taken back', to: 'SUSPENDED', rule: 'adjustment.held.10', says: 'A line that appears after an operator reversed its booking is in suspense under a movement that is booked once: the decision books nothing more.' },
    { from: 'HELD', on: 'line.claimed', to: 'EXPLAINED', posts: 'held_explained', rule: 'adjustment.held.4', says: 'Any other decision, or a partial return by the bank, claims the movement for the adjustment,' },
    { from: 'EXPLAINED', on: 'line.claimed', to: 'SUSPENDED', posts: 'arrived_unattributed', rule: 'adjustment.held.4', says: 'in suspense under its own id: no operation can book it any more. Both moves and what follows are one commit.' },
    { from: 'SUSPENDED', on: 'operator.credited', unless: 'a return of it is under way', to: 'CREDITED', posts: 'held_credited', decides: 'unexplained_credit', rule: 'adjustment.held.5', says: 'The rest is credited to the merchant, and repays a debt first.' },
    { from: 'SUSPENDED', on: 'operator.returned_to_payer', unless: 'it is no payment', to: 'same', decides: 'unexplained_credit', rule: 'adjustment.held.6', says: 'An amount is returned to the payer through the bank: a refund is ordered, and the money stays in suspense until the bank confirms. A refusal changes nothing. The case closes when the suspense is empty.' },
    { from: 'SUSPENDED', on: 'operator.written_off', unless: 'a return of it is under way', to: 'GAINED', posts: 'arrival_written_off', decides: 'unexplained_credit', rule: 'adjustment.held.7', says: 'An unclaimed credit is booked as a gain.' },
    { from: 'SUSPENDED', on: 'line.taken_back', to: 'same', posts: 'arrival_returned', rule: 'adjustment.held.8', says: 'A return by the bank itself reduces the suspense. The case closes when the suspense is empty.' },
    { from: 'SUSPENDED', on: ['refund.confirmed', 'refund.released', 'refund.named'], to: 'same', rule: 'adjustment.held.9', says: 'Its refunds are counted.' },

    // Unexplained debits, and differences.
    { from: null, on: 'operator.debited', when: ['it left', 'of a movement'], to: 'BORNE', posts: 'debit_borne', rule: 'adjustment.differences.1', says: 'An unexplained debit is booked when it is decided who bears it: the merchant, for whom a shortfall becomes a debt,' },
    { from: null, on: 'operator.written_off', when: ['it left', 'of a movement'], to: 'LOST', posts: 'debit_written_off', rule: 'adjustment.differences.1', says: 'or the house.' },
    { from: null, on: 'operator.debited', when: 'it left', to: 'BORNE', posts: 'difference_borne', rule: 'adjustment.differences.2', says: 'The same holds for a negative difference (bank minus books), and for a debit that appears after an operator reversed its booking.' },
    { from: null, on: 'operator.debited', to: 'DEBITED', posts: 'adjustment_debited', rule: 'adjustment.states.2', says: 'A withdrawal is `DEBITED`. The merchant’s servers receive no notification of adjustments.' },
    { from: null, on: 'operator.written_off', when: 'it left', to: 'LOST', posts: 'difference_lost', rule: 'adjustment.differences.2', says: 'It is a loss if the house bears it.' },
    { from: null, on: 'operator.written_off', to: 'GAINED', posts: 'difference_gained', rule: 'adjustment.differences.3', says: 'A positive difference that is not credited to the merchant is a gain of the house.' },
  ],
})

export type AdjustmentStatus = StateOf<typeof adjustment>

const reason = text(limits.reasonMaxLength, 'The reason, for the audit trail')

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
    'Disabled: new payouts and refunds are refused with 503 `cash_out_suspended` at once, in every process, and what is reserved waits. What was sent already takes its course. Disabling always wins, whatever was asked before; enabling is 409 `version_conflict` where the switch was set meanwhile.',
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
    'Books what was moved at the bank by hand; moves nothing there. From `PIXGATE_DESK_APPROVAL_FROM_CENTS` on, either way, it is proposed: a case `adjustment_requested`, which another person approves. The administrative token names no person, so it proposes nothing: 403 `insufficient_role`. Send an `Idempotency-Key`, so that a lost answer is not booked twice.',
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
