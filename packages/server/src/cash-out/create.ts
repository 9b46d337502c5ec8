import { feeCents, fieldRefusal, limits, normaliseDocument, Refusal } from '@pixgate/spec'
import { type Create, created, type Decision, type State } from '../engine/operation.ts'
import type { LiveRequest } from '../platform/live-request.ts'
import type { CashOut, CashOutDetail, CashOutRecipient } from './cash-out.ts'
import { accountingDay, dayAfterReserve, type SentDay } from './day.ts'

/** Whether a cash-out is accepted. Pure. */

/** A create as the edge hands it over: shapes judged, money exact, nothing else decided. */
export interface CashOutRequest {
  readonly id: string
  readonly valueCents: bigint
  readonly externalId: string
  readonly detail: Pick<CashOutDetail, 'description' | 'paymentType' | 'qrCode'> & {
    /** `pixKey` is `null` where it does not match its type. */
    readonly recipient: Omit<CashOutRecipient, 'pixKey'> & { readonly pixKey: string | null }
  }
  /** What no other payout may pay at the same time: a dynamic code. */
  readonly exclusiveKey: string | null
  readonly correlationId: string
  readonly bodyHash: Buffer
  /** The client's `Idempotency-Key` with its scope; `null` where it sent none. */
  readonly idempotencyKey: string | null
  /** Nothing is decided for it once it has lapsed. */
  readonly live?: LiveRequest
}

/** The merchant's part of a create: configuration. */
export interface CashOutTerms {
  readonly fee: { readonly cents: bigint; readonly basisPoints: bigint }
  readonly maxValueCents: bigint
  /** `null`: no cap of its own. */
  readonly cashOutMaxCents: bigint | null
  readonly cashOutDailyMaxCents: bigint | null
  /** The bank sends no money. */
  readonly isUnsupported?: boolean
}

/**
 * Decides a create. The whole of value and fee is set aside, or nothing is stored.
 * @throws not_supported_by_bank (422) · cash_out_suspended (503) · value_not_positive · value_too_large · pix_key_type_mismatch · invalid_document ·
 *   limit_exceeded · receivable_outstanding · insufficient_balance (422)
 * @source rules#cash-out.create.3, rules#cash-out.limits.1, rules#fees.3, rules#partner.10, failure-modes#PL-60
 */
export function decideCreate(
  request: CashOutRequest,
  terms: CashOutTerms,
  state: State,
  now: number,
): Decision<CashOut> {
  if (terms.isUnsupported) throw new Refusal('not_supported_by_bank')
  if (!isEnabled(state)) throw new Refusal('cash_out_suspended')
  const { valueCents } = request
  assertValue(valueCents, terms)
  const recipient = validRecipient(request.detail.recipient)
  const fee = feeCents(valueCents, terms.fee)
  if (terms.cashOutMaxCents !== null && valueCents > terms.cashOutMaxCents) throw limitExceeded('per cash-out')
  const controls = dailyTotal(valueCents, terms.cashOutDailyMaxCents, state, now)
  if (state.balance('receivable') < 0n) throw new Refusal('receivable_outstanding')
  if (state.balance('available') < valueCents + fee) throw new Refusal('insufficient_balance')
  const create: Create<CashOut> = {
    operation: {
      id: request.id,
      kind: 'cash_out',
      externalId: request.externalId,
      status: 'RESERVED',
      valueCents,
      feeCents: fee,
      correlationId: request.correlationId,
      bodyHash: request.bodyHash,
      idempotencyKey: request.idempotencyKey,
      exclusiveKey: request.exclusiveKey,
      expiresAt: null,
      dueAt: now,
      plan: { step: 'send', changesAt: now + limits.unclaimedReleaseMs },
      transactionId: null,
      endToEndId: null,
      detail: { ...request.detail, recipient },
      facts: {},
    },
  }
  return {
    creates: [create],
    journals: [
      { operationId: request.id, kind: 'cash_out_reserved', reference: '', amounts: { v: valueCents, f: fee } },
    ],
    controls,
    exact: ['receivable'],
    outcome: created(create, now),
  }
}

/** Whether payouts are accepted and sent. @source rules#operator.switch.2, failure-modes#CO-24 */
export function isEnabled(state: State): boolean {
  return state.control('cash_out_switch').enabled === true
}

function assertValue(valueCents: bigint, { maxValueCents }: CashOutTerms): void {
  if (valueCents <= 0n) throw fieldRefusal('value_not_positive', 'transaction.value', 'not_positive')
  if (valueCents > maxValueCents) throw fieldRefusal('value_too_large', 'transaction.value', 'too_large')
}

function validRecipient({ pixKey, document, ...rest }: CashOutRequest['detail']['recipient']): CashOutRecipient {
  if (pixKey === null) throw fieldRefusal('pix_key_type_mismatch', 'recipient.pixKey', 'pix_key_type_mismatch')
  const normalised = document === null ? null : normaliseDocument(document)
  if (document !== null && normalised === null) {
    throw fieldRefusal('invalid_document', 'recipient.document', 'invalid_document')
  }
  return { ...rest, pixKey, document: normalised }
}

/** The day's total with this payout; it is kept only where there is a cap on it. @source rules#cash-out.limits.2 */
function dailyTotal(valueCents: bigint, dailyMaxCents: bigint | null, state: State, now: number) {
  if (dailyMaxCents === null) return {}
  const day = dayAfterReserve(state.control('cash_out_day') as SentDay, accountingDay(now), valueCents)
  if (BigInt(day.sentCents) > dailyMaxCents) throw limitExceeded('per day')
  return { cash_out_day: day }
}

function limitExceeded(which: string): Refusal {
  return new Refusal('limit_exceeded', { message: `the configured limit ${which} would be exceeded` })
}
