import { Type } from 'typebox'
import { commandOf } from '../../platform/command.ts'
import { connectionProblem } from '../../platform/connection-problem.ts'
import { bad, type Finding, good } from '../../platform/finding.ts'
import type { ExaminationOptions } from '../bank.ts'
import { connectionFault } from '../calls.ts'
import { type Answered, type Exchange, isSuccess } from '../exchange.ts'
import type { Outcome } from '../link.ts'
import type { Partner } from '../port.ts'
import { bodyTest } from '../values.ts'
import { type ApiPixConfig, standardSettings } from './config.ts'
import { SECRET_PARAMETER } from './inbound.ts'
import { redactorOf, type Tokens } from './link.ts'
import { problemOf } from './protocol.ts'

interface Examined extends ApiPixConfig {
  readonly address: URL
  readonly tokens: Pick<Tokens, 'current'>
  readonly scopes: readonly string[]
  readonly exchange: Exchange
  readonly partner: Pick<Partner, 'createCharge' | 'cancelCharge'>
  /** Epoch milliseconds by the bank's clock. */
  readonly bankNow: () => number
}

/**
 * Checks the connection to the bank step by step, with the reason of each failure. Missing scopes do not stop the later
 * steps.
 * @source rules#api-pix.13
 */
export async function examine(
  examined: Examined,
  { registers, newId }: ExaminationOptions,
): Promise<readonly Finding[]> {
  const redact = redactorOf(examined.callbackSecrets)
  const withoutSecrets = (finding: Finding) => withoutSecret({ ...finding, says: redact(finding.says) })
  const findings: Finding[] = examined.warning === undefined ? [] : [good('preset', examined.warning)]
  const token = await grantsToken(examined)
  findings.push(token)
  if (!token.isOk) return findings.map(withoutSecrets)
  const registered = await examined.exchange.raw({ method: 'GET', path: webhookPath(examined) })
  if (registered.kind !== 'answered') {
    const says = connectionFault(registered.reason, standardSettings, examined.address.hostname)
    return [...findings, bad('connection', says)].map(withoutSecrets)
  }
  findings.push(good('connection', 'the bank answers and proves who it is'))
  findings.push(await allowsScopes(examined))
  findings.push(registers ? await register(examined) : webhookOf(examined, registered))
  if (examined.isSandbox && newId) findings.push(await chargeOf(examined, newId()))
  return findings.map(withoutSecrets)
}

const SECRET = new RegExp(`(${SECRET_PARAMETER}(?:=|%3D))[^&\\s"'<>]+`, 'gi')

/** Findings are printed, and a bank may echo an address that contains the secret. */
function withoutSecret(finding: Finding): Finding {
  return { ...finding, says: finding.says.replaceAll(SECRET, '$1…') }
}

async function grantsToken({ tokens, addresses }: Examined): Promise<Finding> {
  const grant = await tokens.current()
  if (!('failed' in grant)) return good('token', 'the bank takes our certificate, client id and secret')
  const { failed } = grant
  if (failed.kind === 'answered' && failed.httpStatus < 500) {
    const says = `the bank answers ${failed.httpStatus} to the request for a token: check PIXGATE_BANK_CLIENT_ID and PIXGATE_BANK_CLIENT_SECRET, and that they and the certificate are of the same environment`
    return bad('token', says)
  }
  const settings = { ...standardSettings, address: 'PIXGATE_BANK_TOKEN_URL' }
  const says =
    failed.kind === 'answered'
      ? `the bank ${problemWith(failed)}: the certificate may be of another environment`
      : connectionFault(failed.reason, settings, new URL(addresses.token).hostname)
  return bad('token', says)
}

async function allowsScopes({ tokens, scopes }: Examined): Promise<Finding> {
  const grant = await tokens.current()
  const allowed = 'failed' in grant ? undefined : grant.scopes
  if (allowed === undefined) return good('scopes', 'the bank does not say which it grants')
  if (scopes.length === 0) return good('scopes', 'none is asked for: the contract with the bank says which')
  const missing = scopes.filter((scope) => !allowed.includes(scope))
  if (missing.length === 0) return good('scopes', `all that are needed: ${scopes.join(', ')}`)
  const says = `${missing.join(', ')} missing: allow them for this application at the bank`
  return bad('scopes', says)
}

const TO_REGISTER = `run \`${commandOf('bank-check --register')}\``

const isWebhook = bodyTest(Type.Object({ webhookUrl: Type.String() }))

function webhookPath({ merchant }: Examined): string {
  return `/webhook/${encodeURIComponent(merchant.pixKey)}`
}

function webhookOf({ callbackUrl }: Examined, outcome: Answered): Finding {
  if (!isSuccess(outcome) || !isWebhook(outcome.json)) {
    return problemOf(outcome.json)?.errorCode === 'WebhookNaoEncontrado'
      ? bad('webhook', `none is registered for PIXGATE_MERCHANT_PIX_KEY: ${TO_REGISTER}`)
      : bad('webhook', `the bank ${problemWith(outcome)}: check PIXGATE_MERCHANT_PIX_KEY`)
  }
  if (callbackUrl === undefined)
    return good('webhook', 'one is registered; PIXGATE_BANK_CALLBACK_URL would tell whether it is ours')
  return outcome.json.webhookUrl === callbackUrl
    ? good('webhook', 'the bank calls PIXGATE_BANK_CALLBACK_URL')
    : bad('webhook', `the bank calls another address: ${TO_REGISTER}`)
}

/** The bank calls the address before registering it. */
async function register(examined: Examined): Promise<Finding> {
  const { exchange, callbackUrl: webhookUrl, registration: headers } = examined
  if (webhookUrl === undefined) return bad('webhook', 'PIXGATE_BANK_CALLBACK_URL is needed to register one')
  const outcome = await exchange.raw({ method: 'PUT', path: webhookPath(examined), body: { webhookUrl }, headers })
  return outcome.kind === 'answered' && isSuccess(outcome)
    ? good('webhook', 'the bank reached PIXGATE_BANK_CALLBACK_URL and calls it from now on')
    : bad('webhook', `not registered: the bank ${problemWith(outcome)}`)
}

/** Efí's sandbox pays smaller charges by itself. */
const CHARGE_CENTS = 1_001n
const CHARGE_LASTS_MS = 600_000

async function chargeOf({ partner, merchant, bankNow }: Examined, id: string): Promise<Finding> {
  const askedAt = bankNow()
  const made = await partner.createCharge(id, {
    valueCents: CHARGE_CENTS,
    askedAt,
    expiresAt: askedAt + CHARGE_LASTS_MS,
    merchant,
  })
  if (made.kind !== 'ACCEPTED') return bad('charge', `R$ 10,01 could not be charged in the sandbox: ${reasonOf(made)}`)
  const cancelled = await partner.cancelCharge(id)
  return cancelled.kind === 'CANCELLED'
    ? good('charge', 'R$ 10,01 were charged in the sandbox, and withdrawn')
    : bad('charge', `R$ 10,01 were charged in the sandbox, and could not be withdrawn: ${reasonOf(cancelled)}`)
}

function reasonOf(answer: {
  readonly kind: string
  readonly reason?: string
  readonly errorCode?: string
  readonly errorMessage?: string | undefined
}): string {
  return [answer.reason, answer.errorCode, answer.errorMessage].find((text) => text !== undefined) ?? answer.kind
}

function problemWith(outcome: Outcome): string {
  if (outcome.kind !== 'answered') return connectionProblem(outcome.reason)
  const { errorCode: code, errorMessage } = problemOf(outcome.json) ?? {}
  return [`answers ${outcome.httpStatus}`, code, errorMessage].filter((text) => text !== undefined).join(', ')
}
