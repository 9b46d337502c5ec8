import { networkList } from '../../platform/networks.ts'
import { type Bank, statementDelay } from '../bank.ts'
import { createExchange, judgeCharge, judgePayout, judgeRefund, payoutTerms } from '../exchange.ts'
import { observeLinks, openPartnerLink, type PartnerLink } from '../link.ts'
import type { Partner } from '../port.ts'
import type { PixgateBankConfig } from './config.ts'
import { createPixgateInbound } from './inbound.ts'
import {
  balanceAnswer,
  cancelAnswer,
  chargeRequest,
  PROTOCOL,
  payoutRequest,
  qrCodeAnswer,
  readCharge,
  readPayout,
  readRefund,
  refundRequest,
  statementAnswer,
  statementPath,
} from './protocol.ts'

export function openPixgateBank(config: PixgateBankConfig): Bank {
  const { secret, secretPrevious, addresses, inboundApiKey, inboundApiKeyPrevious, hasIdempotentOrders } = config
  const { onDate, onCertificate, ...observed } = observeLinks(config.certificates)
  const link = openPartnerLink({ ...config, onDate, onCertificate })
  return {
    ...createHttpPartner(link, hasIdempotentOrders),
    ...observed,
    inbound: createPixgateInbound({
      secrets: [secret, secretPrevious].filter((one) => one !== undefined),
      apiKey: inboundApiKey,
      apiKeyPrevious: inboundApiKeyPrevious,
      isFromBank: addresses === undefined ? () => true : networkList(addresses).include,
    }),
    close: () => link.close(),
  }
}

/** Minimum promised by every bank of this protocol. @source partner-protocol#calls */
const IDEMPOTENCY_WINDOW_MS = 24 * 3_600_000

/** The statement contains a movement at once; a minute covers clock differences and a cache. */
const STATEMENT_DELAY_MS = 60_000

/**
 * Makes the calls of our own protocol.
 * @param hasIdempotentOrders whether a payout or refund received twice is executed once
 * @source rules#partner.1, rules#partner.3, rules#partner.8
 */
export function createHttpPartner(link: PartnerLink, hasIdempotentOrders = true): Partner {
  const { raw, query, send } = createExchange(link, PROTOCOL)
  return {
    capabilities: new Set([
      'charge',
      'idempotent-charge',
      'query-charge',
      'cancel-charge',
      'payout',
      'query-payout',
      'decode-qr-code',
      'refund',
      'query-refund',
      'statement',
      'balance',
      ...(hasIdempotentOrders ? (['idempotent-payout', 'idempotent-refund'] as const) : []),
    ]),
    idempotencyWindowMs: IDEMPOTENCY_WINDOW_MS,
    statementDelayMs: statementDelay(STATEMENT_DELAY_MS),
    createCharge: (id, request, deadline) =>
      send({
        path: pathOf('charges', id),
        body: chargeRequest(request),
        judge: judgeCharge(id, request, readCharge),
        holdsMoney: false,
        deadline,
      }),
    getCharge: (id, terms, deadline) => query(pathOf('charges', id), judgeCharge(id, terms, readCharge), deadline),
    cancelCharge: async (id, deadline) =>
      cancelAnswer(await raw({ method: 'DELETE', path: pathOf('charges', id) }, deadline)),
    sendPayout: (id, request, window) =>
      send({
        path: pathOf('payouts', id),
        body: payoutRequest(request),
        judge: judgePayout(id, payoutTerms(request), readPayout),
        holdsMoney: true,
        window,
      }),
    getPayout: (id, terms, deadline) => query(pathOf('payouts', id), judgePayout(id, terms, readPayout), deadline),
    decodeQrCode: async (pixCode, deadline) =>
      qrCodeAnswer(await raw({ method: 'POST', path: '/qr-codes/decode', body: { pixCode } }, deadline)),
    sendRefund: (id, request, window) =>
      send({
        path: pathOf('refunds', id),
        body: refundRequest(request),
        judge: judgeRefund(id, request, readRefund),
        holdsMoney: true,
        window,
      }),
    getRefund: (id, terms, deadline) => query(pathOf('refunds', id), judgeRefund(id, terms, readRefund), deadline),
    readStatement: async (query, deadline) =>
      statementAnswer(await raw({ method: 'GET', path: statementPath(query) }, deadline)),
    readBalance: async (deadline) => balanceAnswer(await raw({ method: 'GET', path: '/balance' }, deadline)),
  }
}

function pathOf(kind: 'charges' | 'payouts' | 'refunds', id: string): string {
  return `/${kind}/${encodeURIComponent(id)}`
}
