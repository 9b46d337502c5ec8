import {
  type createCashIn,
  type EndpointInput,
  type endpoints,
  type getCashIn,
  limits,
  maskReported,
  normaliseDocument,
  Refusal,
} from '@pixgate/spec'
import type { Static } from 'typebox'
import { reasonOf } from '../engine/follow.ts'
import { centsOf, createdAnswer, descriptionOf, found, hashOf, identityOf, listed } from '../operations/requests.ts'
import type { Clock } from '../platform/clock.ts'
import type { HandlerInput, Handlers } from '../platform/http/handler.ts'
import type { Ids } from '../platform/ids.ts'
import { type CashIn, isCancelRequested, isOver, isWanted, receivedCents, refundDeadline, statusAt } from './cash-in.ts'
import { type CashInCommands, type CashInStore, statusConditionAt } from './commands.ts'
import type { CashInJobs } from './jobs.ts'
import { qrCodePng, qrCodeSvg } from './qr-image.ts'
import { paidCents, paidFeeCents, refundableCents, refundedCents } from './returns.ts'

/** @source rules#cash-in.create.6, rules#cash-in.detail.2 */
export type CashInHandlers = Handlers<Pick<typeof endpoints, OwnEndpoint>>

type OwnEndpoint =
  | 'createCashIn'
  | 'getCashIn'
  | 'getCashInQrCode'
  | 'cancelCashIn'
  | 'listCashIns'
  | 'listIncomingTransactions'
  | 'listIncomingTransactionsShort'

export interface CashInRoutesOptions {
  readonly commands: CashInCommands
  readonly jobs: CashInJobs
  readonly store: CashInStore
  readonly clock: Clock
  readonly ids: Ids
}

export function createCashInHandlers({ commands, jobs, store, clock, ids }: CashInRoutesOptions): CashInHandlers {
  /** One page, read at one instant. @source rules#cash-in.list.1, rules#cash-in.list.2 */
  function list<Item>(input: ListInput, view: (cashIn: CashIn, nowMs: number) => Item) {
    const nowMs = clock.now()
    return listed(
      store,
      input,
      (cashIn: CashIn) => view(cashIn, nowMs),
      (status) => statusConditionAt(status, nowMs),
    )
  }

  return {
    listCashIns: (input) => list(input, detailView),
    listIncomingTransactions: (input) => list(input, incomingView),
    listIncomingTransactionsShort: (input) => list(input, incomingView),
    createCashIn: async ({ body, context }) => {
      const request = { ...contentOf(body), ...identityOf('createCashIn', context), id: ids.uuid() }
      const { cashIn: intent, isReplayed } = await commands.create(request)
      const cashIn = isReplayed ? intent : await jobs.requestCharge(intent)
      if (cashIn.status === 'FAILED' && !isReplayed) {
        throw new Refusal('partner_refused', { existing: { id: cashIn.id, status: cashIn.status } })
      }
      return createdAnswer(`/api/pix/cash-in/${cashIn.id}`, createdView(cashIn), isReplayed)
    },
    getCashInQrCode: async ({ params, query, context }) =>
      qrCodeAnswer(await found(store, params.id), query, context.headers, clock.now()),
    cancelCashIn: async ({ params, context }) => {
      if (!jobs.canCancel) throw new Refusal('not_supported_by_bank')
      const known = await found(store, params.id)
      return cancelAnswer(await jobs.cancel(known, identityOf('cancelCashIn', context).madeBy), clock.now())
    },
    getCashIn: async ({ params }) => ({ status: 200, body: detailView(await found(store, params.id), clock.now()) }),
  }
}

type ListInput = Pick<HandlerInput<typeof endpoints.listCashIns>, 'query' | 'context'>

/**
 * Normalises a body and hashes it; equal hashes mean equal requests.
 * @throws validation_error (400) more than two decimals
 * @source rules#cash-in.create.1, rules#external-id.3
 */
function contentOf({ transaction, payer }: EndpointInput<typeof endpoints.createCashIn>['body']) {
  const content = {
    valueCents: centsOf(transaction.value, 'transaction.value'),
    externalId: transaction.externalId,
    description: descriptionOf(transaction.description),
    expirationSeconds: transaction.expirationTime ?? limits.expirationDefaultSeconds,
    generateQrCode: transaction.generateQrCode ?? true,
    // An invalid document is refused later, after the lookup of duplicates.
    payer: payer ? { fullName: payer.fullName, document: normaliseDocument(payer.document) ?? payer.document } : null,
  }
  return { ...content, bodyHash: hashOf(content) }
}

type Created = Static<(typeof createCashIn)['responses'][201]['schema']>
type Detail = Static<(typeof getCashIn)['responses'][200]['schema']>

/** Body of the 201. The status is always `PENDING`; unknown fields are omitted. @source rules#cash-in.create.5 */
export function createdView(cashIn: CashIn): Created {
  const pixCode = shownPixCode(cashIn)
  return {
    ...common(cashIn),
    status: 'PENDING',
    ...(pixCode === null ? {} : { pixCode }),
    ...(cashIn.transactionId === null ? {} : { providerTransactionId: cashIn.transactionId }),
  }
}

/** @source rules#cash-in.detail.1, rules#cash-in.detail.4 */
export function detailView(cashIn: CashIn, nowMs: number): Detail {
  const { detail, facts } = cashIn
  const status = statusAt(cashIn, nowMs) as Detail['status']
  return {
    ...common(cashIn),
    valueCents: Number(paidCents(cashIn)),
    status,
    pixCode: shownPixCode(cashIn),
    providerTransactionId: cashIn.transactionId,
    description: detail.description,
    payer: detail.payer,
    endToEndId: cashIn.endToEndId,
    paidAt: instantText(facts.paidAt),
    payerName: facts.payerName ?? null,
    payerDocument: maskReported(facts.payerDocument),
    payerIspb: facts.payerIspb ?? null,
    feeAmountCents: Number(paidFeeCents(cashIn)),
    receivedCents: Number(receivedCents(cashIn)),
    refundedCents: Number(refundedCents(cashIn)),
    refundableCents: Number(refundableCents(cashIn)),
    refundDeadline: instantText(refundDeadline(cashIn)),
    failureCode: facts.failureCode ?? null,
    failureReason: facts.failureReason ?? null,
    cancelRequestedAt: instantText(facts.cancelRequested?.at),
    createdAt: instantText(cashIn.createdAt) ?? '',
    updatedAt: instantText(cashIn.updatedAt) ?? '',
  }
}

/**
 * 200 once the bank has confirmed the cancellation, 202 until then.
 * @throws not_possible_in_state (409) the charge is paid, expired, failed otherwise, or in doubt
 * @source rules#cash-in.cancel.3, rules#cash-in.cancel.5
 */
function cancelAnswer(cashIn: CashIn, nowMs: number) {
  const body = detailView(cashIn, nowMs)
  if (isCancelRequested(cashIn)) {
    if (cashIn.status === 'FAILED') return { status: 200, body } as const
    if (isWanted(cashIn) && !isOver(cashIn, nowMs)) return { status: 202, body } as const
  }
  throw new Refusal('not_possible_in_state', {
    message: 'this charge cannot be cancelled any more; see existing for its status',
    existing: { id: cashIn.id, status: body.status },
  })
}

/**
 * @throws not_possible_in_state (409) no code of this charge can be paid
 * @source rules#cash-in.qrcode.1, rules#cash-in.qrcode.3
 */
function qrCodeAnswer(
  cashIn: CashIn,
  { format, size = limits.qrCodeDefaultPixels }: HandlerInput<typeof endpoints.getCashInQrCode>['query'],
  { accept = '' }: HandlerInput<typeof endpoints.getCashInQrCode>['context']['headers'],
  nowMs: number,
) {
  const pixCode = shownPixCode(cashIn)
  if (pixCode === null || !isWanted(cashIn) || isOver(cashIn, nowMs) || isCancelRequested(cashIn)) {
    throw new Refusal('not_possible_in_state', {
      message: 'this charge has no code that can be paid; see existing for its status',
      existing: { id: cashIn.id, status: statusAt(cashIn, nowMs) },
    })
  }
  const isPng = (format ?? /image\/(svg\+xml|png)/i.exec(accept)?.[1]?.toLowerCase()) === 'png'
  const secondsLeft = Math.floor(((cashIn.expiresAt ?? nowMs) - nowMs) / 1_000)
  return {
    status: 200,
    body: (isPng ? qrCodePng(pixCode, size) : qrCodeSvg(pixCode, size)) as string,
    headers: {
      'content-type': isPng ? 'image/png' : 'image/svg+xml',
      'cache-control': `private, max-age=${Math.min(QR_CODE_MAX_AGE_SECONDS, secondsLeft)}`,
      vary: 'accept',
    },
  } as const
}

const QR_CODE_MAX_AGE_SECONDS = 60

/** @source rules#cash-in.list.5 */
function incomingView(cashIn: CashIn, nowMs: number) {
  return { operation: 'cash_in' as const, ...detailView(cashIn, nowMs) }
}

function common(cashIn: CashIn) {
  return {
    id: cashIn.id,
    correlationId: cashIn.correlationId,
    externalId: cashIn.externalId,
    valueCents: Number(cashIn.valueCents),
    generateTime: new Date(cashIn.createdAt).toISOString(),
    expirationDate: new Date(cashIn.expiresAt ?? cashIn.createdAt).toISOString(),
  }
}

/** Without the code where none was requested. @source rules#cash-in.create.5 */
function shownPixCode(cashIn: CashIn): string | null {
  return cashIn.detail.generateQrCode ? pixCodeOf(cashIn) : null
}

/**
 * Hides the code of a charge that must not be paid: the bank contradicts it, or it failed.
 * @source rules#cash-in.states.6, rules#cash-in.failed.1
 */
export function pixCodeOf(cashIn: CashIn): string | null {
  const isPayable = reasonOf(cashIn) !== 'conflict' && cashIn.status !== 'FAILED'
  return (isPayable && cashIn.facts.pixCode) || null
}

function instantText(nowMs: number | null | undefined): string | null {
  return nowMs == null ? null : new Date(nowMs).toISOString()
}
