import { BrCodeError, parseBrCode } from '@pixgate/brcode'
import { within } from '../../platform/timer.ts'
import { isSuccess, unanswered, unknown } from '../answers.ts'
import { type Refused, settleRefusal } from '../api-pix/classify.ts'
import type { Exchange, Order } from '../api-pix/exchange.ts'
import { type ApiPixOptions, createApiPixPartner } from '../api-pix/partner.ts'
import type { Outcome } from '../link.ts'
import type { PatientLink } from '../patient-link.ts'
import type {
  BalanceAnswer,
  Partner,
  PayoutAnswer,
  PayoutTerms,
  QrCodeAnswer,
  QrCodePayoutRequest,
  ReportedPayout,
  UnlistedFees,
} from '../port.ts'
import { centsOf } from '../values.ts'
import { isBalance } from './bodies.ts'
import { judgeSentPix, sendingPath, sendingRequest, sentPath, termsOf } from './payout.ts'
import { classifyDetail, standingOf } from './qr-code.ts'
import { LISTED_WITHIN_MS, SENT_LISTS } from './statement.ts'

/** Its fees depend on the contract, and are less than this. */
const UNLISTED_FEES: UnlistedFees = { centsPerMovement: 2_00n, percent: 2n }

/** What Efí is connected with. */
export interface EfiOptions extends Omit<ApiPixOptions, 'lists'> {
  /** The calls at paths that are no part of the standard. */
  readonly sending: Exchange
  /** As {@link PatientLink.heldBack}. */
  readonly heldBack: PatientLink['heldBack']
  /** Epoch milliseconds, by our clock. */
  readonly now: () => number
  /** Payouts by QR code are taken, though the bank is told no amount with them. */
  readonly paysQrCodes: boolean
}

/**
 * How long reading a code may take right before it is paid: of the two seconds in which the order may leave, a part is left for that.
 * @source rules#efi.4, failure-modes#CO-40
 */
const READ_WITHIN_MS = 1_500

/** Efí: the Central Bank's API Pix, and beside it endpoints of its own that send money. @source rules#efi */
export function createEfiPartner(options: EfiOptions): Partner {
  const { sending, heldBack, now, paysQrCodes, ...standard } = options
  const partner = createApiPixPartner({ ...standard, lists: SENT_LISTS })
  const { pixKey } = standard.merchant
  const offsetMs = () => partner.stamps?.offsetMs() ?? 0

  function getPayout(id: string, terms: PayoutTerms, deadline?: AbortSignal) {
    return sending.query(sentPath(id), judgeSentPix(id, terms, offsetMs()), deadline)
  }

  async function readCode(pixCopiaECola: string, deadline?: AbortSignal) {
    const call = { method: 'POST', path: '/v2/gn/qrcodes/detalhar', body: { pixCopiaECola } } as const
    return classifyDetail(await sending.raw(call, deadline))
  }

  /** Pays a code if it still asks for what was ordered. What comes of reading it says nothing of the bank. @source rules#efi.4 */
  async function sendForQrCode(order: Order<ReportedPayout>, request: QrCodePayoutRequest): Promise<PayoutAnswer> {
    const held = heldBack({ method: 'PUT', path: order.path })
    if (held) return unanswered(held)
    const read = await within(READ_WITHIN_MS, (deadline) => readCode(request.pixCode, deadline))
    const standing = standingOf(read, request, now())
    if (standing === 'UNCLEAR') return hindered('the QR code could not be read as one to pay')
    if (standing === 'AS_ORDERED')
      return order.window?.isOver() ? hindered('reading the QR code took too long') : sending.send(order)
    // An attempt before this one may have paid it.
    const refused: Refused = { kind: 'REFUSED', refusal: standing, isDuplicate: false }
    return { ...settleRefusal(refused, await order.query(), true), isOfOrderAlone: true }
  }

  return {
    ...partner,
    listedWithinMs: LISTED_WITHIN_MS,
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
      const terms = termsOf(request)
      const order = {
        path: sendingPath(id, request),
        body: sendingRequest(request, pixKey),
        judge: judgeSentPix(id, terms, offsetMs()),
        query: () => getPayout(id, terms),
        holdsMoney: true,
        window,
      }
      return 'recipient' in request ? sending.send(order) : sendForQrCode(order, request)
    },
    getPayout,
    decodeQrCode: async (pixCode, deadline) => (isStatic(pixCode) ? STATIC_CODE : readCode(pixCode, deadline)),
    readBalance: async (deadline) =>
      classifyBalance(await sending.raw({ method: 'GET', path: '/v2/gn/saldo?bloqueios=true' }, deadline)),
  }
}

function hindered(reason: string): PayoutAnswer {
  return { kind: 'NOT_SENT', reason, isOfOrderAlone: true }
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
  if (!isBalance(outcome.json)) return unknown(outcome, 'the balance is no amount in reais')
  const { saldo, bloqueios } = outcome.json
  const blocked = bloqueios && { blockedCents: centsOf(bloqueios.total) }
  return { kind: 'READ', balance: { availableCents: centsOf(saldo), asOf: null, ...blocked } }
}
