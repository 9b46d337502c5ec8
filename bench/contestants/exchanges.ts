import { createHmac, generateKeyPairSync, sign, timingSafeEqual } from 'node:crypto'
import { createCashOut, eventExamples, receiveCashOutEvent } from '@pixgate/spec'
import fastify from 'fastify'
import { Agent } from 'undici'
import { formats } from '../../packages/server/src/platform/http/request.ts'
import type { BankEvent } from '../exchanges.ts'

/**
 * What no payout can do without, and nothing else: its creation is answered, its order goes to the bank, the bank's event is verified
 * and answered, and a signed notification goes to the merchant. Nothing is decided, stored, limited or written to a log.
 */

const { BANK_URL = '', RECEIVER_URL = '', EVENTS_SECRET = '', PORT } = process.env

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const agent = new Agent({ connections: 64 })

async function post(url: string, path: string, headers: Readonly<Record<string, string>>, body: object | Buffer) {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  const json = { ...headers, 'content-type': 'application/json' }
  const answer = await agent.request({ origin: new URL(url).origin, path, method: 'POST', headers: json, body: bytes })
  await answer.body.dump()
}

const app = fastify({ ajv: { customOptions: { formats } } })

interface Created {
  readonly transaction: { readonly externalId: string }
  readonly recipient: object
}

const { example, schema } = createCashOut.responses[201]
app.post<{ Body: Created }>(
  createCashOut.path,
  { schema: { body: createCashOut.body, response: { 201: schema } } },
  async ({ body: { transaction, recipient } }, reply) => {
    const order = { externalId: transaction.externalId, transaction, recipient }
    setImmediate(() => post(BANK_URL, '/payouts', { authorization: 'Bearer none' }, order))
    return reply.code(201).send({ ...example, externalId: transaction.externalId })
  },
)

// The bytes as they came, which is what is signed.
app.register(async (events) => {
  events.removeAllContentTypeParsers()
  events.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
  events.post<{ Body: Buffer }>(receiveCashOutEvent.path, async ({ body, headers }, reply) => {
    const given = Buffer.from(String(headers['x-partner-signature']), 'hex')
    const right = createHmac('sha256', EVENTS_SECRET).update(body).digest()
    if (!timingSafeEqual(right, given)) return reply.code(401).send()
    setImmediate(notify, JSON.parse(body.toString()) as BankEvent)
    return {}
  })
})

async function notify({ externalId, endToEndId }: BankEvent): Promise<void> {
  const { event_type: type, event } = eventExamples.pix_cash_out
  const told = { ...event, external_id: externalId, end_to_end_id: endToEndId }
  const body = Buffer.from(JSON.stringify({ event_type: type, event: told }))
  const signature = sign('sha256', body, privateKey).toString('base64')
  const headers = { 'digital-signature': signature, 'webhook-id': externalId }
  await post(RECEIVER_URL, '/', headers, body)
}

app.get('/readyz', async () => ({}))
await app.listen({ host: '127.0.0.1', port: Number(PORT) })
