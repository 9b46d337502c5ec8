import { feeCents, fieldRefusal, limits, normaliseDocument, Refusal } from '@pixgate/spec'
import { type Create, created, type Decision, type State } from '../engine/operation.ts'
import { keyCapsFact } from '../operations/limits/key-caps.ts'
import { type Leaving, type Limits, taken } from '../operations/limits/limits.ts'
import type { AskedBy } from '../operations/requests.ts'
import { isEnabled } from '../operations/switch.ts'
import { orderId } from '../platform/ids.ts'
import { approvalFor } from './approval.ts'
import type { CashOut, CashOutDetail, CashOutRecipient } from './cash-out.ts'

/** Whether a cash-out is accepted. Pure. */

/** A create as the edge hands it over: shapes judged, money exact, nothing else decided. */
export interface CashOutRequest extends AskedBy {
  readonly id: string
  readonly valueCents: bigint
  readonly externalId: string
  readonly detail: Pick<CashOutDetail, 'description' | 'paymentType' | 'qrCode'> & {
    /** `pixKey` is `null` where it does not match its type. */
    readonly recipient: Omit<CashOutRecipient, 'pixKey'> & { readonly pixKey: string | null }
  }
  /** What no other payout may pay at the same time: a dynamic code. */
  readonly exclusiveKey: string | null
  readonly bodyHash: Buffer
}

/** The merchant's part of a create: configuration. */
export interface CashOutTerms {
  /** The id of this installation, from which order ids are derived. */
  readonly installation: string
  readonly fee: { readonly cents: bigint; readonly basisPoints: bigint }
  readonly maxValueCents: bigint
  readonly limits: Limits
  /** From which amount on others must approve a payout; `null`: none. */
  readonly approvalFromCents: bigint | null
  /** The bank sends no money. */
  readonly isUnsupported?: boolean
}

/**
 * Decides a create. The whole of value and fee is set aside, or nothing is stored.
 * @throws not_supported_by_bank (422) · cash_out_suspended (503) · value_not_positive · value_too_large · pix_key_type_mismatch · invalid_document ·
 *   limit_exceeded · receivable_outstanding · insufficient_balance (422)
 * @source rules#cash-out.create.3, rules#limits.1, rules#fees.3, rules#partner.10, failure-modes#PL-60
 */
export function decideCreate(
  request: CashOutRequest,
  terms: CashOutTerms,
  state: State,
  now: number,
): Decision<CashOut> {
  assertOpen(terms, state)
  const { valueCents } = request
  assertValue(valueCents, terms)
  const recipient = validRecipient(request.detail.recipient)
  const { fee, allowed } = affordable(leavingOf(request), terms, state, now)
  const approval = approvalFor(request, terms.approvalFromCents)
  const deadline = now + limits.unclaimedReleaseMs
  const create: Create<CashOut> = {
    operation: {
      id: request.id,
      kind: 'cash_out',
      externalId: request.externalId,
      orderId: orderId(terms.installation, { kind: 'cash_out', externalId: request.externalId }),
      status: 'RESERVED',
      valueCents,
      feeCents: fee,
      correlationId: request.correlationId,
      bodyHash: request.bodyHash,
      idempotencyKey: request.idempotencyKey,
      exclusiveKey: request.exclusiveKey,
      expiresAt: null,
      dueAt: approval ? deadline : now,
      plan: approval ? { step: 'release', changesAt: null } : { step: 'send', changesAt: deadline },
      transactionId: null,
      endToEndId: null,
      detail: { ...request.detail, recipient },
      facts: { madeBy: request.madeBy, ...keyCapsFact(request.caps), ...(approval ? { approval } : {}) },
    },
  }
  return {
    creates: [create],
    journals: [
      { operationId: request.id, kind: 'cash_out_reserved', reference: '', amounts: { v: valueCents, f: fee } },
    ],
    ...allowed,
    exact: ['receivable'],
    outcome: created(create, now),
  }
}

/** What is known of a payout of a QR code before the bank has decoded it. */
export interface UndecodedRequest extends Pick<AskedBy, 'madeBy' | 'caps' | 'live'> {
  /** What the client or the code says; `null`: only the bank knows. */
  readonly valueCents: bigint | null
  readonly document: string | null
  /** @throws what can be told from the code alone */
  readonly assertPayable: () => void
}

/**
 * Judges what needs no decoding, in the order of {@link decideCreate}: a payout that would be refused whatever its code asks
 * for costs no question. It holds nothing: what is decided once the code is decoded is decided anew.
 * @throws as {@link decideCreate} · pix_code_not_payable · pix_code_value_mismatch (422)
 * @source rules#cash-out.qrcode.8
 */
export function assertWorthDecoding(
  { valueCents, document, assertPayable, madeBy, caps }: UndecodedRequest,
  terms: CashOutTerms,
  state: State,
  now: number,
): void {
  assertOpen(terms, state)
  assertPayable()
  if (valueCents !== null) assertValue(valueCents, terms)
  validDocument(document)
  // No code asks for less than a centavo. Whose key it pays is not known yet.
  const leaving = { valueCents: valueCents ?? 1n, pixKey: null, caller: madeBy.caller, caps }
  affordable(leaving, terms, state, now)
}

/** What a create is to the limits. */
export function leavingOf({ valueCents, detail, madeBy, caps }: CashOutRequest): Leaving {
  return { valueCents, pixKey: detail.recipient.pixKey, caller: madeBy.caller, caps }
}

function assertOpen({ isUnsupported }: CashOutTerms, state: State): void {
  if (isUnsupported) throw new Refusal('not_supported_by_bank')
  if (!isEnabled(state)) throw new Refusal('cash_out_suspended')
}

/** The fee, and what it takes of the allowances, where caps, debts and the balance let it leave. */
function affordable(leaving: Leaving, terms: CashOutTerms, state: State, now: number) {
  const fee = feeCents(leaving.valueCents, terms.fee)
  const allowed = taken(leaving, terms.limits, state, now)
  if (state.balance('receivable') < 0n) throw new Refusal('receivable_outstanding')
  if (state.balance('available') < leaving.valueCents + fee) throw new Refusal('insufficient_balance')
  return { fee, allowed }
}

function assertValue(valueCents: bigint, { maxValueCents }: CashOutTerms): void {
  if (valueCents <= 0n) throw fieldRefusal('value_not_positive', 'transaction.value', 'not_positive')
  if (valueCents > maxValueCents) throw fieldRefusal('value_too_large', 'transaction.value', 'too_large')
}

function validRecipient({ pixKey, document, ...rest }: CashOutRequest['detail']['recipient']): CashOutRecipient {
  if (pixKey === null) throw fieldRefusal('pix_key_type_mismatch', 'recipient.pixKey', 'pix_key_type_mismatch')
  return { ...rest, pixKey, document: validDocument(document) }
}

function validDocument(document: string | null): string | null {
  const normalised = document === null ? null : normaliseDocument(document)
  if (document !== null && normalised === null) {
    throw fieldRefusal('invalid_document', 'recipient.document', 'invalid_document')
  }
  return normalised
}
