import { feeCents, fieldRefusal, limits, normaliseDocument, Refusal } from '@pixgate/spec'
import { type Create, created, type Decision } from '../engine/operation.ts'
import type { AskedBy } from '../operations/requests.ts'
import { orderId } from '../platform/ids.ts'
import type { CashIn, CashInDetail } from './cash-in.ts'

/** Whether a cash-in is accepted. Pure. */

/** A create as the edge hands it over: shapes judged, money exact, nothing else decided. */
export interface CashInRequest extends AskedBy {
  readonly id: string
  readonly valueCents: bigint
  readonly externalId: string
  readonly description: string | null
  readonly expirationSeconds: number
  readonly generateQrCode: boolean
  readonly payer: { readonly fullName: string; readonly document: string } | null
  readonly bodyHash: Buffer
}

/** The merchant's part of a create: configuration. */
export interface CashInTerms {
  /** The id of this installation, from which order ids are derived. */
  readonly installation: string
  readonly merchant: CashInDetail['merchant']
  readonly fee: { readonly cents: bigint; readonly basisPoints: bigint }
  readonly maxValueCents: bigint
  /** The bank makes no charges. */
  readonly isUnsupported?: boolean
}

/**
 * Decides a create.
 * @throws not_supported_by_bank · value_not_positive · value_too_large · invalid_document (422)
 * @source rules#cash-in.create.2, rules#fees.2, rules#partner.10, failure-modes#PL-60
 */
export function decideCreate(request: CashInRequest, terms: CashInTerms, now: number): Decision<CashIn> {
  if (terms.isUnsupported) throw new Refusal('not_supported_by_bank')
  if (request.valueCents <= 0n) throw fieldRefusal('value_not_positive', 'transaction.value', 'not_positive')
  if (request.valueCents > terms.maxValueCents) {
    throw fieldRefusal('value_too_large', 'transaction.value', 'too_large')
  }
  const detail: CashInDetail = {
    description: request.description,
    generateQrCode: request.generateQrCode,
    payer: request.payer && { ...request.payer, document: validDocument(request.payer.document) },
    merchant: terms.merchant,
  }
  const fee = feeCents(request.valueCents, terms.fee)
  const create: Create<CashIn> = {
    operation: {
      id: request.id,
      kind: 'cash_in',
      externalId: request.externalId,
      orderId: orderId(terms.installation, { kind: 'cash_in', externalId: request.externalId }),
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
      facts: { madeBy: request.madeBy },
    },
  }
  return { creates: [create], outcome: created(create, now) }
}

function validDocument(text: string): string {
  const document = normaliseDocument(text)
  if (document === null) throw fieldRefusal('invalid_document', 'payer.document', 'invalid_document')
  return document
}
