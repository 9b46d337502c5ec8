import { endpoint } from '@pixgate/spec'
import { Type } from 'typebox'
import { secretsEqual, sha256 } from '../../platform/crypto.ts'
import type { BankEvent, EventSubject, Inbound, InboundRequest, Judgement, ReadableEvent } from '../inbound.ts'
import { keepingFault } from '../keepable-json.ts'
import { bodyTest } from './bodies.ts'
import { dashedId } from './ids.ts'

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
  return { routes: ROUTES, authenticate: (request) => originOf(origin, request), parse: (_route, body) => parse(body) }
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

const text = Type.Optional(Type.Union([Type.String({ maxLength: 128 }), Type.Null()]))

/** An item of a callback, as far as it names something. */
const item = Type.Object({
  endToEndId: text,
  txid: text,
  status: text,
  devolucoes: Type.Optional(Type.Array(Type.Object({ id: text, rtrId: text, status: text }))),
  gnExtras: Type.Optional(Type.Object({ idEnvio: text })),
})

const isCallback = bodyTest(Type.Object({ pix: Type.Array(item) }))

/** Pure, and for ever the same. A call without items is the bank's test of the address. */
function parse(body: Buffer): readonly BankEvent[] {
  const text = body.toString()
  const json = jsonOf(text)
  if (!isCallback(json) || keepingFault(text) !== undefined) return []
  return json.pix.flatMap(eventsOf)
}

interface Item {
  readonly endToEndId?: string | null
  readonly txid?: string | null
  readonly status?: string | null
  readonly devolucoes?: readonly {
    readonly id?: string | null
    readonly rtrId?: string | null
    readonly status?: string | null
  }[]
  readonly gnExtras?: { readonly idEnvio?: string | null }
}

function eventsOf(told: Item): readonly ReadableEvent[] {
  const { endToEndId = null, txid, devolucoes = [], gnExtras } = told
  if (gnExtras?.idEnvio)
    return [
      question('payout', { id: gnExtras.idEnvio, endToEndId: null }, [
        told.status,
        ...devolucoes.map(({ rtrId }) => rtrId),
      ]),
    ]
  if (!txid) return []
  const ofCharge = question('charge', { id: txid, endToEndId: null }, [endToEndId])
  return [
    ofCharge,
    ...devolucoes.flatMap(({ id, status }) =>
      id ? [question('refund', { id, endToEndId }, [endToEndId, status])] : [],
    ),
  ]
}

/** «Something happened»: what it says besides only tells it from another one about the same. */
function question(
  subject: EventSubject,
  { id, endToEndId }: { readonly id: string; readonly endToEndId: string | null },
  told: readonly (string | null | undefined)[],
): ReadableEvent {
  const references = { transactionId: null, externalId: dashedId(id), endToEndId }
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
