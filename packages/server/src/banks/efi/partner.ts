import { BrCodeError, parseBrCode } from '@pixgate/brcode'
import { isSuccess, unanswered, unknown } from '../answers.ts'
import { type Refused, settleRefusal } from '../api-pix/classify.ts'
import type { Exchange } from '../api-pix/exchange.ts'
import { centsOf } from '../api-pix/money.ts'
import { type ApiPixOptions, createApiPixPartner } from '../api-pix/partner.ts'
import { RETURNS_WITHIN_MS } from '../api-pix/statement.ts'
import type { Outcome } from '../link.ts'
import type { BalanceAnswer, Partner, PayoutTerms, QrCodeAnswer } from '../port.ts'
import { isBalance } from './bodies.ts'
import { judgeSentPix, sendingPath, sendingRequest, sentPath, termsOf } from './payout.ts'
import { classifyDetail, standingOf } from './qr-code.ts'
import { SENT_LISTS, SENT_WITHIN_MS } from './statement.ts'

/** What Efí is connected with. */
export interface EfiOptions extends Omit<ApiPixOptions, 'lists'> {
  /** The calls at paths that are no part of the standard. */
  readonly sending: Exchange
  /** Payouts by QR code are taken, though the bank is told no amount with them. */
  readonly paysQrCodes: boolean
  /** As in {@link StatementListing}. */
  readonly tariffPerMille: number
}

/** Efí: the Central Bank's API Pix, and beside it endpoints of its own that send money. @source rules#efi */
export function createEfiPartner({ sending, paysQrCodes, tariffPerMille, ...standard }: EfiOptions): Partner {
  const partner = createApiPixPartner({ ...standard, lists: SENT_LISTS })
  const { pixKey } = standard.merchant

  function getPayout(id: string, terms: PayoutTerms, deadline?: AbortSignal) {
    return sending.query(sentPath(id), judgeSentPix(id, terms), deadline)
  }

  async function readCode(pixCopiaECola: string, deadline?: AbortSignal) {
    const call = { method: 'POST', path: '/v2/gn/qrcodes/detalhar', body: { pixCopiaECola } } as const
    return classifyDetail(await sending.raw(call, deadline))
  }

  return {
    ...partner,
    returnsWithinMs: SENT_WITHIN_MS,
    listing: { debitsWithinMs: RETURNS_WITHIN_MS, tariffPerMille },
    capabilities: new Set([
      ...partner.capabilities,
      'payout',
      ...(standard.hasIdempotentOrders ? (['idempotent-payout'] as const) : []),
      'query-payout',
      ...(paysQrCodes ? (['decode-qr-code'] as const) : []),
      'balance',
    ]),
    sendPayout: async (id, request, window) => {
      const terms = termsOf(request)
      const query = () => getPayout(id, terms)
      const standing =
        'recipient' in request ? 'AS_ORDERED' : standingOf(await readCode(request.pixCode), request, standard.bankNow())
      if (standing === 'UNCLEAR') return { kind: 'NOT_SENT', reason: 'the QR code could not be read as one to pay' }
      // An attempt before this one may have paid it.
      if (standing === 'CHANGED') return settleRefusal(CHANGED_CODE, await query(), true)
      const [path, body] = [sendingPath(id, request), sendingRequest(request, pixKey)]
      return sending.send({ path, body, judge: judgeSentPix(id, terms), query, holdsMoney: true, window })
    },
    getPayout,
    decodeQrCode: async (pixCode, deadline) => (isStatic(pixCode) ? STATIC_CODE : readCode(pixCode, deadline)),
    readBalance: async (deadline) =>
      classifyBalance(await sending.raw({ method: 'GET', path: '/v2/gn/saldo?bloqueios=true' }, deadline)),
  }
}

/** Its owner changed what it asks for, or for whom, since the order. */
const CHANGED_CODE: Refused = {
  kind: 'REFUSED',
  refusal: {
    kind: 'REJECTED',
    errorCode: 'qr_code_changed',
    errorMessage: 'the QR code no longer asks for what was ordered',
  },
  isDuplicate: false,
}

/** The bank reads dynamic ones alone; paid by its key, a static one would lose its `txid`. */
const STATIC_CODE: QrCodeAnswer = {
  kind: 'REJECTED',
  errorCode: 'static_qr_code',
  errorMessage: 'this bank pays dynamic QR codes alone',
}

function isStatic(pixCode: string): boolean {
  try {
    return parseBrCode(pixCode).kind === 'static'
  } catch (error) {
    if (error instanceof BrCodeError) return false
    throw error
  }
}

/**
 * What cannot be read is no balance, and suspends nothing; one below zero is.
 * @source rules#efi.6
 */
function classifyBalance(outcome: Outcome): BalanceAnswer {
  if (outcome.kind !== 'answered') return unanswered(outcome)
  if (!isSuccess(outcome)) return unknown(outcome)
  if (!isBalance(outcome.json)) return unknown(outcome, 'the balance is no amount in reais with two decimals')
  const { saldo, bloqueios } = outcome.json
  const blocked = bloqueios && { blockedCents: centsOf(bloqueios.total) }
  return { kind: 'READ', balance: { availableCents: centsOf(saldo), asOf: null, ...blocked } }
}
