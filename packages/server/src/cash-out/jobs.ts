import { Refusal } from '@pixgate/spec'
import type {
  Availability,
  FoundEarlier,
  Payout,
  PayoutPartner,
  PayoutRequest,
  QrCode,
  QrCodeAvailability,
  ReportedPayout,
  SettledPayout,
} from '../banks/port.ts'
import { hasOtherOpenAttempts, type IsAskedFirst } from '../operations/attempts.ts'
import { type DirectSending, type DispatchBounds, Dispatcher, type Orders } from '../operations/dispatcher.ts'
import { failureInput } from '../operations/orders.ts'
import type { Clock } from '../platform/clock.ts'
import {
  type CashOut,
  type CashOutInput,
  ERASED_PIX_KEY,
  isOtherRecipient,
  isSameDocument,
  type Movement,
} from './cash-out.ts'
import type { CashOutCommands, CashOutStore } from './commands.ts'
import { nextStep } from './facts.ts'

export interface CashOutJobsOptions {
  readonly commands: Pick<CashOutCommands, 'apply'>
  readonly store: Pick<CashOutStore, 'due' | 'isEnabled'>
  readonly partner: PayoutPartner & Availability & QrCodeAvailability
  readonly clock: Clock
  readonly bounds: DispatchBounds
  readonly directSending?: DirectSending | undefined
  readonly isAskedFirst?: IsAskedFirst | undefined
}

export type CashOutJobs = ReturnType<typeof createCashOutJobs>

export function createCashOutJobs(options: CashOutJobsOptions) {
  const { commands, store, partner, clock, bounds, directSending, isAskedFirst = () => false } = options
  const canAsk = partner.capabilities.has('query-payout')
  const orders: Orders<CashOut, CashOutInput, ReportedPayout> = {
    due: store.due,
    nextStep,
    apply: async ({ id }, inputs) => {
      const taken = await commands.apply(id, inputs)
      return taken?.result === 'APPLIED' ? taken.cashOut : undefined
    },
    send: (cashOut, window) => partner.sendPayout(cashOut.orderId, payoutRequest(cashOut), window),
    query: (cashOut, deadline) => partner.getPayout(cashOut.orderId, payoutTerms(cashOut), deadline),
    inputsOf: (cashOut, report) =>
      inputsOfPayout(cashOut.orderId, withRecipientProven(cashOut, withRecipientCompared(cashOut, report))),
    isAskedFirst: ({ createdAt }) => canAsk && isAskedFirst(createdAt),
    windowMs: partner.capabilities.has('idempotent-payout') ? partner.idempotencyWindowMs : 0,
  }
  const allowedSends = async () => ((await store.isEnabled()) ? partner.allowedSends() : 0)
  return new Dispatcher(orders, clock, allowedSends, bounds, directSending)
}

/** `Retry-After` when the bank did not decode a code. */
const DECODE_RETRY_SECONDS = 5

/**
 * Decodes a QR code at the bank; stores nothing.
 * @param asker API key or operator; the limit of unanswered codes is per asker
 * @throws not_supported_by_bank (422) · partner_unavailable (503) no answer · pix_code_not_payable (422)
 * @source rules#cash-out.qrcode.3, rules#partner.9, rules#partner.10
 */
export async function decodeQrCode(
  partner: PayoutPartner & QrCodeAvailability,
  pixCode: string,
  asker: string,
): Promise<QrCode> {
  const { capabilities } = partner
  if (!capabilities.has('payout') || !capabilities.has('decode-qr-code')) throw new Refusal('not_supported_by_bank')
  if (partner.allowedQrCodes(asker) === 0) throw unavailable()
  const answer = await partner.decodeQrCode(pixCode, undefined, asker)
  if (answer.kind === 'DECODED') return answer.qrCode
  if (answer.kind === 'REJECTED') {
    throw new Refusal('pix_code_not_payable', {
      fields: [{ field: 'transaction.pixCode', code: 'not_payable', message: `the bank: ${answer.errorCode}` }],
    })
  }
  throw unavailable()
}

function unavailable(): Refusal {
  return new Refusal('partner_unavailable', { retryAfterSeconds: DECODE_RETRY_SECONDS })
}

type PayoutReport = ReportedPayout & FoundEarlier

/** A QR-code payout to another recipient than the decoded one contradicts the order. @source rules#cash-out.qrcode.9 */
function withRecipientCompared({ detail }: CashOut, report: PayoutReport): PayoutReport {
  if (detail.paymentType === 'key' || report.kind === 'CONTRADICTED') return report
  const { payout } = report
  return isOtherRecipient(detail.recipient, payout.recipient)
    ? { kind: 'CONTRADICTED', reason: 'other recipient', payout }
    : report
}

/**
 * A payout that the bank had before our first attempt may be one that a restored database forgot. It is adopted only if
 * the bank reports the same recipient, by key (compared already) or document.
 * @source rules#restored.5
 */
function withRecipientProven(
  { detail: { paymentType, recipient }, facts }: CashOut,
  report: PayoutReport,
): ReportedPayout {
  const { kind, payout, alreadyExisted } = report
  if (paymentType !== 'key' || !alreadyExisted || hasOtherOpenAttempts(facts)) return report
  const isProven = payout.recipient?.pixKey !== undefined || isSameDocument(recipient, payout.recipient)
  if (kind === 'CONTRADICTED' || payout.status === 'FAILED' || isProven) return report
  return { kind: 'CONTRADICTED', reason: 'recipient not reported', payout }
}

/** Inputs of an answer by which the bank has the payout. @source failure-modes#P5 */
export function inputsOfPayout(id: string, answer: ReportedPayout): CashOutInput[] {
  const { payout } = answer
  const { transactionId } = payout
  if (answer.kind === 'CONTRADICTED') {
    // Debits count even if the rest of the answer contradicts; those of another id are not ours.
    if (payout.id === id && isSettled(payout)) return movementInputs(payout, true)
    return [{ on: 'send.contradicted', reason: answer.reason, transactionId: payout.id === id ? transactionId : null }]
  }
  const accepted: CashOutInput = { on: 'send.accepted', transactionId }
  if (isSettled(payout)) return [accepted, ...movementInputs(payout, false)]
  return [payout.status === 'FAILED' ? failureInput(payout) : accepted]
}

function isSettled(payout: Payout): payout is SettledPayout {
  const { status, endToEndId, occurredAt } = payout
  return (status === 'CONFIRMED' || status === 'RETURNED') && endToEndId !== undefined && occurredAt !== undefined
}

/** The debit, then its returns, in order. */
function movementInputs(payout: SettledPayout, recipientDiffers: boolean): CashOutInput[] {
  const { transactionId, endToEndId, valueCents, occurredAt, feeCents, recipient, returns } = payout
  const movement: Movement = { endToEndId, valueCents, occurredAt, feeCents, recipient, recipientDiffers }
  return [
    { on: 'partner.confirmed', movement, transactionId, isVerified: true },
    ...returns.map((returned) => ({ on: 'partner.returned', returned, isVerified: true }) as const),
  ]
}

/** Erased keys are not compared. @source rules#privacy.6 */
function payoutTerms({ valueCents, detail: { paymentType, recipient } }: CashOut) {
  const isKnown = paymentType === 'key' && recipient.pixKey !== ERASED_PIX_KEY
  return { valueCents, pixKey: isKnown ? recipient.pixKey : undefined }
}

function payoutRequest({ valueCents, detail, facts }: CashOut): PayoutRequest {
  const { recipient, qrCode } = detail
  const common = { valueCents, ...(detail.description === null ? {} : { description: detail.description }) }
  if (qrCode) return { ...common, ...qrCode, decodeId: facts.decodeId ?? qrCode.decodeId }
  const { pixKey, pixKeyType, name, document } = recipient
  if (pixKeyType === null) throw new Error('payout to a key has no key type')
  return {
    ...common,
    recipient: {
      pixKey,
      pixKeyType,
      ...(name === null ? {} : { name }),
      ...(document === null ? {} : { document }),
    },
  }
}
