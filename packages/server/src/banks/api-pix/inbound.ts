import { endpoint } from '@pixgate/spec'
import { type Static, Type } from 'typebox'
import { secretsEqual, sha256 } from '../../platform/crypto.ts'
import type { BodyTest } from '../body-test.ts'
import type { BankEvent, EventSubject, Inbound, InboundRequest, Judgement, ReadableEvent } from '../inbound.ts'
import { keepingFault } from '../keepable-json.ts'
import { itemsOf, textIn, withoutNulls } from '../values.ts'
import { bodyTest, information } from './bodies.ts'

/**
 * The callbacks of the standard: a list of what happened, which nobody has signed. Each item is a question to the bank, and
 * nothing else; what cannot be read is not kept, as the bank's lists have it anyway.
 * @source rules#api-pix.11
 */

/** What proves, as far as the deployment allows, that a callback is the bank's. */
export interface CallbackOrigin {
  /** In the address that the bank was told; the one before it counts too. */
  readonly secrets: readonly string[]
  /** Whether the bank calls from an address; absent: from anywhere. */
  readonly isFromBank?: (address: string) => boolean
}

/** Where the bank calls: it puts `/pix` behind the address that it was told, whatever the address ends with. */
export const CALLBACK_PATH = '/api/webhooks/bank'

/** In what of the query the secret stands: as Efí's documents call it, which swallow the `/pix` with an `ignorar`. */
export const SECRET_PARAMETER = 'hmac'

const receive = (path: string, id: string) =>
  endpoint({
    id,
    method: 'POST',
    path,
    auth: 'partner',
    tag: 'Partner',
    summary: 'Take a callback of API Pix',
    description: 'What it names is asked about at the bank. Nothing of what it says is believed.',
    body: Type.Unknown(),
    responses: { 200: { description: 'Stored' } },
    errors: [],
  })

const ROUTES = [
  {
    name: 'api-pix',
    endpoint: receive(`${CALLBACK_PATH}/pix`, 'receiveApiPixCallback'),
    acknowledgement: { status: 200 },
  },
  {
    name: 'api-pix/bare',
    endpoint: receive(CALLBACK_PATH, 'receiveBareApiPixCallback'),
    acknowledgement: { status: 200 },
  },
] as const

/** Makes it. */
export function createApiPixInbound(origin: CallbackOrigin): Inbound {
  return {
    routes: ROUTES,
    authenticate: (request) => originOf(origin, request),
    parse: (_route, body) => parse(body),
    unread,
  }
}

/** Whoever shows everything that is asked for is still nobody whose word counts. */
function originOf({ secrets, isFromBank }: CallbackOrigin, request: InboundRequest): Judgement {
  if (secrets.length > 0 && !showsOneOf(secrets, request.search))
    return { origin: 'refused', reason: 'the secret in the address is missing or wrong' }
  if (isFromBank && !isFromBank(request.remoteAddress))
    return { origin: 'refused', reason: 'it came from an address that PIXGATE_BANK_ADDRESSES does not have' }
  return 'unproven'
}

function showsOneOf(secrets: readonly string[], search: string): boolean {
  const shown = new URLSearchParams(search).get(SECRET_PARAMETER)?.replace(/\/pix$/, '') ?? ''
  // Every secret is tried, so that the time taken does not tell which one fits.
  return secrets.map((secret) => secretsEqual(shown, secret)).includes(true)
}

const TEXT_MAX_LENGTH = 128
const text = Type.Optional(Type.String({ maxLength: TEXT_MAX_LENGTH }))

/** An item of a callback, as far as it names something. */
const item = Type.Object({
  endToEndId: text,
  txid: text,
  status: text,
  devolucoes: Type.Optional(Type.Unknown()),
  gnExtras: information,
})
const returned = Type.Object({ id: text, rtrId: text, status: text })

const isItem = bodyTest(item)
const isReturned = bodyTest(returned)
const isCallback = bodyTest(Type.Object({ pix: Type.Unknown() }))
const isTest = bodyTest(Type.Object({ evento: Type.String() }))

/** Pure, and for ever the same. */
function parse(body: Buffer): readonly BankEvent[] {
  return itemsIn(body)?.filter(isItem).flatMap(eventsOf) ?? []
}

/** The items of a callback: under `pix`, or in a bare list, or one by itself. A call without items is the bank's test of the address. */
function itemsIn(body: Buffer): readonly unknown[] | undefined {
  const text = body.toString()
  const json = withoutNulls(jsonOf(text))
  if (typeof json !== 'object' || keepingFault(text) !== undefined) return undefined
  if (isCallback(json)) return itemsOf(json.pix)
  if (Array.isArray(json)) return json
  return isItem(json) && (json.endToEndId !== undefined || json.txid !== undefined) ? [json] : undefined
}

/** The first part of a callback that is left out, as it cannot be read. */
function unread(body: Buffer): string | undefined {
  const items = itemsIn(body)
  if (items === undefined) return isTestCall(body) ? undefined : 'no payments'
  const returns = items.filter(isItem).flatMap(({ devolucoes }) => itemsOf(devolucoes))
  const odd = [...faults(items, isItem), ...faults(returns, isReturned)]
  return odd[0] === undefined ? undefined : `an item: ${odd[0]}`
}

function faults(items: readonly unknown[], isRead: BodyTest<unknown>): string[] {
  return items.filter((one) => !isRead(one)).map((one) => isRead.fault(one) || 'no object')
}

/** Banks call an address when it is registered: with nothing, or with an event instead of payments, as Efí does. */
function isTestCall(body: Buffer): boolean {
  const json = jsonOf(body.toString())
  const isEmpty = body.length === 0 || (typeof json === 'object' && json !== null && Object.keys(json).length === 0)
  return isEmpty || isTest(json)
}

type Item = Static<typeof item>

function eventsOf({ endToEndId, txid, status, devolucoes, gnExtras }: Item): readonly ReadableEvent[] {
  const returns = itemsOf(devolucoes).filter(isReturned)
  const idEnvio = textIn(gnExtras, 'idEnvio')
  if (idEnvio && idEnvio.length <= TEXT_MAX_LENGTH) {
    const told = [status, ...returns.map(({ rtrId }) => rtrId)]
    return [question('payout', { id: idEnvio, endToEndId: null }, told)]
  }
  if (!txid) return []
  return [
    question('charge', { id: txid, endToEndId: null }, [endToEndId]),
    ...returns.flatMap(({ id, status }) =>
      id ? [question('refund', { id, endToEndId: endToEndId ?? null }, [endToEndId, status])] : [],
    ),
  ]
}

/** «Something happened»: what it says besides only tells it from another one about the same. */
function question(
  subject: EventSubject,
  { id, endToEndId }: { readonly id: string; readonly endToEndId: string | null },
  told: readonly (string | undefined)[],
): ReadableEvent {
  const references = { transactionId: null, externalId: id, endToEndId }
  const key = [subject, '', id, ...told.map((word) => word ?? '')]
  return {
    subject,
    kind: 'changed',
    saysMoneyMoved: true,
    references,
    key,
    content: sha256(JSON.stringify(key)),
    evidence: { subject, id },
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
