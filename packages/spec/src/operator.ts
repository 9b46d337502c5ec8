import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import { machine, type StateOf } from './machine.ts'
import { cents, idempotencyKey, instant, int64, nullable, text, uuid } from './shapes.ts'

/**
 * What the operator does by hand: stopping payouts and refunds, and adjusting the balance to what is at the bank. All of it leaves
 * rows in the audit trail.
 */

/**
 * An adjustment is over when it is made: its state tells its direction.
 * @source rules#adjustment.create.2
 */
export const adjustment = machine({
  resource: 'adjustment',
  states: [
    'CREDITED',
    'DEBITED',
    'CLEARING_ARRIVED',
    'CLEARING_LEFT',
    'CLEARING_ADDED',
    'CLEARING_REMOVED',
    'CLEARING_CREDITED',
    'CLEARING_DEBITED',
    'CLEARING_GAINED',
    'CLEARING_LOST',
  ],
  meanings: {
    CREDITED: 'It came in.',
    DEBITED: 'It went out.',
    CLEARING_ARRIVED: 'It came in by the bank’s statement alone, and is in clearing.',
    CLEARING_LEFT: 'It left by the bank’s statement alone, and clearing lacks it.',
    CLEARING_ADDED: 'The bank has it beyond what is booked, and it is in clearing.',
    CLEARING_REMOVED: 'The bank does not have it of what is booked, and clearing lacks it.',
    CLEARING_CREDITED: 'It went from clearing to the merchant.',
    CLEARING_DEBITED: 'The merchant bore what clearing lacked.',
    CLEARING_GAINED: 'It went from clearing to gains.',
    CLEARING_LOST: 'What clearing lacked was written off.',
  },
  reasons: {},
  triggers: [
    'operator.credited',
    'operator.debited',
    'operator.arrived',
    'operator.left',
    'operator.added',
    'operator.removed',
    'operator.settled_credit',
    'operator.settled_debit',
    'operator.written_off_gain',
    'operator.written_off_loss',
  ],
  guards: {},
  cases: {},
  // biome-ignore format: one line of the table is one line
  lines: [
    { from: null, on: 'operator.credited', to: 'CREDITED', posts: 'adjustment_credited', rule: 'adjustment.states.1', says: 'What came in is `CREDITED`: it is free at once and repays a debt first. The ledger shows an `ADJUSTMENT` with the reason.' },
    { from: null, on: 'operator.debited', to: 'DEBITED', posts: 'adjustment_debited', rule: 'adjustment.states.2', says: 'What went out is `DEBITED`. The merchant’s servers are notified of neither.' },
    { from: null, on: 'operator.arrived', to: 'CLEARING_ARRIVED', posts: 'clearing_arrived', rule: 'adjustment.clearing.1', says: 'A movement of the bank’s statement that the books do not have is booked under its own id to clearing, once: it came in,' },
    { from: null, on: 'operator.left', to: 'CLEARING_LEFT', posts: 'clearing_left', rule: 'adjustment.clearing.1', says: 'or it left.' },
    { from: null, on: 'operator.added', to: 'CLEARING_ADDED', posts: 'clearing_added', rule: 'adjustment.clearing.2', says: 'The difference between the bank’s statement and a movement of the books is booked to clearing: the bank has more,' },
    { from: null, on: 'operator.removed', to: 'CLEARING_REMOVED', posts: 'clearing_removed', rule: 'adjustment.clearing.2', says: 'or less.' },
    { from: null, on: 'operator.settled_credit', to: 'CLEARING_CREDITED', posts: 'clearing_credited', rule: 'adjustment.clearing.3', says: 'What is in clearing is credited to the merchant, and repays a debt first;' },
    { from: null, on: 'operator.settled_debit', to: 'CLEARING_DEBITED', posts: 'clearing_debited', rule: 'adjustment.clearing.3', says: 'what clearing lacks the merchant bears, and owes where the balance does not suffice.' },
    { from: null, on: 'operator.written_off_gain', to: 'CLEARING_GAINED', posts: 'clearing_gained', rule: 'adjustment.clearing.4', says: 'What is in clearing is an unexplained gain;' },
    { from: null, on: 'operator.written_off_loss', to: 'CLEARING_LOST', posts: 'clearing_lost', rule: 'adjustment.clearing.4', says: 'what clearing lacks is a loss. The merchant’s balance stays as it is.' },
  ],
})

/** A state of an adjustment. */
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
