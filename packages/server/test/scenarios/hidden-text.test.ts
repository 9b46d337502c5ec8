import assert from 'node:assert/strict'
import test from 'node:test'
import { type Endpoint, endpoints } from '@pixgate/spec'
import { capturedLog } from '../support/captured-log.ts'
import { textsIn, withAt } from '../support/example-fields.ts'
import { operatorToken } from '../support/operators.ts'
import { world } from '../support/world.ts'

/** Of C0, DEL, C1, separators of lines, and what turns the direction of the text after it. */
const HIDDEN = [
  '\u0000',
  '\u001b',
  '\u007f',
  '\u0085',
  '\u009b',
  '\u2028',
  '\u2029',
  '\u202a',
  '\u202e',
  '\u2066',
  '\u2069',
]

/** Where a URL writes them out (%E2%80%AE), so that what is kept is plain ASCII. */
const WRITTEN_OUT = ['createWebhook url', 'createOperatorWebhook url']

const hiding = (character: string) => (text: unknown) =>
  `${String(text).slice(0, 2)}${character}${String(text).slice(2)}`

test('[text.1] [external-id.1] [pix-key.2] at every endpoint and for every credential no text of a body hides anything', async (t) => {
  const pix = await world(t)
  const definitions: readonly Endpoint[] = Object.values(endpoints)
  const told: string[] = []
  for (const definition of definitions) {
    const { id, method, path, auth, body, example } = definition
    if (body === undefined || example === undefined || auth === 'partner') continue
    const to = path.replace(/\{\w+\}/g, '0198c0de-7a11-7000-8000-5f1d3c2b1a09')
    const headers = auth === 'admin' ? { authorization: `Bearer ${await operatorToken(pix, definition)}` } : {}
    for (const field of textsIn(example)) {
      const name = `${id} ${field.join('.')}`
      told.push(name)
      for (const character of HIDDEN) {
        if (WRITTEN_OUT.includes(name)) continue
        const answer = await pix.call(method, to, withAt(example, field, hiding(character)), headers)
        const what = `${name} U+${character.charCodeAt(0).toString(16)}: ${answer.status} ${answer.body.code}`
        assert.ok([400, 422].includes(answer.status), what)
        assert.ok(!JSON.stringify(answer.body).includes(character), `${what}: it is not repeated`)
      }
    }
  }
  for (const name of [
    ...['createCashIn transaction.description', 'createCashIn payer.fullName', 'createCashOut recipient.pixKey'],
    ...['createRefundIn reason', 'setCashOutSwitch reason', 'createAdjustment reason', ...WRITTEN_OUT],
  ]) {
    assert.ok(told.includes(name), `${name} was tried: ${told.join()}`)
  }
})

test('[text.1] [webhooks.1] the address of an endpoint is kept in plain ASCII', async (t) => {
  const pix = await world(t)
  for (const [index, character] of HIDDEN.entries()) {
    const url = `http://127.0.0.1:9/${index}/a${character}b?c=${character}`
    const { status, body } = await pix.call('POST', '/webhook', { url, events: ['pix_cash_in'] })
    if (status === 201) assert.match(body.url, /^[!-~]+$/)
    else assert.equal(status, 400)
  }
})

for (const [told, environment] of [
  ['in an event', {}],
  ['in an answer', { PIXGATE_VERIFY_CREDITS_FROM_CENTS: '0' }],
] as const) {
  test(`[text.3] a name with hidden text, reported by the bank ${told}, hides none in our answers, and is stored as the bank sent it`, async (t) => {
    const { logger, lines } = capturedLog('trace')
    const pix = await world(t, environment, { logger })
    const { id } = await pix.charge('10')
    const payerName = 'Maria \u202eavliS ad\u0085'
    const shown = 'Maria \ufffdavliS ad\ufffd'
    await pix.bankAction(`charges/${id}/pay`, { payerName })
    assert.equal((await pix.becomes(id, 'PAID')).payerName, shown)
    await pix.receiver.arrived(1)
    const [notified] = pix.receiver.received
    assert.equal(JSON.parse(String(notified?.body)).event.payer_name, shown)
    assert.ok(lines.length > 0)
    assert.doesNotMatch(JSON.stringify(lines), /[\u0080-\u009f\u202a-\u202e]/)
    const read = { name: 'test.inbox', text: 'SELECT body FROM inbox' }
    const bodies = await pix.database.rows<[], { body: Buffer }>(read, [])
    assert.ok(bodies.some(({ body }) => JSON.parse(String(body)).payer?.name === payerName))
  })
}
