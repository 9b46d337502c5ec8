import { endpoint } from '@pixgate/spec'
import { type Static, Type } from 'typebox'
import { secretsEqual, sha256 } from '../../platform/crypto.ts'
import type { EventSubject, Inbound, InboundRequest, InboundRoute, Judgement, ReadableEvent } from '../inbound.ts'
import { type BodyTest, bodyTest, itemsOf, storageFault, textIn, withoutNulls } from '../values.ts'
import { information } from './protocol.ts'

/**
 * Callbacks of the standard: an unsigned list of events. Each item only triggers a query. Unreadable items are not
 * stored, since the bank's lists contain the same movements.
 * @source rules#api-pix.11
 */

/** Proof of origin, as far as the deployment provides one. */
export interface CallbackOrigin {
  /** Secrets in the registered address, current and previous. */
  readonly secrets: readonly string[]
  /** Checks the caller's address; absent: any address. */
  readonly isFromBank?: (address: string) => boolean
}

/** Path of callbacks. Banks append `/pix` to the registered address. */
export const CALLBACK_PATH = '/api/webhooks/bank'

/** Query parameter of the secret, named as in Efí's documents, which absorb the `/pix` with an `ignorar`. */
export const SECRET_PARAMETER = 'hmac'

function routeOf(name: string, path: string, id: string): InboundRoute {
  return {
    name,
    endpoint: endpoint({
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
    }),
    acknowledgement: { status: 200 },
  }
}

const ROUTES = [
  routeOf('api-pix', `${CALLBACK_PATH}/pix`, 'receiveApiPixCallback'),
  routeOf('api-pix/bare', CALLBACK_PATH, 'receiveBareApiPixCallback'),
]

export function createApiPixInbound(origin: CallbackOrigin): Inbound {
  return {
    routes: ROUTES,
    authenticate: (request) => originOf(origin, request),
    parse: (_, body) => itemsIn(body)?.filter(isItem).flatMap(eventsOf) ?? [],
    unread,
  }
}

/** A callback is unsigned and stays unproven, even with every proof. */
function originOf({ secrets, isFromBank }: CallbackOrigin, request: InboundRequest): Judgement {
  if (secrets.length > 0 && !showsOneOf(secrets, request.search))
    return { origin: 'refused', reason: 'the secret in the address is missing or wrong' }
  if (isFromBank && !isFromBank(request.remoteAddress))
    return { origin: 'refused', reason: 'it came from an address that PIXGATE_BANK_ADDRESSES does not have' }
  return 'unproven'
}

function showsOneOf(secrets: readonly string[], search: string): boolean {
  const shown = new URLSearchParams(search).get(SECRET_PARAMETER)?.replace(/\/pix$/, '') ?? ''
  // Compares every secret, so that the time taken does not reveal which one matches.
  return secrets.map((secret) => secretsEqual(shown, secret)).includes(true)
}

const TEXT_MAX_LENGTH = 128
const text = Type.Optional(Type.String({ maxLength: TEXT_MAX_LENGTH }))

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

/** Items under `pix`, in a bare list, or a single one. A call without items is the bank's test of the address. */
function itemsIn(body: Buffer): readonly unknown[] | undefined {
  const text = body.toString()
  const json = withoutNulls(jsonOf(text))
  if (typeof json !== 'object' || storageFault(text) !== undefined) return undefined
  if (isCallback(json)) return itemsOf(json.pix)
  if (Array.isArray(json)) return json
  return isItem(json) && (json.endToEndId !== undefined || json.txid !== undefined) ? [json] : undefined
}

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

/** Banks call an address at registration with an empty body or, like Efí, with an event that has no payments. */
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
    return [question('payout', { id: idEnvio, endToEndId: null }, [status, ...returns.map(({ rtrId }) => rtrId)])]
  }
  if (!txid) return []
  return [
    question('charge', { id: txid, endToEndId: null }, [endToEndId]),
    ...returns.flatMap(({ id, status }) =>
      id ? [question('refund', { id, endToEndId: endToEndId ?? null }, [endToEndId, status])] : [],
    ),
  ]
}

/** An event that only triggers a query. @param distinct distinguishes it from other events of the same id */
function question(
  subject: EventSubject,
  { id, endToEndId }: { readonly id: string; readonly endToEndId: string | null },
  distinct: readonly (string | undefined)[],
): ReadableEvent {
  const references = { transactionId: null, externalId: id, endToEndId }
  const key = [subject, '', id, ...distinct.map((word) => word ?? '')]
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
