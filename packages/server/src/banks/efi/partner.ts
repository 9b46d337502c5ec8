import { isSuccess, unanswered, unknown } from '../answers.ts'
import type { Exchange } from '../api-pix/exchange.ts'
import { centsOf } from '../api-pix/money.ts'
import { type ApiPixOptions, createApiPixPartner } from '../api-pix/partner.ts'
import { RETURNS_WITHIN_MS } from '../api-pix/statement.ts'
import type { Outcome } from '../link.ts'
import type { BalanceAnswer, Partner, PayoutTerms } from '../port.ts'
import { isBalance } from './bodies.ts'
import { judgeSentPix, sendingPath, sendingRequest, sentPath, termsOf } from './payout.ts'
import { classifyDetail } from './qr-code.ts'
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
    sendPayout: (id, request, window) => {
      const terms = termsOf(request)
      return sending.send({
        path: sendingPath(id, request),
        body: sendingRequest(request, pixKey),
        judge: judgeSentPix(id, terms),
        query: () => getPayout(id, terms),
        holdsMoney: true,
        window,
      })
    },
    getPayout,
    decodeQrCode: async (pixCopiaECola, deadline) =>
      classifyDetail(
        await sending.raw({ method: 'POST', path: '/v2/gn/qrcodes/detalhar', body: { pixCopiaECola } }, deadline),
      ),
    readBalance: async (deadline) =>
      classifyBalance(await sending.raw({ method: 'GET', path: '/v2/gn/saldo?bloqueios=true' }, deadline)),
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
