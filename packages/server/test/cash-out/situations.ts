import type { AccountCode, CashOutStatus } from '@pixgate/spec'
import type { Person } from '../../src/access/index.ts'
import type { PayoutReturn } from '../../src/banks/port.ts'
import type { CashOut, CashOutFacts, CashOutInput, Movement, ReturnedInput } from '../../src/cash-out/cash-out.ts'
import type { CashOutRequest, CashOutTerms } from '../../src/cash-out/commands.ts'
import { decideCashOut } from '../../src/cash-out/rules.ts'
import { reasonFact } from '../../src/engine/follow.ts'
import type { ControlName, Document, State } from '../../src/engine/operation.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { orderId } from '../../src/platform/ids.ts'
import { INSTALLATION, limitsOf, MADE_BY, NOTHING_USED } from '../support/limits.ts'
import { ORDER_INPUTS } from '../support/order-inputs.ts'

/** Cash-outs in every state, and everything that may happen to them, for tests of the rules alone. */

/** When the tests take place: two minutes after the payout was claimed for sending, ten after it was made. */
export const NOW = Date.parse('2026-11-21T13:30:00.000Z')
export const SENT_AT = NOW - 120_000
export const CREATED_AT = NOW - 600_000

/** What the merchant of the tests has configured: a fee of R$ 1,00 and no caps. */
export const TERMS: CashOutTerms = {
  installation: INSTALLATION,
  fee: { cents: 1_00n, basisPoints: 0n },
  maxValueCents: 100_000_00n,
  limits: limitsOf(),
  approvalFromCents: null,
}

/** A payout that was claimed for sending once. */
export const SENT = { attempts: 1, firstAttemptAt: SENT_AT, lastAttemptAt: SENT_AT, dispatchedAt: SENT_AT } as const

/** A payout that left by E1. */
export const LEFT = {
  ...SENT,
  isAccepted: true,
  movements: { E1: 30_00 },
  confirmedAt: NOW - 60_000,
  partnerFeeCents: null,
  recipientName: 'João Souza',
  recipientDocument: '11144477735',
  recipientIspb: '99999010',
} as const

const NO_DOUBT = { ...reasonFact(null), unknownSince: null } as const

/** What is known in each state, at the least. */
const FACTS: Readonly<Record<CashOutStatus, CashOutFacts>> = {
  RESERVED: {},
  DISPATCHED: SENT,
  CONFIRMED: LEFT,
  FAILED: { ...SENT, failureCode: 'refused', failureReason: null, isReleased: true, ...NO_DOUBT },
  REVERSED: { ...LEFT, returns: { D0: 5_00 } },
  RELEASED: { failureCode: 'never_sent', failureReason: null, isReleased: true, ...NO_DOUBT },
  PROVIDER_RESULT_UNKNOWN: { ...SENT, unknownSince: NOW - 60_000, questions: 3 },
  RECONCILIATION_REQUIRED: { ...SENT, ...reasonFact('conflict') },
}

/** A payout of R$ 30,00 with a fee of R$ 1,00, to an e-mail address. */
export function cashOutAs(status: CashOutStatus, given: Partial<CashOut> = {}): CashOut {
  const hasLeft = status === 'CONFIRMED' || status === 'REVERSED'
  return {
    id: '0198c0e1-22b4-7000-8000-6a7b8c9d0e1f',
    kind: 'cash_out',
    externalId: 'payout-1',
    orderId: orderId(INSTALLATION, { kind: 'cash_out', externalId: 'payout-1' }),
    status,
    version: 3,
    valueCents: 30_00n,
    feeCents: 1_00n,
    correlationId: 'test',
    bodyHash: sha256('payout-1'),
    idempotencyKey: null,
    exclusiveKey: 'pix-code bank.example/qr/1',
    expiresAt: null,
    dueAt: null,
    transactionId: hasLeft ? 'tx' : null,
    endToEndId: hasLeft ? 'E1' : null,
    detail: {
      description: null,
      paymentType: 'key',
      recipient: { name: 'João', document: null, pixKey: 'joao@example.com', pixKeyType: 'email' },
      qrCode: null,
    },
    facts: FACTS[status],
    createdAt: CREATED_AT,
    updatedAt: SENT_AT,
    openCases: [],
    ...given,
  }
}

/** A valid create; what a test cares about is given. */
export function cashOutRequest(
  given: Partial<CashOutRequest> & Pick<CashOutRequest, 'id' | 'externalId'>,
): CashOutRequest {
  return {
    valueCents: 30_00n,
    detail: cashOutAs('RESERVED').detail,
    exclusiveKey: null,
    correlationId: 'test',
    idempotencyKey: null,
    madeBy: MADE_BY,
    bodyHash: sha256(JSON.stringify([given.externalId, String(given.valueCents)])),
    ...given,
  }
}

/** The bank says that money left, of the exact value and just now unless told otherwise. */
export function confirmed(
  given: Partial<Movement> = {},
  isVerified = true,
): Extract<CashOutInput, { on: 'partner.confirmed' }> {
  const movement = {
    endToEndId: 'E1',
    valueCents: 30_00n,
    occurredAt: NOW - 1_000,
    feeCents: undefined,
    recipient: { name: 'João Souza', document: '11144477735', ispb: '99999010' },
    ...given,
  }
  return { on: 'partner.confirmed', movement, transactionId: 'tx', isVerified }
}

/** The bank says that R$ 10,00, or what is given, came back. */
export function returned(given: Partial<PayoutReturn> = {}, isVerified = true): ReturnedInput {
  const what = { returnId: 'D1', valueCents: 10_00n, occurredAt: NOW - 1_000, ...given }
  return { on: 'partner.returned', returned: what, isVerified }
}

/** Who approves. */
export const APPROVER = { actor: '0198c0d1-3f00-7000-8000-5e6f1a2b3c4d', actorName: 'Bia', address: '203.0.113.8' }

/** An operator who is an active approver, unless told otherwise. */
export function person(id: string, name: string, given: Partial<Person> = {}): Person {
  return { id, name, role: 'approver', isActive: true, madeBy: null, ...given }
}

/** One input of each kind that a cash-out can be given. */
export const INPUTS = {
  ...ORDER_INPUTS,
  'send.accepted': { on: 'send.accepted', transactionId: 'tx' },
  'send.rejected': { on: 'send.rejected', attempt: 1, errorCode: 'limit', errorMessage: 'too much' },
  'send.contradicted': { on: 'send.contradicted', reason: 'other valueCents', transactionId: 'tx' },
  'partner.confirmed': confirmed(),
  'partner.failed': {
    on: 'partner.failed',
    errorCode: 'closed_account',
    errorMessage: 'the account is closed',
    transactionId: 'tx',
    occurredAt: NOW - 1_000,
    isVerified: true,
  },
  'partner.not_found': { on: 'partner.not_found', windowMs: 86_400_000, askedAt: NOW },
  'partner.returned': returned(),
  'partner.tariff': { on: 'partner.tariff', tariffId: '', tariffCents: 35n },
  'operator.approved': {
    on: 'operator.approved',
    approver: APPROVER,
    reason: 'checked',
    people: [person(APPROVER.actor, APPROVER.actorName)],
    deactivationCount: 1n,
    isRequesterDeactivated: false,
  },
  'operator.refused': { on: 'operator.refused', approver: APPROVER, reason: 'nobody knows it' },
} as const satisfies Readonly<Record<CashOutInput['on'], CashOutInput>>

/** What a decision looks at besides the cash-out: R$ 50,00 are free unless told otherwise. */
export function stateOf(
  balances: Partial<Record<AccountCode, bigint>> = {},
  controls: Partial<Record<ControlName, Document>> = {},
  movement: State['movement'] = () => undefined,
): State {
  return {
    operation: () => undefined,
    openCase: () => undefined,
    movement,
    balance: (code) => ({ available: 50_00n, ...balances })[code] ?? 0n,
    control: (name) => controls[name] ?? CONTROLS[name],
    versionOf: () => 1n,
    ...NOTHING_USED,
  }
}

const CONTROLS: Readonly<Record<ControlName, Document>> = {
  cash_out_switch: { enabled: true },
  holders: {},
}

/** Decides inputs for the merchant of the tests. */
export function decide(before: CashOut, inputs: CashOutInput | readonly CashOutInput[], at = NOW, state = stateOf()) {
  return decideCashOut(before, 'on' in inputs ? [inputs] : inputs, state, at)
}
