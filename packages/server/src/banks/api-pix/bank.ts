import type { Clock } from '../../platform/clock.ts'
import { networksOf } from '../../platform/networks.ts'
import { sleeplessClock } from '../../platform/stopwatch.ts'
import type { Bank } from '../bank.ts'
import { openPartnerLink, type PartnerCall } from '../link.ts'
import { type PatientLink, patientLink } from '../patient-link.ts'
import type { Partner } from '../port.ts'
import { type CallForm, linkWithAdditions } from './additions.ts'
import { authorizedLink } from './authorized-link.ts'
import { createBankClock } from './bank-clock.ts'
import type { ApiPixConfig } from './config.ts'
import { examine } from './examine.ts'
import { createExchange } from './exchange.ts'
import { createApiPixInbound } from './inbound.ts'
import { type ApiPixOptions, createApiPixPartner } from './partner.ts'
import { createTokens } from './tokens.ts'

/** What we ask a bank of the standard to be allowed, and no more. */
const SCOPES = ['cob.read', 'cob.write', 'pix.read', 'pix.write', 'webhook.read', 'webhook.write'] as const

/** A page of a list of payments fits. */
const ANSWER_MAX_BYTES = 1_048_576

/** Connects a bank that speaks the Central Bank's API Pix, and nothing else. */
export function openApiPixBank(config: ApiPixConfig, clock: Clock): Bank {
  return connectBank(config, clock, [], ({ link, prefix, ...options }) =>
    createApiPixPartner({ ...options, exchange: createExchange(link, prefix) }),
  )
}

/** What a bank of the standard is made of. */
export interface Connected extends Omit<ApiPixOptions, 'exchange' | 'lists'> {
  /** To its origin, with the token of now on each call. */
  readonly link: PatientLink
  /** What goes before every path of the standard: `/v2`. */
  readonly prefix: string
}

/**
 * Connects a bank of the standard, or of more than that.
 * @param clock ours
 * @param scopes besides the standard's
 * @param partnerOf makes what it is asked
 */
export function connectBank(
  config: ApiPixConfig,
  clock: Clock,
  scopes: readonly string[],
  partnerOf: (connected: Connected) => Partner,
): Bank {
  const { addresses, clientId, clientSecret, tokenForm, merchant, tls, timeoutMs } = config
  const [api, token] = [new URL(addresses.api), new URL(addresses.token)]
  const bankClock = createBankClock(() => clock.now())
  let latestDate: number | undefined
  let bankEndsAt: number | undefined
  const common = {
    tls,
    timeoutMs,
    answerMaxBytes: ANSWER_MAX_BYTES,
    onDate: (dateMs: number) => {
      latestDate = dateMs
      bankClock.observe(dateMs)
    },
    onCertificate: (endsAt: number) => {
      bankEndsAt = endsAt
    },
  }
  const monotonic = sleeplessClock()
  const allScopes = tokenForm.hasScopes ? [...SCOPES, ...scopes] : []
  const tokenLink = patientLink(openPartnerLink({ ...common, url: token.origin, connectionsMax: 1 }), monotonic)
  const tokens = createTokens({
    link: tokenLink,
    path: token.pathname + token.search,
    clientId,
    clientSecret,
    scopes: allScopes,
    form: tokenForm,
    monotonic,
  })
  const prefix = api.pathname.replace(/\/$/, '')
  const apiLink = linkWithAdditions(openPartnerLink({ ...common, url: api.origin }), callFormOf(config, prefix))
  const link = patientLink(authorizedLink(apiLink, tokens), monotonic, isHeld)
  const bankNow = () => bankClock.now()
  const { callbackAddresses, callbackUrl, callbackSecrets, isSandbox, registration, warning } = config
  const { hasIdempotentOrders, hasWholeSeconds } = config
  const isFromBank = callbackAddresses && networksOf(callbackAddresses).include
  const partner = partnerOf({ link, prefix, merchant, bankNow, monotonic, hasIdempotentOrders, hasWholeSeconds })
  const exchange = createExchange(link, prefix)
  const examined = { address: api, tls, timeoutMs, tokens, scopes: allScopes, exchange, partner, merchant, bankNow }
  return {
    ...partner,
    examine: (options) =>
      examine({ ...examined, callbackUrl, callbackSecrets, isSandbox, registration, warning }, options),
    inbound: createApiPixInbound({ secrets: callbackSecrets, ...(isFromBank && { isFromBank }) }),
    latestDate: () => latestDate,
    certificates: () => [
      ...(bankEndsAt === undefined ? [] : [{ of: 'bank', endsAt: bankEndsAt } as const]),
      ...config.certificates,
    ],
    close: async () => {
      await Promise.all([link.close(), tokenLink.close()])
    },
  }
}

function callFormOf({ calls, addresses: { patchPath } }: ApiPixConfig, prefix: string): CallForm {
  return { ...calls, patchPath: patchPath === undefined ? undefined : { from: prefix, to: patchPath } }
}

/** Which QR codes are read is the choice of whoever pays them: each asker has a count alone. @source rules#partner.9 */
function isHeld({ method }: PartnerCall): boolean {
  return method !== 'POST'
}
