import { type Clock, sleeplessClock } from '../../platform/clock.ts'
import { networkList } from '../../platform/networks.ts'
import { type Bank, lacking } from '../bank.ts'
import { type Answered, createExchange, type Exchange, isSuccess, type Protocol, queryAnswer } from '../exchange.ts'
import { type Outcome, observeLinks, openPartnerLink } from '../link.ts'
import type { ChargeRequest, ChargeTerms, Partner } from '../port.ts'
import { instantOf, itemsOf } from '../values.ts'
import { type CobReading, cobRequest, createBankClock, createClockOffset, judgeCob, judgeMadeCob } from './charges.ts'
import type { ApiPixConfig } from './config.ts'
import { examine } from './examine.ts'
import { createApiPixInbound } from './inbound.ts'
import { authorizedLink, createTokens, type RetryAfterLink, retryAfterLink } from './link.ts'
import { devolucaoPath, devolucaoRequest, judgeDevolucao } from './payments.ts'
import { type Cob, cancelAnswer, isAbsence, isCob, isPage, isPix, protocolOf } from './protocol.ts'
import {
  API_PIX_STATEMENT_DELAYS_MS,
  createStatementReader,
  listQuery,
  type StatementList,
  windowEnd,
} from './statement.ts'

/** The minimum scopes of the standard. */
const SCOPES = ['cob.read', 'cob.write', 'pix.read', 'pix.write', 'webhook.read', 'webhook.write'] as const

/** Room for a page of payments. */
const ANSWER_MAX_BYTES = 1_048_576

/** Connects a bank that implements the Central Bank's API Pix only. */
export function openApiPixBank(config: ApiPixConfig, clock: Clock): Bank {
  return connectBank(config, clock, { protocol: protocolOf(), scopes: [] }, createApiPixPartner)
}

export interface Connected extends Omit<ApiPixOptions, 'lists'> {
  readonly link: RetryAfterLink
}

/**
 * Connects a bank of the standard, optionally with additional calls.
 * @param clock our clock
 * @param scopes in addition to the standard's
 */
export function connectBank(
  config: ApiPixConfig,
  clock: Clock,
  { protocol, scopes }: { readonly protocol: Protocol; readonly scopes: readonly string[] },
  partnerOf: (connected: Connected) => Partner,
): Bank {
  const { addresses, tokenForm, tls, timeoutMs, callbackAddresses, callbackSecrets } = config
  const [api, token] = [new URL(addresses.api), new URL(addresses.token)]
  const prefix = api.pathname.replace(/\/$/, '')
  const bankClock = createBankClock(() => clock.now())
  const { onDate, onCertificate, ...observed } = observeLinks(config.certificates)
  const monotonicMs = sleeplessClock()
  const open = (url: string, connectionsMax?: number) =>
    openPartnerLink({
      ...{ url, tls, timeoutMs, answerMaxBytes: ANSWER_MAX_BYTES, onCertificate },
      ...(connectionsMax !== undefined && { connectionsMax }),
      onDate: (dateMs) => {
        onDate(dateMs)
        bankClock.observe(dateMs)
      },
    })
  const allScopes = tokenForm.hasScopes ? [...SCOPES, ...scopes] : []
  const tokenLink = retryAfterLink(open(token.origin, 1), monotonicMs)
  const path = token.pathname + token.search
  const tokens = createTokens({ ...config, link: tokenLink, path, scopes: allScopes, form: tokenForm, monotonicMs })
  const { patchPath } = addresses
  const form = { ...config.calls, patchPath: patchPath === undefined ? undefined : { from: prefix, to: patchPath } }
  // Callers choose their QR codes: a pause caused by one caller must not delay the others (rules#partner.9).
  const link = retryAfterLink(
    authorizedLink(open(api.origin), tokens, form),
    monotonicMs,
    ({ method }) => method !== 'POST',
  )
  const bankNow = () => bankClock.now()
  const exchange = createExchange(link, protocol, prefix)
  const partner = partnerOf({ ...config, link, exchange, bankNow, monotonicMs })
  const isFromBank = callbackAddresses && networkList(callbackAddresses).include
  return {
    ...partner,
    ...observed,
    examine: (options) =>
      examine({ ...config, address: api, tokens, scopes: allScopes, exchange, partner, bankNow }, options),
    inbound: createApiPixInbound({ secrets: callbackSecrets, ...(isFromBank && { isFromBank }) }),
    close: async () => {
      await Promise.all([link.close(), tokenLink.close()])
    },
  }
}

export interface ApiPixOptions {
  readonly exchange: Exchange
  readonly merchant: ChargeRequest['merchant']
  /** Epoch milliseconds by the bank's clock. */
  readonly bankNow: () => number
  /** Milliseconds of a clock that goes on while the process is suspended. */
  readonly monotonicMs: () => number
  /** The bank executes an order once, even if it receives it twice. */
  readonly hasIdempotentOrders: boolean
  /** Windows of lists are in whole seconds. */
  readonly hasWholeSeconds?: boolean
  readonly lists?: readonly StatementList[]
}

/** Minimum promised by the standard: the id of a return is used once per payment, for ever. */
const IDEMPOTENCY_WINDOW_MS = 24 * 3_600_000

/**
 * Limit between counting the seconds of a charge and sending its request. The charge may outlive ours at the bank by
 * this much, well within the time for late settlements.
 * @source rules#api-pix.2
 */
const LEAVES_WITHIN_MS = 5_000

/** Maximum difference among the bank's own timestamps. */
const SKEW_MS = 300_000

const CANCELLATION = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }

/** Calls of the Central Bank's API Pix 2.9.0: charges and refunds, no payouts. @source rules#api-pix */
export function createApiPixPartner(options: ApiPixOptions): Partner {
  const { exchange, merchant, bankNow, monotonicMs, hasIdempotentOrders, hasWholeSeconds = false } = options
  const clockOffset = createClockOffset()
  const reading: CobReading = { merchant, bankNow, clockOffset }

  async function getCharge(id: string, terms: ChargeTerms, deadline?: AbortSignal) {
    const outcome = await exchange.raw({ method: 'GET', path: `/cob/${id}` }, deadline)
    const queryOf = ({ calendario, txid }: Cob) => {
      // The next query finds later payments.
      const to = windowEnd(bankNow(), hasWholeSeconds) + 1
      const window = { from: instantOf(calendario.criacao) - SKEW_MS, to }
      return { ...listQuery(window, 0, hasWholeSeconds, clockOffset.offsetMs() ?? 0), txid }
    }
    const paid = await withPayments(exchange, outcome, queryOf, deadline)
    return queryAnswer(paid, judgeCob(id, terms, reading), isAbsence)
  }

  return {
    ...lacking,
    capabilities: new Set([
      'charge',
      'idempotent-charge',
      'query-charge',
      'cancel-charge',
      'refund',
      ...(hasIdempotentOrders ? (['idempotent-refund'] as const) : []),
      'query-refund',
      'statement',
    ]),
    idempotencyWindowMs: IDEMPOTENCY_WINDOW_MS,
    statementDelayMs: API_PIX_STATEMENT_DELAYS_MS,
    clockOffset,
    createCharge: (id, request, deadline) => {
      const endsAt = monotonicMs() + LEAVES_WITHIN_MS
      return exchange.send({
        path: `/cob/${id}`,
        body: cobRequest(request),
        judge: judgeMadeCob(id, request, reading),
        query: () => getCharge(id, request, deadline),
        holdsMoney: false,
        deadline,
        window: { isOver: () => monotonicMs() > endsAt },
      })
    },
    getCharge,
    cancelCharge: async (id, deadline) =>
      cancelAnswer(await exchange.raw({ method: 'PATCH', path: `/cob/${id}`, body: CANCELLATION }, deadline)),
    sendRefund: (id, request, window) =>
      exchange.send({
        path: devolucaoPath(id, request),
        body: devolucaoRequest(request),
        judge: judgeDevolucao(id, request, clockOffset.offsetMs() ?? 0),
        holdsMoney: true,
        window,
      }),
    getRefund: (id, terms, deadline) =>
      exchange.query(devolucaoPath(id, terms), judgeDevolucao(id, terms, clockOffset.offsetMs() ?? 0), deadline),
    readStatement: createStatementReader(options, clockOffset),
  }
}

/** Adds the payments of a paid charge when the charge itself lacks them. @source rules#api-pix.5 */
async function withPayments(
  exchange: Exchange,
  outcome: Outcome,
  queryOf: (cob: Cob) => Record<string, string>,
  deadline: AbortSignal | undefined,
): Promise<Outcome> {
  if (!isAnswer(outcome) || !isCob(outcome.json)) return outcome
  const cob = outcome.json
  if (cob.status !== 'CONCLUIDA' || itemsOf(cob.pix).some(isPix)) return outcome
  const query = new URLSearchParams(queryOf(cob))
  const listed = await exchange.raw({ method: 'GET', path: `/pix?${query}` }, deadline)
  if (!isAnswer(listed) || !isPage(listed.json)) return outcome
  const pix = itemsOf(listed.json.pix).filter(isPix)
  // A bank that ignores the filter lists payments of other charges too.
  return pix.every(({ txid }) => txid === cob.txid) ? { ...listed, json: { ...cob, pix } } : outcome
}

function isAnswer(outcome: Outcome): outcome is Answered {
  return outcome.kind === 'answered' && isSuccess(outcome)
}
