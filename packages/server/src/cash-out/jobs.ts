import { Refusal } from '@pixgate/spec'
import type {
  Availability,
  FoundEarlier,
  Payout,
  PayoutAnswer,
  PayoutPartner,
  PayoutQueryAnswer,
  PayoutRequest,
  QrCode,
  QrCodeAvailability,
  ReportedPayout,
  SettledPayout,
} from '../banks/port.ts'
import { hasOtherOpenAttempts, type IsAskedFirst, sendFirst } from '../operations/attempts.ts'
import {
  createDispatcher,
  type DirectSending,
  type DispatchBounds,
  type NewOrderDispatcher,
  type Orders,
} from '../operations/dispatcher.ts'
import { type Asked, failureInput, inputsWithoutOrder, inputWithoutOrder, type Tried } from '../operations/orders.ts'
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

export interface CashOutJobs extends NewOrderDispatcher<CashOut> {
  /**
   * Decodes a QR code at the bank; stores nothing.
   * @param asker API key or operator; the limit of unanswered codes is per asker
   * @throws not_supported_by_bank (422) · partner_unavailable (503) no answer · pix_code_not_payable (422)
   * @source rules#cash-out.qrcode.3, rules#partner.9, rules#partner.10
   */
  decode(pixCode: string, asker: string): Promise<QrCode>
}

export interface CashOutJobsOptions {
  readonly commands: CashOutCommands
  readonly store: CashOutStore
  readonly partner: PayoutPartner & Availability & QrCodeAvailability
  readonly clock: Clock
  readonly bounds: DispatchBounds
  readonly directSending?: DirectSending | undefined
  readonly isAskedFirst?: IsAskedFirst | undefined
}

/** `Retry-After` when the bank did not decode a code. */
const DECODE_RETRY_SECONDS = 5

export function createCashOutJobs(options: CashOutJobsOptions): CashOutJobs {
  const { commands, store, partner, clock, bounds, directSending, isAskedFirst = () => false } = options
  const canAsk = partner.capabilities.has('query-payout')
  const canDecode = partner.capabilities.has('payout') && partner.capabilities.has('decode-qr-code')
  const windowMs = partner.capabilities.has('idempotent-payout') ? partner.idempotencyWindowMs : 0

  const orders: Orders<CashOut, CashOutInput> = {
    due: store.due,
    nextStep,
    apply: async ({ id }, inputs) => {
      const taken = await commands.apply(id, inputs)
      return taken?.result === 'APPLIED' ? taken.cashOut : undefined
    },
    send: async (cashOut, window) => {
      const answer = await sendFirst({
        order: cashOut,
        isAskedFirst: (createdAt) => canAsk && isAskedFirst(createdAt),
        ask: async (deadline) => earlier(await partner.getPayout(cashOut.orderId, payoutTerms(cashOut), deadline)),
        send: () => partner.sendPayout(cashOut.orderId, payoutRequest(cashOut), window),
      })
      return inputsOfSending(cashOut, withRecipientProven(cashOut, withRecipientCompared(cashOut, answer)))
    },
    query: async (cashOut) => {
      const answer = await partner.getPayout(cashOut.orderId, payoutTerms(cashOut))
      return inputsOfAsking(cashOut, withRecipientCompared(cashOut, answer), windowMs, clock)
    },
    queryBeforeRelease: async (cashOut) => {
      if (!canAsk || !isAskedFirst(cashOut.createdAt)) return undefined
      const answer = withRecipientCompared(cashOut, await partner.getPayout(cashOut.orderId, payoutTerms(cashOut)))
      if (!isReported(answer)) return answer.kind === 'NOT_FOUND' ? undefined : []
      return answer.kind === 'FINAL' && answer.payout.status === 'FAILED'
        ? undefined
        : inputsOfPayout(cashOut.orderId, answer)
    },
    windowMs,
  }

  const sendsWanted = async () => ((await store.isEnabled()) ? partner.sendsWanted() : 0)
  return {
    ...createDispatcher(orders, clock, sendsWanted, bounds, directSending),
    decode: async (pixCode, asker) => {
      if (!canDecode) throw new Refusal('not_supported_by_bank')
      if (partner.qrCodesWanted(asker) === 0) throw unavailable()
      const answer = await partner.decodeQrCode(pixCode, undefined, asker)
      if (answer.kind === 'DECODED') return answer.qrCode
      if (answer.kind === 'REJECTED') {
        throw new Refusal('pix_code_not_payable', {
          fields: [{ field: 'transaction.pixCode', code: 'not_payable', message: `the bank: ${answer.errorCode}` }],
        })
      }
      throw unavailable()
    },
  }
}

function unavailable(): Refusal {
  return new Refusal('partner_unavailable', { retryAfterSeconds: DECODE_RETRY_SECONDS })
}

/** Inputs of the answer to an attempt. @source failure-modes#P5 */
export function inputsOfSending(tried: Tried, answer: PayoutAnswer): CashOutInput[] {
  if (isReported(answer)) return inputsOfPayout(tried.orderId, answer)
  const input = inputWithoutOrder(tried, answer)
  return [answer.isOfOrderAlone && input.on === 'send.not_sent' ? { ...input, isOfOrderAlone: true } : input]
}

/** Inputs of the answer to a query. A failed query settles nothing and is repeated. */
export function inputsOfAsking(
  asked: Asked,
  answer: PayoutQueryAnswer,
  windowMs: number,
  clock?: Clock,
): CashOutInput[] {
  return isReported(answer)
    ? [...inputsOfPayout(asked.orderId, answer), { on: 'work.done' }]
    : inputsWithoutOrder(asked, answer, windowMs, clock)
}

/** A QR-code payout to another recipient than the decoded one contradicts the order. @source rules#cash-out.qrcode.9 */
function withRecipientCompared<Answer extends PayoutAnswer | PayoutQueryAnswer>(
  { detail }: CashOut,
  answer: Answer,
): Answer | Extract<ReportedPayout, { kind: 'CONTRADICTED' }> {
  if (detail.paymentType === 'key' || !isReported(answer) || answer.kind === 'CONTRADICTED') return answer
  const { payout } = answer
  return isOtherRecipient(detail.recipient, payout.recipient)
    ? { kind: 'CONTRADICTED', reason: 'other recipient', payout }
    : answer
}

/**
 * A payout that the bank had before our first attempt may be one that a restored database forgot. It is adopted only if
 * the bank reports the same recipient, by key (compared already) or document.
 * @source rules#restored.5
 */
function withRecipientProven(
  { detail: { paymentType, recipient }, facts }: CashOut,
  answer: PayoutAnswer,
): PayoutAnswer | Extract<ReportedPayout, { kind: 'CONTRADICTED' }> {
  if (paymentType !== 'key' || !isReported(answer) || !answer.isEarlier || hasOtherOpenAttempts(facts)) return answer
  const { kind, payout } = answer
  const isProven = payout.recipient?.pixKey !== undefined || isSameDocument(recipient, payout.recipient)
  if (kind === 'CONTRADICTED' || payout.status === 'FAILED' || isProven) return answer
  return { kind: 'CONTRADICTED', reason: 'recipient not reported', payout }
}

function earlier(answer: PayoutQueryAnswer): PayoutQueryAnswer & FoundEarlier {
  return isReported(answer) ? { ...answer, isEarlier: true } : answer
}

function isReported<Answer extends PayoutAnswer | PayoutQueryAnswer>(
  answer: Answer,
): answer is Extract<Answer, { readonly payout: Payout }> {
  return 'payout' in answer
}

function inputsOfPayout(id: string, answer: ReportedPayout): CashOutInput[] {
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
