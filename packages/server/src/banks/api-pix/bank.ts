import { type Clock, sleeplessClock } from '../../platform/clock.ts'
import { networksOf } from '../../platform/networks.ts'
import { type Bank, lacking } from '../bank.ts'
import { type Answered, createExchange, type Exchange, isSuccess, type Protocol, queryAnswer } from '../exchange.ts'
import { type Outcome, observeLinks, openPartnerLink } from '../link.ts'
import type { ChargeRequest, ChargeTerms, Partner } from '../port.ts'
import { instantOf, itemsOf } from '../values.ts'
import { type CobReading, cobRequest, createBankClock, createStamps, judgeCob, judgeMadeCob } from './charges.ts'
import type { ApiPixConfig } from './config.ts'
import { examine } from './examine.ts'
import { createApiPixInbound } from './inbound.ts'
import { authorizedLink, createTokens, type PatientLink, patientLink } from './link.ts'
import { devolucaoPath, devolucaoRequest, judgeDevolucao } from './payments.ts'
import { type Cob, cancelAnswer, isAbsence, isCob, isPage, isPix, protocolOf } from './protocol.ts'
import { createStatementReader, LISTED_WITHIN_MS, listedUntil, listQuery, type StatementList } from './statement.ts'

/** The least scopes of the standard. */
const SCOPES = ['cob.read', 'cob.write', 'pix.read', 'pix.write', 'webhook.read', 'webhook.write'] as const

/** Room for a page of a list of payments. */
const ANSWER_MAX_BYTES = 1_048_576

/** Connects a bank that speaks the Central Bank's API Pix, and nothing else. */
export function openApiPixBank(config: ApiPixConfig, clock: Clock): Bank {
  return connectBank(config, clock, { protocol: protocolOf(), scopes: [] }, createApiPixPartner)
}

/** A connection, for the calls of a bank. */
export interface Connected extends Omit<ApiPixOptions, 'lists'> {
  /** To the bank's origin, with a token on each call. */
  readonly link: PatientLink
}

/**
 * Connects a bank of the standard, perhaps with more calls.
 * @param clock ours
 * @param scopes besides the standard's
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
  const monotonic = sleeplessClock()
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
  const tokenLink = patientLink(open(token.origin, 1), monotonic)
  const path = token.pathname + token.search
  const tokens = createTokens({ ...config, link: tokenLink, path, scopes: allScopes, form: tokenForm, monotonic })
  const { patchPath } = addresses
  const form = { ...config.calls, patchPath: patchPath === undefined ? undefined : { from: prefix, to: patchPath } }
  // Askers choose their QR codes: a pause for one asker must not hold back the others (rules#partner.9).
  const link = patientLink(authorizedLink(open(api.origin), tokens, form), monotonic, ({ method }) => method !== 'POST')
  const bankNow = () => bankClock.now()
  const exchange = createExchange(link, protocol, prefix)
  const partner = partnerOf({ ...config, link, exchange, bankNow, monotonic })
  const isFromBank = callbackAddresses && networksOf(callbackAddresses).include
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
  /** Epoch milliseconds, by the bank's clock. */
  readonly bankNow: () => number
  /** A clock that goes on while the process sleeps, milliseconds. */
  readonly monotonic: () => number
  /** An order that the bank gets twice is carried out once. */
  readonly hasIdempotentOrders: boolean
  /** Windows of lists have no parts of a second. */
  readonly hasWholeSeconds?: boolean
  /** Lists of the statement besides those of the standard. */
  readonly lists?: readonly StatementList[]
}

/** The least that banks of the standard promise: the id of a return is used once for its payment, for ever. */
const IDEMPOTENCY_WINDOW_MS = 24 * 3_600_000

/**
 * Time in which the request for a charge may leave after its seconds were counted. By as much the charge outlives ours at the
 * bank, well within the time for late settlements.
 * @source rules#api-pix.2
 */
const LEAVES_WITHIN_MS = 5_000

/** Difference of the bank's stamps among themselves. */
const SKEW_MS = 300_000

/** The one body with which a charge is cancelled. */
const CANCELLATION = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }

/**
 * Makes the calls of the Central Bank's API Pix 2.9.0, which has charges and refunds, and no payouts.
 * @source rules#api-pix
 */
export function createApiPixPartner(options: ApiPixOptions): Partner {
  const { exchange, merchant, bankNow, monotonic, hasIdempotentOrders, hasWholeSeconds = false } = options
  const stamps = createStamps()
  const reading: CobReading = { merchant, bankNow, stamps }

  async function getCharge(id: string, terms: ChargeTerms, deadline?: AbortSignal) {
    const outcome = await exchange.raw({ method: 'GET', path: `/cob/${id}` }, deadline)
    const queryOf = ({ calendario, txid }: Cob) => {
      // Later payments are found by the next query.
      const to = listedUntil(bankNow(), hasWholeSeconds) + 1
      const window = { from: instantOf(calendario.criacao) - SKEW_MS, to }
      return { ...listQuery(window, 0, hasWholeSeconds, stamps.offsetMs() ?? 0), txid }
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
    listedWithinMs: LISTED_WITHIN_MS,
    stamps,
    createCharge: (id, request, deadline) => {
      const endsAt = monotonic() + LEAVES_WITHIN_MS
      return exchange.send({
        path: `/cob/${id}`,
        body: cobRequest(request),
        judge: judgeMadeCob(id, request, reading),
        query: () => getCharge(id, request, deadline),
        holdsMoney: false,
        deadline,
        window: { isOver: () => monotonic() > endsAt },
      })
    },
    getCharge,
    cancelCharge: async (id, deadline) =>
      cancelAnswer(await exchange.raw({ method: 'PATCH', path: `/cob/${id}`, body: CANCELLATION }, deadline)),
    sendRefund: (id, request, window) =>
      exchange.send({
        path: devolucaoPath(id, request),
        body: devolucaoRequest(request),
        judge: judgeDevolucao(id, request, stamps.offsetMs() ?? 0),
        holdsMoney: true,
        window,
      }),
    getRefund: (id, terms, deadline) =>
      exchange.query(devolucaoPath(id, terms), judgeDevolucao(id, terms, stamps.offsetMs() ?? 0), deadline),
    readStatement: createStatementReader(options, stamps),
  }
}

/** Adds the payments of a paid charge, where the charge itself lacks them. @source rules#api-pix.5 */
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
  // A bank that ignores the filter lists payments of other charges.
  return pix.every(({ txid }) => txid === cob.txid) ? { ...listed, json: { ...cob, pix } } : outcome
}

function isAnswer(outcome: Outcome): outcome is Answered {
  return outcome.kind === 'answered' && isSuccess(outcome)
}
