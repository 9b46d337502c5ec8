import { Type } from 'typebox'
import { type Clock, within } from '../../platform/clock.ts'
import { type ApiPixOptions, connectBank, createApiPixPartner } from '../api-pix/bank.ts'
import type { ApiPixConfig } from '../api-pix/config.ts'
import type { RetryAfterLink } from '../api-pix/link.ts'
import { amount, problemOf, protocolOf } from '../api-pix/protocol.ts'
import type { Bank } from '../bank.ts'
import {
  answerOf,
  createExchange,
  type Exchange,
  type Order,
  payoutTerms,
  settleRefusal,
  unanswered,
  unknown,
} from '../exchange.ts'
import type { Outcome } from '../link.ts'
import type {
  BalanceAnswer,
  Partner,
  PayoutAnswer,
  PayoutQueryAnswer,
  PayoutTerms,
  QrCodePayoutRequest,
  Rejected,
  ReportedPayout,
  UnlistedFees,
} from '../port.ts'
import { BALANCE, bodyTest, centsOf, printable } from '../values.ts'
import {
  EFI_STATEMENT_DELAYS_MS,
  judgeSentPix,
  payoutBody,
  payoutPath,
  payoutQueryPath,
  SENT_LISTS,
} from './payouts.ts'
import { isStatic, qrCodeAnswer, STATIC_CODE, standingOf } from './qr-code.ts'

const SCOPES = ['pix.send', 'gn.pix.send.read', 'gn.qrcodes.read', 'gn.qrcodes.pay', 'gn.balance.read'] as const

export function openEfiBank(config: ApiPixConfig, clock: Clock): Bank {
  return connectBank(config, clock, { protocol: EFI_PROTOCOL, scopes: SCOPES }, ({ link, ...options }) =>
    createEfiPartner({
      ...options,
      sending: createExchange(link, EFI_PROTOCOL),
      pauseFor: (call) => link.pauseFor(call),
      now: () => clock.now(),
      paysQrCodes: config.paysQrCodes ?? false,
    }),
  )
}

const isNamedError = bodyTest(
  Type.Object({ nome: Type.String({ minLength: 1 }), mensagem: Type.Optional(Type.String()) }),
)

/** Reads a refusal in either form of Efí: the standard's, or `nome` with `mensagem`. @source rules#efi.1 */
function refusalOf(json: unknown): Rejected | undefined {
  if (!isNamedError(json)) return problemOf(json)
  return { kind: 'REJECTED', errorCode: printable(json.nome), errorMessage: printable(json.mensagem) }
}

export const EFI_PROTOCOL = protocolOf(refusalOf)

export interface EfiOptions extends Omit<ApiPixOptions, 'lists'> {
  readonly sending: Exchange
  readonly pauseFor: RetryAfterLink['pauseFor']
  /** Epoch milliseconds by our clock. */
  readonly now: () => number
  /** Accepts payouts by QR code, although the bank gets no amount with them. */
  readonly paysQrCodes: boolean
}

/**
 * Time to decode a code right before its payment. Leaves a part of the two seconds in which the order may be sent.
 * @source rules#efi.4, failure-modes#CO-40
 */
const DECODED_WITHIN_MS = 1_500

/** Upper bound: fees depend on the contract. */
const UNLISTED_FEES: UnlistedFees = { centsPerMovement: 2_00n, percent: 2n }

/** Calls of Efí: API Pix, and own endpoints that send money. @source rules#efi */
export function createEfiPartner(options: EfiOptions): Partner {
  const { sending, pauseFor, now, paysQrCodes, ...standard } = options
  const partner = createApiPixPartner({ ...standard, lists: SENT_LISTS })
  const { pixKey } = standard.merchant
  const offsetMs = () => partner.clockOffset?.offsetMs() ?? 0

  function getPayout(id: string, terms: PayoutTerms, deadline?: AbortSignal) {
    return sending.query(payoutQueryPath(id), judgeSentPix(id, terms, offsetMs()), deadline)
  }

  /** Pays a code if it still asks for the ordered payment. @source rules#efi.4 */
  async function sendForQrCode(
    order: Order<ReportedPayout>,
    request: QrCodePayoutRequest,
    query: () => Promise<PayoutQueryAnswer>,
  ): Promise<PayoutAnswer> {
    const held = pauseFor({ method: 'PUT', path: order.path })
    if (held) return unanswered(held)
    const decoded = await within(DECODED_WITHIN_MS, (deadline) => decode(sending, request.pixCode, deadline))
    const standing = standingOf(decoded, request, now())
    if (standing === 'UNCLEAR') return hindered('the QR code could not be read as one to pay')
    if (standing === 'AS_ORDERED')
      return order.window?.isOver() ? hindered('reading the QR code took too long') : sending.send(order)
    // An earlier attempt may have paid it.
    const refusal = { rejected: standing, isDefinite: false, isDuplicate: false }
    return { ...settleRefusal(refusal, await query(), true), isQrCodeFault: true }
  }

  return {
    ...partner,
    statementDelayMs: EFI_STATEMENT_DELAYS_MS,
    unlistedFees: UNLISTED_FEES,
    capabilities: new Set([
      ...partner.capabilities,
      'payout',
      ...(standard.hasIdempotentOrders ? (['idempotent-payout'] as const) : []),
      'query-payout',
      ...(paysQrCodes ? (['decode-qr-code'] as const) : []),
      'balance',
    ]),
    sendPayout: async (id, request, window) => {
      const terms = payoutTerms(request)
      const query = () => getPayout(id, terms)
      const order = {
        path: payoutPath(id, request),
        body: payoutBody(request, pixKey),
        judge: judgeSentPix(id, terms, offsetMs()),
        query,
        holdsMoney: true,
        window,
      }
      return 'recipient' in request ? sending.send(order) : sendForQrCode(order, request, query)
    },
    getPayout,
    decodeQrCode: async (pixCode, deadline) => (isStatic(pixCode) ? STATIC_CODE : decode(sending, pixCode, deadline)),
    readBalance: async (deadline) =>
      balanceAnswer(await sending.raw({ method: 'GET', path: '/v2/gn/saldo?bloqueios=true' }, deadline)),
  }
}

async function decode(sending: Exchange, pixCopiaECola: string, deadline?: AbortSignal) {
  const call = { method: 'POST', path: '/v2/gn/qrcodes/detalhar', body: { pixCopiaECola } } as const
  return qrCodeAnswer(await sending.raw(call, deadline), refusalOf)
}

function hindered(reason: string): PayoutAnswer {
  return { kind: 'NOT_SENT', reason, isQrCodeFault: true }
}

const isBalance = bodyTest(
  Type.Object({
    saldo: Type.Union([Type.String({ pattern: BALANCE }), Type.Number({ format: 'bank-reais' })]),
    bloqueios: Type.Optional(Type.Object({ total: amount })),
  }),
)

/** An unreadable balance suspends nothing; a negative one does. @source rules#efi.6 */
function balanceAnswer(outcome: Outcome): BalanceAnswer {
  return answerOf(outcome, (answered) => {
    if (!isBalance(answered.json)) return unknown(answered, 'the balance is no amount in reais')
    const { saldo, bloqueios } = answered.json
    const blocked = bloqueios && { blockedCents: centsOf(bloqueios.total) }
    return { kind: 'READ', balance: { availableCents: centsOf(saldo), asOf: null, ...blocked } } as const
  })
}
