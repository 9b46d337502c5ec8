import {
  cashIn,
  feeCents,
  type GuardOf,
  limits,
  nanosecondText,
  normaliseDocument,
  Refusal,
  type TriggerOf,
} from '@pixgate/spec'
import { type Changes, follow } from '../../engine/follow.ts'
import { type Create, created, type Decision, type Document, type Operation } from '../../engine/operation.ts'
import type { Payment } from '../../partner/port.ts'

/**
 * What a cash-in does with each input. Pure: the table in the spec says where to go, this file says what its conditions
 * mean and what becomes known on the way.
 */

/** What the client asked for, and what we asked the partner for: never changes, so that every attempt is the same. */
export interface CashInDetail extends Document {
  readonly description: string | null
  readonly generateQrCode: boolean
  readonly payer: { readonly fullName: string; readonly document: string } | null
  readonly merchant: { readonly pixKey: string; readonly name: string; readonly city: string }
}

/** What became known since. */
export interface CashInFacts extends Document {
  readonly pixCode?: string
  /** Every payment that was booked: end-to-end id → centavos. */
  readonly payments?: Readonly<Record<string, number>>
  /** Epoch milliseconds, the partner's word. */
  readonly paidAt?: number
  readonly payerName?: string | null
  readonly payerDocument?: string | null
  readonly payerIspb?: string | null
  readonly failureCode?: string
  readonly failureReason?: string | null
  /** Since when the partner's answer is missing, and how often it was asked. */
  readonly unknownSince?: number | null
  readonly questions?: number
  /** Why a case is open. */
  readonly doubt?: 'missing' | 'contradiction' | null
  /** What the bank said when it was asked about a contradiction: for the person who decides. */
  readonly bankAnswer?: Document
  /** What refunds under way have set aside, centavos. */
  readonly refundsOpenCents?: number
  /** Everything that went back, by our refunds or by the bank itself: return id → centavos. */
  readonly returns?: Readonly<Record<string, number>>
}

/** A cash-in as the engine keeps it. */
export type CashIn = Operation<CashInDetail, CashInFacts>

/** What can happen to a cash-in after its creation. */
export type CashInInput =
  | { readonly on: 'work.requested' | 'clock.expired' }
  | { readonly on: 'work.claimed'; readonly leaseMs: number }
  | { readonly on: 'work.done'; readonly bankAnswer: Document }
  | { readonly on: 'charge.accepted'; readonly transactionId: string; readonly pixCode: string }
  | { readonly on: 'charge.rejected'; readonly errorCode: string; readonly errorMessage: string | null }
  | { readonly on: 'charge.not_sent' | 'charge.unknown' | 'charge.contradicted'; readonly reason: string }
  | { readonly on: 'partner.confirmed'; readonly payment: Payment; readonly transactionId: string }
  | {
      readonly on: 'partner.failed'
      readonly errorCode: string
      readonly errorMessage: string | null
      readonly transactionId: string | null
      readonly occurredAt: number | null
    }

/** What becomes of a refund. `refund.taken`: money went back that no refund under way had set aside. */
export type RefundEvent =
  | { readonly on: 'refund.reserved' | 'refund.released'; readonly valueCents: bigint }
  | { readonly on: 'refund.confirmed' | 'refund.taken'; readonly returnId: string; readonly valueCents: bigint }

/**
 * What became of an input. `IGNORED`: nothing to change, known already or too late. `IMPLAUSIBLE`: the partner's time
 * lies in the future, so it is not believed.
 */
export interface CashInOutcome {
  readonly result: 'APPLIED' | 'IGNORED' | 'IMPLAUSIBLE'
  /** The cash-in as it is now. */
  readonly cashIn: CashIn
}

/** A create as the edge hands it over: shapes judged, money exact, nothing else decided. */
export interface CashInRequest {
  readonly id: string
  readonly valueCents: bigint
  readonly externalId: string
  readonly description: string | null
  readonly expirationSeconds: number
  readonly generateQrCode: boolean
  readonly payer: { readonly fullName: string; readonly document: string } | null
  readonly correlationId: string
  readonly bodyHash: Buffer
  /** The client's `Idempotency-Key` with its scope; `null` where it sent none. */
  readonly idempotencyKey: string | null
}

/** The merchant's part of a create: configuration. */
export interface CashInTerms {
  readonly merchant: CashInDetail['merchant']
  readonly fee: { readonly cents: bigint; readonly basisPoints: bigint }
  readonly maxValueCents: bigint
}

/**
 * Decides a create.
 * @throws value_not_positive · value_too_large · invalid_document (422)
 * @source rules#cash-in.create.2, rules#fees.2
 */
export function decideCreate(request: CashInRequest, terms: CashInTerms, now: number): Decision<CashIn> {
  if (request.valueCents <= 0n) throw new Refusal('value_not_positive', field('transaction.value', 'not_positive'))
  if (request.valueCents > terms.maxValueCents) {
    throw new Refusal('value_too_large', field('transaction.value', 'too_large'))
  }
  const detail: CashInDetail = {
    description: request.description,
    generateQrCode: request.generateQrCode,
    payer: request.payer && { ...request.payer, document: validDocument(request.payer.document) },
    merchant: terms.merchant,
  }
  const fee = feeCents(request.valueCents, terms.fee)
  const create: Create = {
    operation: {
      id: request.id,
      kind: 'cash_in',
      externalId: request.externalId,
      status: 'PENDING',
      valueCents: request.valueCents,
      feeCents: fee < request.valueCents ? fee : request.valueCents,
      correlationId: request.correlationId,
      bodyHash: request.bodyHash,
      idempotencyKey: request.idempotencyKey,
      exclusiveKey: null,
      expiresAt: now + request.expirationSeconds * 1_000,
      dueAt: now + limits.abandonedIntentMs,
      transactionId: null,
      endToEndId: null,
      detail,
      facts: {},
    },
  }
  return { creates: [create], outcome: created(create, now) as CashIn }
}

function validDocument(text: string): string {
  const document = normaliseDocument(text)
  if (document === null) throw new Refusal('invalid_document', field('payer.document', 'invalid_document'))
  return document
}

function field(name: string, code: string) {
  return { fields: [{ field: name, code, message: `${name} is not acceptable: ${code}` }] }
}

/**
 * Decides any later input by the machine's table.
 * @source rules#cash-in.states
 */
export function decideCashIn(
  cashInNow: CashIn,
  given: CashInInput | RefundEvent,
  now: number,
): Decision<CashInOutcome> {
  const input = judged(cashInNow, given, now)
  if (input === 'IGNORED' || input === 'IMPLAUSIBLE') return { outcome: { result: input, cashIn: cashInNow } }
  const payment = input.on === 'partner.confirmed' ? input.payment : undefined
  return follow(
    cashIn,
    cashInNow,
    {
      on: input.on,
      holds: (guard) => GUARDS[guard](cashInNow, payment, input),
      changes: (row) => changesOf(cashInNow, input, row, now),
      amounts: { v: cashInNow.valueCents, f: cashInNow.feeCents, p: payment?.valueCents ?? 0n },
      reference: payment?.endToEndId ?? ('returnId' in input ? input.returnId : ''),
      notification: (status) => ({ status, reference: '', body: notificationBody(cashInNow, input, status) }),
      evidence: evidenceOf(input),
      outcome: (after, isApplied) => ({ result: isApplied ? 'APPLIED' : 'IGNORED', cashIn: after as CashIn }),
    },
    now,
  )
}

/** An input that the table may see: time runs out on a question, known facts and implausible ones are taken out. */
function judged(
  now: CashIn,
  input: CashInInput | RefundEvent,
  at: number,
): CashInInput | RefundEvent | { on: 'clock.escalated' } | 'IGNORED' | 'IMPLAUSIBLE' {
  switch (input.on) {
    case 'partner.confirmed':
      if (input.payment.occurredAt > at + limits.occurredAtFutureMs) return 'IMPLAUSIBLE'
      return bookedAmount(now, input.payment) === input.payment.valueCents ? 'IGNORED' : input
    case 'charge.accepted':
      if (now.transactionId !== null && now.transactionId !== input.transactionId) {
        return { on: 'charge.contradicted', reason: 'another transactionId for the same charge' }
      }
      return now.facts.pixCode !== undefined && now.status !== 'PROVIDER_RESULT_UNKNOWN' ? 'IGNORED' : input
    case 'charge.not_sent':
    case 'charge.unknown':
      return isUnansweredTooLong(now, at) ? { on: 'clock.escalated' } : input
    case 'work.claimed':
      return now.dueAt !== null && now.dueAt <= at ? input : 'IGNORED'
    case 'work.done':
      return now.dueAt === restingDueAt(now, at) ? 'IGNORED' : input
    case 'refund.taken':
      return now.facts.returns?.[input.returnId] === Number(input.valueCents) ? 'IGNORED' : input
    default:
      return input
  }
}

/** A bank that cannot be reached answers no more than one that is silent. @source rules#cash-in.unknown.7 */
function isUnansweredTooLong({ status, facts }: CashIn, at: number): boolean {
  const since = facts.unknownSince ?? at
  return status === 'PROVIDER_RESULT_UNKNOWN' && at - since >= limits.unknownResultEscalationMs
}

/** What the conditions of the table mean. @source rules#cash-in.states */
const GUARDS: Readonly<
  Record<GuardOf<typeof cashIn>, (now: CashIn, payment: Payment | undefined, input: Judged) => boolean>
> = {
  'payment restated': (now, payment) => payment !== undefined && bookedAmount(now, payment) !== undefined,
  'payment is a second one': ({ facts }) => Object.keys(facts.payments ?? {}).length > 0,
  'amount differs': ({ valueCents }, payment) => payment?.valueCents !== valueCents,
  'settled late': ({ expiresAt }, payment) =>
    expiresAt !== null && payment !== undefined && payment.occurredAt > expiresAt + limits.settlementGraceMs,
  'evidence was missing': ({ facts }) => facts.doubt === 'missing',
  'return restated': ({ facts }, _, input) =>
    input.on === 'refund.taken' && facts.returns?.[input.returnId] !== undefined,
  'returns exceed the payment': (now, _, input) =>
    'returnId' in input && refundedCents(now) + input.valueCents > now.valueCents,
}

/** What went back of a cash-in so far, centavos. @source rules#cash-in.refunds.7 */
export function refundedCents({ facts }: CashIn): bigint {
  return Object.values(facts.returns ?? {}).reduce((sum, cents) => sum + BigInt(cents), 0n)
}

/**
 * What a refund may be of at most now, centavos: what refunds under way have set aside counts as gone.
 * @source rules#refund-in.create.4
 */
export function refundableCents(now: CashIn): bigint {
  const left = now.valueCents - refundedCents(now) - BigInt(now.facts.refundsOpenCents ?? 0)
  return now.status === 'PAID' && left > 0n ? left : 0n
}

const REFUND_WINDOW_MS = limits.refundDeadlineDays * 24 * 60 * 60 * 1_000

/**
 * The last instant, epoch milliseconds, at which a cash-in that was paid may be refunded; `null` where it was not.
 * @source rules#cash-in.detail.5
 */
export function refundDeadline({ facts }: CashIn): number | null {
  return facts.paidAt === undefined ? null : facts.paidAt + REFUND_WINDOW_MS
}

function bookedAmount({ facts }: CashIn, { endToEndId }: Payment): bigint | undefined {
  const cents = facts.payments?.[endToEndId]
  return cents === undefined ? undefined : BigInt(cents)
}

type Judged = Exclude<ReturnType<typeof judged>, string>

function changesOf(now: CashIn, input: Judged, row: { to: string; posts?: string }, at: number): Changes {
  const changes = { ...learned(now, input, row, at) }
  const after = { ...now, status: row.to, facts: { ...now.facts, ...changes.facts } }
  return { ...changes, dueAt: changes.dueAt === undefined ? restingDueAt(after, at) : changes.dueAt }
}

/** What an input teaches. A `dueAt` here is a question to ask soon; otherwise the state says when work is due. */
function learned(now: CashIn, input: Judged, row: { to: string; posts?: string }, at: number): Changes {
  switch (input.on) {
    case 'work.requested':
      return { dueAt: at }
    case 'work.claimed':
      return { dueAt: at + input.leaseMs }
    case 'work.done':
      return now.facts.doubt === 'contradiction' ? { facts: { bankAnswer: input.bankAnswer } } : {}
    case 'clock.expired':
      return { facts: NO_DOUBT }
    case 'clock.escalated':
      return { facts: { doubt: 'missing' } }
    case 'charge.accepted':
      return {
        transactionId: input.transactionId,
        facts: { pixCode: input.pixCode, ...(row.to === 'PENDING' ? NO_DOUBT : {}) },
        ...(row.to === 'FAILED' ? askedAtOnce(now, at) : {}),
      }
    case 'charge.rejected':
      return row.to === 'FAILED' ? { facts: failure(input) } : {}
    case 'charge.not_sent':
    case 'charge.unknown':
      return {
        dueAt: at + questionDelayMs(now),
        facts: {
          questions: (now.facts.questions ?? 0) + 1,
          ...(row.to === 'PROVIDER_RESULT_UNKNOWN' ? { unknownSince: now.facts.unknownSince ?? at } : {}),
        },
      }
    case 'charge.contradicted':
      return { facts: { doubt: 'contradiction' } }
    case 'partner.confirmed':
      return learnedOfPayment(now, input, row)
    case 'refund.reserved':
    case 'refund.confirmed':
    case 'refund.released':
    case 'refund.taken':
      return { ...learnedOfRefund(now.facts, input), dueAt: now.dueAt }
    case 'partner.failed':
      return {
        ...(now.transactionId === null && input.transactionId !== null ? { transactionId: input.transactionId } : {}),
        ...(row.to === 'FAILED'
          ? { facts: failure(input) }
          : { facts: { doubt: 'contradiction' }, ...askedAtOnce(now, at) }),
      }
  }
}

/** Asks the bank about a charge that would otherwise rest; a question under way is question enough. */
function askedAtOnce({ dueAt }: CashIn, at: number): Changes {
  return { dueAt: dueAt ?? at }
}

const NO_DOUBT = { doubt: null, unknownSince: null } as const

function failure({ errorCode, errorMessage }: { readonly errorCode: string; readonly errorMessage: string | null }) {
  return { failureCode: errorCode, failureReason: errorMessage, ...NO_DOUBT }
}

function learnedOfPayment(
  now: CashIn,
  { payment, transactionId }: Extract<CashInInput, { on: 'partner.confirmed' }>,
  row: { to: string; posts?: string },
): Changes {
  const payments = { ...now.facts.payments, [payment.endToEndId]: Number(payment.valueCents) }
  const ids = now.transactionId === null ? { transactionId } : {}
  if (row.posts === 'cash_in_paid') {
    const { name, document, ispb } = payment.payer
    return {
      ...ids,
      endToEndId: payment.endToEndId,
      facts: {
        payments,
        paidAt: payment.occurredAt,
        payerName: name ?? null,
        payerDocument: document ?? null,
        payerIspb: ispb ?? null,
        ...NO_DOUBT,
      },
    }
  }
  const doubt = row.to === 'RECONCILIATION_REQUIRED' ? ({ doubt: 'contradiction' } as const) : {}
  return { ...ids, facts: { ...(row.posts ? { payments } : {}), ...doubt } }
}

function learnedOfRefund({ refundsOpenCents = 0, returns }: CashInFacts, input: RefundEvent): Changes {
  const cents = Number(input.valueCents)
  switch (input.on) {
    case 'refund.reserved':
      return { facts: { refundsOpenCents: refundsOpenCents + cents } }
    case 'refund.released':
      return { facts: { refundsOpenCents: refundsOpenCents - cents } }
    case 'refund.confirmed':
      return { facts: { refundsOpenCents: refundsOpenCents - cents, returns: { ...returns, [input.returnId]: cents } } }
    case 'refund.taken':
      // What was booked first stays: a person compares.
      return { facts: { returns: { [input.returnId]: cents, ...returns } } }
  }
}

/** How long until the next question. @source rules#partner.4 */
function questionDelayMs({ facts }: CashIn): number {
  const delays = limits.unknownResultQueryDelaysMs
  return delays[Math.min(facts.questions ?? 0, delays.length - 1)] ?? LAST_DELAY_MS
}

const LAST_DELAY_MS = 60_000

/** The database's clock must be past the expiry by this much before it is believed. @source failure-modes#EX-4 */
const EXPIRY_SAFETY_MS = 2_000

/** When a worker must look at a cash-in that nobody is asking about: see the table in rules#cash-in.work. */
function restingDueAt({ status, expiresAt, facts }: CashIn, at: number): number | null {
  if (status === 'PENDING') return (expiresAt ?? at) + EXPIRY_SAFETY_MS
  if (status === 'PROVIDER_RESULT_UNKNOWN') return at + LAST_DELAY_MS
  if (status === 'RECONCILIATION_REQUIRED' && facts.doubt === 'missing') return at + LAST_DELAY_MS
  return null
}

/**
 * The status a client sees: a charge expires the moment its time is over, whoever has noticed.
 * @source rules#cash-in.detail.3
 */
export function statusAt({ status, expiresAt }: Pick<CashIn, 'status' | 'expiresAt'>, at: number): string {
  return status === 'PENDING' && expiresAt !== null && at > expiresAt ? 'EXPIRED' : status
}

/** The bytes of `pix_cash_in`. @source rules#events.3 */
function notificationBody(now: CashIn, input: Judged, status: string): Buffer {
  const payment = input.on === 'partner.confirmed' ? input.payment : undefined
  const occurredAt = payment?.occurredAt ?? (input.on === 'partner.failed' ? input.occurredAt : null)
  const transactionId = 'transactionId' in input ? input.transactionId : null
  const event = {
    id: now.id,
    correlation_id: now.correlationId,
    external_id: now.externalId,
    transaction_id: now.transactionId ?? transactionId,
    status,
    value_cents: Number(now.valueCents),
    end_to_end_id: payment?.endToEndId ?? null,
    payer_name: payment?.payer.name ?? null,
    fee_amount_cents: status === 'PAID' ? Number(now.feeCents) : 0,
    confirmed_at: occurredAt === null ? null : nanosecondText(occurredAt),
    created_at: nanosecondText(now.createdAt),
  }
  return Buffer.from(JSON.stringify({ event_type: 'pix_cash_in', event }))
}

/** What the operator of a case is told. */
function evidenceOf(input: Judged): Document {
  switch (input.on) {
    case 'partner.confirmed':
      return {
        endToEndId: input.payment.endToEndId,
        valueCents: Number(input.payment.valueCents),
        occurredAt: input.payment.occurredAt,
      }
    case 'partner.failed':
    case 'charge.rejected':
      return { errorCode: input.errorCode, errorMessage: input.errorMessage }
    case 'charge.contradicted':
      return { reason: input.reason }
    case 'charge.accepted':
      return { transactionId: input.transactionId }
    case 'refund.confirmed':
    case 'refund.taken':
      return { returnId: input.returnId, valueCents: Number(input.valueCents) }
    default:
      return {}
  }
}

/** A trigger of the machine; for the table tests. */
export type CashInTrigger = TriggerOf<typeof cashIn>
