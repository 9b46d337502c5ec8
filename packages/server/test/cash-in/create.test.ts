import assert from 'node:assert/strict'
import { connect } from 'node:net'
import test from 'node:test'
import { until } from '../support/until.ts'
import { type World, world } from '../support/world.ts'

const URL = '/api/pix/cash-in'

const create = (pix: World, body: unknown) => pix.call('POST', URL, body)
const charge = (transaction: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  transaction: { value: 1, externalId: 'a', ...transaction },
  ...more,
})
const counted = async (pix: World) => (await pix.call('GET', URL)).body.pagination.total

test('[money.1] [money.3] a value is judged by its shape, then by its sign and size', async (t) => {
  const pix = await world(t, { PIXGATE_MAX_VALUE_CENTS: '5000000' })
  const expected: Record<string, [status: number, code: string]> = {
    '"10"': [400, 'validation_error'],
    null: [400, 'validation_error'],
    '[10]': [400, 'validation_error'],
    '1.005': [400, 'validation_error'],
    '1e-7': [400, 'validation_error'],
    '1e999': [400, 'validation_error'],
    NaN: [400, 'malformed_json'],
    '-0': [422, 'value_not_positive'],
    '-0.01': [422, 'value_not_positive'],
    '50000.01': [422, 'value_too_large'],
    '9999999999.99': [422, 'value_too_large'],
    '10000000000': [422, 'value_too_large'],
    '1e308': [422, 'value_too_large'],
    '-1e308': [422, 'value_not_positive'],
  }
  for (const [value, [status, code]] of Object.entries(expected)) {
    const answer = await create(pix, `{"transaction":{"value":${value},"externalId":"a"}}`)
    assert.deepEqual([answer.status, answer.body.code], [status, code], value)
    if (code !== 'malformed_json') assert.equal(answer.body.errors[0].field, 'transaction.value', value)
  }
  assert.equal(await counted(pix), 0, 'a refused externalId stays free')
  const taken = { '0.29': 29, '19.99': 1999, '1e2': 10_000, '19.990': 1999, '50000': 5_000_000, '1.1': 110 }
  for (const [index, [value, valueCents]] of Object.entries(taken).entries()) {
    const answer = await create(pix, `{"transaction":{"value":${value},"externalId":"a${index}"}}`)
    assert.deepEqual([answer.status, answer.body.valueCents], [201, valueCents], value)
  }
})

test('[cash-in.create.1] [text.1] [CI-14] what is missing, unknown or unreadable is named, and nothing is made of it', async (t) => {
  const pix = await world(t)
  const wrong: [unknown, string][] = [
    [{}, 'transaction'],
    [{ transaction: { externalId: 'a' } }, 'transaction.value'],
    [{ transaction: { value: 1 } }, 'transaction.externalId'],
    [charge({ externalId: '' }), 'transaction.externalId'],
    [charge({ externalId: 'a'.repeat(129) }), 'transaction.externalId'],
    [charge({ externalId: 'a ' }), 'transaction.externalId'],
    [charge({ externalId: 'a\u202eb' }), 'transaction.externalId'],
    [charge({ externalId: null }), 'transaction.externalId'],
    [charge({ description: 'x'.repeat(141) }), 'transaction.description'],
    [charge({ description: 'a\u0000b' }), 'transaction.description'],
    [charge({ description: 'a\ud800b' }), 'transaction.description'],
    [charge({ description: 7 }), 'transaction.description'],
    [charge({}, { payer: { fullName: null, document: '52998224725' } }), 'payer.fullName'],
    [charge({}, { payer: { fullName: 'Ma\nria', document: '52998224725' } }), 'payer.fullName'],
    [charge({ generateQrCode: 'true' }), 'transaction.generateQrCode'],
    [charge({ expirationTime: 0 }), 'transaction.expirationTime'],
    [charge({ expirationTime: 1.5 }), 'transaction.expirationTime'],
    [charge({ expirationTime: 2_592_001 }), 'transaction.expirationTime'],
    [charge({ valueCents: 100 }), 'transaction.valueCents'],
    [charge({}, { status: 'PAID' }), 'status'],
    [charge({}, { payer: { fullName: 'Maria' } }), 'payer.document'],
    [charge({}, { payer: { document: '52998224725' } }), 'payer.fullName'],
    [charge({}, { payer: { fullName: 'Maria', document: 52998224725 } }), 'payer.document'],
  ]
  for (const [body, field] of wrong) {
    const answer = await create(pix, body)
    assert.deepEqual([answer.status, answer.body.errors?.[0]?.field], [400, field], JSON.stringify(body))
  }
  assert.equal(await counted(pix), 0)
})

test('[cash-in.create.3] a charge lives from one second to thirty days, a day where nothing is said', async (t) => {
  const pix = await world(t)
  const lifeOf = async (more: Record<string, unknown>) => {
    const { generateTime, expirationDate } = await pix.charge('1.00', more)
    return (Date.parse(expirationDate) - Date.parse(generateTime)) / 1_000
  }
  assert.equal(await lifeOf({}), 86_400)
  assert.equal(await lifeOf({ expirationTime: 1 }), 1)
  assert.equal(await lifeOf({ expirationTime: 2_592_000 }), 2_592_000)
})

test('[http.16] null and empty text are absent, and the same payload', async (t) => {
  const pix = await world(t)
  const { id } = (await create(pix, charge({}))).body
  const nothing = { description: null, expirationTime: null, generateQrCode: null }
  for (const body of [charge(nothing, { payer: null }), charge({ ...nothing, description: '' }, { payer: null })]) {
    const { existing } = (await create(pix, body)).body
    assert.deepEqual(existing, { id, status: 'PENDING', samePayload: true })
  }
  const made = (await create(pix, charge({ ...nothing, externalId: 'b' }, { payer: null }))).body
  const { description, payer, pixCode } = await pix.read(made.id)
  assert.deepEqual([description, payer, pixCode === undefined], [null, null, false])
  assert.equal(Date.parse(made.expirationDate) - Date.parse(made.generateTime), 86_400_000)
})

test('[text.2] a line break in a description becomes a space', async (t) => {
  const pix = await world(t)
  const { id } = await pix.charge('1.00', { description: 'one\ntwo\r\nthree\rfour' })
  assert.equal((await pix.read(id)).description, 'one two three four')
})

test('[external-id.1] an externalId has 1 to 128 printable characters, compared byte for byte, and finds its charge', async (t) => {
  const pix = await world(t)
  const capitals = ['x'.repeat(128), 'X'.repeat(128)]
  for (const externalId of [
    '0',
    'nº 7/2026',
    'ação',
    'ac\u0327a\u0303o',
    '注文',
    '😀'.repeat(128),
    `"'\\%_`,
    ...capitals,
  ]) {
    const { id } = (await create(pix, charge({ externalId }))).body
    assert.equal((await pix.read(id)).externalId, externalId)
    const listed = await pix.get(`${URL}?external_id=${encodeURIComponent(externalId)}`)
    assert.deepEqual(
      listed.data.map((item: { id: string }) => item.id),
      [id],
      externalId,
    )
  }
})

test('[cash-in.create.2] [documents.1] a document is taken with or without its mask and kept as bare text', async (t) => {
  const pix = await world(t)
  const documents = {
    '529.982.247-25': '52998224725',
    '52998224725': '52998224725',
    '11.222.333/0001-81': '11222333000181',
    '12.abc.345/01de-35': '12ABC34501DE35',
    '12ABC34501DE35': '12ABC34501DE35',
  }
  for (const [index, [document, bare]] of Object.entries(documents).entries()) {
    const body = charge({ externalId: `a${index}` }, { payer: { fullName: 'Maria da Silva', document } })
    const { id } = (await create(pix, body)).body
    assert.deepEqual((await pix.read(id)).payer, { fullName: 'Maria da Silva', document: bare })
  }
  const refused = await create(pix, charge({}, { payer: { fullName: 'Maria', document: '529.982.247-26' } }))
  assert.deepEqual([refused.status, refused.body.code], [422, 'invalid_document'])
  assert.equal(refused.body.errors[0].field, 'payer.document')
  assert.doesNotMatch(JSON.stringify(refused.body), /529\.?982/, 'an error repeats no document')
})

test('[http.5] [external-id.2] shape comes before the duplicate, the duplicate before the business rule', async (t) => {
  const pix = await world(t, { PIXGATE_MAX_VALUE_CENTS: '1000' })
  const { id } = (await create(pix, charge({}))).body
  assert.equal((await create(pix, charge({ value: 1.005 }))).status, 400)
  for (const body of [
    charge({ value: 0 }),
    charge({ value: 10.01 }),
    charge({}, { payer: { fullName: 'Maria', document: 'nobody' } }),
  ]) {
    const answer = await create(pix, body)
    assert.deepEqual([answer.status, answer.body.code], [409, 'duplicate_external_id'])
    assert.deepEqual(answer.body.existing, { id, status: 'PENDING', samePayload: false })
    assert.equal(answer.body.errors[0].field, 'transaction.externalId')
  }
})

test('[external-id.2] an externalId is used for ever, and existing has the status of its operation', async (t) => {
  const pix = await world(t)
  const { id } = (await create(pix, charge({ expirationTime: 10 }))).body
  const existing = async () => (await create(pix, charge({ expirationTime: 10 }))).body.existing
  assert.deepEqual(await existing(), { id, status: 'PENDING', samePayload: true })
  pix.clock.advance(10_001)
  assert.equal((await existing()).status, 'EXPIRED')
  assert.equal(await counted(pix), 1)
})

test('[external-id.3] [CI-13] samePayload compares what was understood, not how it was spelt', async (t) => {
  const pix = await world(t)
  const payer = { fullName: 'Maria', document: '529.982.247-25' }
  await create(pix, charge({ value: 100 }, { payer }))
  const isSame = async (body: unknown) => (await create(pix, body)).body.existing.samePayload
  const spelt =
    '{"payer":{"document":"52998224725","fullName":"Maria"},"transaction":{"externalId":"a","value":1.0e2,"generateQrCode":true,"expirationTime":86400}}'
  assert.equal(await isSame(spelt), true)
  for (const other of [
    charge({ value: 100.01 }, { payer }),
    charge({ value: 100, description: 'x' }, { payer }),
    charge({ value: 100, expirationTime: 86_399 }, { payer }),
    charge({ value: 100, generateQrCode: false }, { payer }),
    charge({ value: 100 }, { payer: { ...payer, fullName: 'maria' } }),
    charge({ value: 100 }, { payer: { ...payer, document: '11222333000181' } }),
    charge({ value: 100 }),
  ]) {
    assert.equal(await isSame(other), false, JSON.stringify(other))
  }
})

test('[external-id.2] [CI-12] of parallel identical requests one creates the charge, the others get 409 with its id', async (t) => {
  const pix = await world(t)
  const answers = await Promise.all(Array.from({ length: 20 }, () => create(pix, charge({}))))
  const [made, ...more] = answers.filter(({ status }) => status === 201)
  assert.deepEqual(more, [])
  for (const { status, body } of answers.filter((answer) => answer !== made)) {
    assert.equal(status, 409)
    assert.deepEqual([body.existing.id, body.existing.samePayload], [made?.body.id, true])
  }
  assert.equal((await pix.bank('GET', '/control/book')).body.charges.length, 1)
})

test('[cash-in.create.5] the code is in the answer when the bank answered in time, unless it was not requested', async (t) => {
  const pix = await world(t)
  const wanted = await pix.charge('1.00')
  assert.match(wanted.pixCode, /^000201/)
  assert.equal(wanted.status, 'PENDING')
  assert.ok(wanted.providerTransactionId)
  const unwanted = await pix.charge('1.00', { generateQrCode: false })
  assert.equal('pixCode' in unwanted, false)
  assert.equal((await pix.read(unwanted.id)).pixCode, null)
  assert.ok(unwanted.providerTransactionId, 'the charge is there all the same')
})

test('[cash-in.detail.2] only its own id finds a cash-in', async (t) => {
  const pix = await world(t)
  const { id, providerTransactionId, externalId, correlationId } = await pix.charge('1.00')
  assert.equal((await pix.read(id.toUpperCase())).id, id)
  const others = [
    providerTransactionId,
    externalId,
    correlationId,
    '0198c0de-7a11-7000-8000-5f1d3c2b1a09',
    `${id}x`,
    `{${id}}`,
    id.replaceAll('-', ''),
    '%00',
    "'",
  ]
  for (const other of others) {
    const { status, body } = await pix.call('GET', `${URL}/${encodeURIComponent(other)}`)
    assert.deepEqual([status, body.code], [404, 'not_found'], other)
  }
})

test('[cash-in.create.4] [CI-11] the intent is committed before the bank is asked, and the work goes on without the client', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await pix.bank('PUT', '/control/behavior', { latencyMs: 500 })
  const body = JSON.stringify(charge({}))
  const socket = connect({ port: Number(new globalThis.URL(pix.url).port), host: '127.0.0.1' })
  socket.write(
    `POST ${URL} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${pix.apiKey}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  await until(async () => (await counted(pix)) !== 0)
  assert.equal((await pix.call('GET', URL)).body.data[0].providerTransactionId, null, 'the bank has not answered yet')
  socket.resetAndDestroy()
  let detail = (await pix.call('GET', URL)).body.data[0]
  while (detail.providerTransactionId === null) detail = await pix.read(detail.id)
  assert.match(detail.pixCode, /^000201/)
})
