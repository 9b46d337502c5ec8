import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Database } from '../../src/platform/db/database.ts'
import { createLogger, type Logger } from '../../src/platform/log.ts'
import { createSealer } from '../../src/platform/sealing.ts'
import { administer } from '../support/database.ts'
import { attempts, inbox } from '../support/evidence.ts'
import { paidEvent, postEvent, signatureOf } from '../support/partner-events.ts'
import { placeOfKey, signingKeyRows } from '../support/signing-keys.ts'
import { until } from '../support/until.ts'
import { ADMIN_TOKEN, type Answer, ENCRYPTION_KEY, PARTNER_SECRET, PARTNER_TOKEN, world } from '../support/world.ts'

/** Values that no log and no error may repeat, in any spelling. */
const CANARIES = {
  payerName: 'Canário da Terra',
  document: '12ABC34501DE35',
  maskedDocument: '12.ABC.345/01DE-35',
  invalidDocument: '529.982.247-26',
  description: 'um canário na descrição',
  bankPayerName: 'Curió de Souza',
  bankDocument: '52998224725',
  bankMessage: 'a sabiá told the bank',
  receiverPath: 'bem-te-vi-secret',
  apiKey: 'pix_test_tucano',
  adminToken: ADMIN_TOKEN,
  partnerToken: PARTNER_TOKEN,
  partnerSecret: PARTNER_SECRET,
  encryptionKey: ENCRYPTION_KEY,
}

/** The real log at its most talkative, and everything that was written to it. */
function capturingLogger(): { logger: Logger; written: () => string } {
  let text = ''
  const write = (line: string) => {
    text += line
  }
  return { logger: createLogger('trace', { write }), written: () => text }
}

test('[logs.1] [http.2] neither a log nor an error repeats a name, a document, a code or a secret, whatever happens', async (t) => {
  const { logger, written } = capturingLogger()
  const pix = await world(t, {}, { logger })
  const errors: unknown[] = []
  const call: typeof pix.call = async (...request) => {
    const answer = await pix.call(...request)
    if (answer.status >= 400) errors.push(answer.body)
    return answer
  }
  const payer = { fullName: CANARIES.payerName, document: CANARIES.maskedDocument }
  const body = (externalId: string, more: object = {}, value: unknown = 10) => ({
    transaction: { value, externalId, description: CANARIES.description },
    payer: { ...payer, ...more },
  })
  const create = (request: unknown, headers?: Record<string, string>): Promise<Answer> =>
    call('POST', '/api/pix/cash-in', request, headers)

  // A receiver that is not there, at an address that only its owner should know.
  await call('POST', '/webhook', { url: `http://127.0.0.1:9/${CANARIES.receiverPath}`, events: ['pix_cash_in'] })
  const { body: charge } = await create(body('a'))
  await pix.bank('POST', `/control/charges/${charge.id}/pay`, { payerName: CANARIES.bankPayerName })
  await pix.becomes(charge.id, 'PAID')
  await pix.receiver.arrived(1)
  await until(async () => (await attempts(pix.database)).length >= 2)

  const malformed = `{"transaction": {"description": "${CANARIES.description}"`
  for (const request of [
    body('a'),
    body('b', { document: CANARIES.invalidDocument }),
    body('b', {}, 0),
    body('b', {}, CANARIES.payerName),
    { ...body('b'), payer: CANARIES.document },
    malformed,
    JSON.stringify(body('b')).repeat(200),
  ]) {
    assert.ok((await create(request)).status >= 400)
  }
  for (const authorization of [CANARIES.apiKey, `Bearer ${CANARIES.apiKey}`, `Bearer ${ADMIN_TOKEN}`]) {
    assert.equal((await create(body('b'), { authorization })).status, 401)
  }
  assert.equal((await call('GET', `/api/pix/cash-in/${encodeURIComponent(CANARIES.document)}`)).status, 404)
  assert.equal(
    (await call('GET', `/api/pix/cash-in?external_id=${encodeURIComponent(`${CANARIES.payerName}\n`)}`)).status,
    400,
  )
  assert.equal((await call('GET', `/nowhere/${CANARIES.document}?key=${CANARIES.apiKey}`)).status, 404)

  const payerAtBank = { name: CANARIES.bankPayerName, document: CANARIES.bankDocument }
  const event = paidEvent(charge, { payer: payerAtBank, errorMessage: CANARIES.bankMessage })
  assert.equal(await postEvent(pix, { ...event, valueCents: 1 }), 200)
  assert.equal(await postEvent(pix, { ...event, valueCents: CANARIES.bankDocument }), 200)
  assert.equal(await postEvent(pix, { ...event, occurredAt: '2100-01-01T00:00:00Z', endToEndId: 'E2' }), 200)
  assert.equal(await postEvent(pix, `${CANARIES.bankPayerName} is no JSON`), 200)
  assert.equal(await postEvent(pix, `{"${CANARIES.bankPayerName}":1,"${CANARIES.bankPayerName}":2}`), 200)
  assert.equal(await postEvent(pix, { ...event, [CANARIES.bankPayerName]: 1, valueCents: 'x' }), 200)
  assert.equal(await postEvent(pix, event, { timestamp: '0' }), 401)
  assert.equal(await postEvent(pix, event, { secret: 'another' }), 401)
  await until(async () => (await inbox(pix.database)).every(({ state }) => state !== 'NEW'))

  // An unexpected error: the driver's has the whole row in its detail.
  await administer(pix.databaseUrl, `ALTER TABLE operation ADD CONSTRAINT boom CHECK (external_id <> 'boom')`)
  assert.equal((await create(body('boom'))).status, 500)
  while (!written().includes('request failed')) await turn()

  const log = written()
  const secrets = {
    ...CANARIES,
    ...(await signingKeyTexts(pix.database)),
    madeKey: pix.apiKey,
    pixCode: charge.pixCode,
    signature: signatureOf(JSON.stringify(event)),
  }
  for (const [name, secret] of Object.entries(secrets)) {
    for (const spelling of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
      assert.ok(!log.includes(spelling), `${name} is in the log: ${lineWith(log, spelling)}`)
      assert.ok(!JSON.stringify(errors).includes(spelling), `${name} is in an error`)
    }
  }
  // The test sees what there is to see.
  for (const expected of ['request failed', 'boom', 'quarantine', 'time window', '/api/pix/cash-in/{id}']) {
    assert.ok(log.includes(expected), `${expected} is not in the log`)
  }
  assert.ok(errors.length > 12)
})

/** The private half of a signing key as it could be written: a line of its PEM, and its number alone. */
async function signingKeyTexts(database: Database) {
  const [row] = await signingKeyRows(database)
  const sealer = createSealer({ current: ENCRYPTION_KEY, previous: undefined })
  const { plain } = sealer.open(row?.privateKey ?? assert.fail(), placeOfKey(row?.id ?? ''))
  const key = createPrivateKey({ key: plain, format: 'der', type: 'pkcs8' })
  const { d = '' } = key.export({ format: 'jwk' })
  const [, pemLine = ''] = key.export({ format: 'pem', type: 'pkcs8' }).toString().split('\n')
  assert.ok(d.length > 40 && pemLine.length === 64)
  return { pemLine, number: d, numberInHex: Buffer.from(d, 'base64url').toString('hex') }
}

function lineWith(log: string, text: string): string | undefined {
  return log.split('\n').find((line) => line.includes(text))
}
