import assert from 'node:assert/strict'
import test from 'node:test'
import { withSnapshot } from '../../src/platform/db/snapshot.ts'
import { exportOf, readIdentifier, type SubjectExport } from '../../src/subject/index.ts'
import { administer } from '../support/database.ts'
import { callbacks } from '../support/evidence.ts'
import { columnsWith } from '../support/kept-text.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { ADMIN_TOKEN, type World, world } from '../support/world.ts'

const NAME = 'Canário da Terra'
const DOCUMENT = '11144477735'
const PERSON = { name: NAME, document: DOCUMENT }
const OTHER = { name: 'Bruno Outro', document: '39053344705' }

function exported(pix: Pick<World, 'databaseUrl'>, identifier: string): Promise<SubjectExport> {
  const subject = readIdentifier(identifier)
  assert.ok(subject)
  return withSnapshot({ url: pix.databaseUrl, name: 'test' }, (queries) => exportOf(queries, subject))
}

/** Where an export shows what stands in a column. A column that is not here is a place that nobody thought of. */
const SHOWN: Readonly<Record<string, (found: SubjectExport) => unknown>> = {
  'operation.detail': ({ operations }) => pluck(operations, 'detail'),
  'operation.facts': ({ operations }) => pluck(operations, 'facts'),
  'operation.external_id': ({ operations }) => pluck(operations, 'external_id'),
  'move.facts': ({ operations }) => pluck(pluck(operations, 'moves').flat(), 'facts'),
  'move.evidence': ({ operations }) => pluck(pluck(operations, 'moves').flat(), 'evidence'),
  'case.facts': ({ operations, cases }) => [pluck(pluck(operations, 'cases').flat(), 'facts'), cases],
  'notification.body': ({ operations }) => pluck(pluck(operations, 'notifications').flat(), 'body'),
  'inbox.body': ({ callbacks }) => pluck(callbacks, 'body'),
  'case_step.content': ({ caseSteps }) => pluck(caseSteps, 'content'),
  'audit.facts': ({ audit }) => audit,
}

// biome-ignore lint/suspicious/noExplicitAny: rows of any shape.
function pluck(rows: readonly any[], field: string): any[] {
  return rows.map((row) => row[field])
}

/** A person in every place that traffic can put one, and another beside. */
async function traffic(pix: World): Promise<void> {
  const occurredAt = new Date(pix.clock.now()).toISOString()
  let payments = 0
  const charge = async (externalId: string, asked: typeof PERSON, paying: object) => {
    payments += 1
    const { body } = await pix.call('POST', '/api/pix/cash-in', {
      transaction: { value: 100, externalId, description: `De ${asked.name}` },
      payer: { fullName: asked.name, document: asked.document },
    })
    const endToEndId = `E9999901020261121131500aB3dE5fG${payments}`
    assert.equal(await postEvent(pix, paidEvent(body, { payer: paying, occurredAt, endToEndId })), 200)
    await pix.until(`/api/pix/cash-in/${body.id}`, ({ status }) => status === 'PAID')
    return body.id
  }
  const own = await charge(`order of ${DOCUMENT}`, PERSON, PERSON)
  await charge('paid by another', PERSON, OTHER)
  await charge('asked of another', OTHER, PERSON)
  await charge('masked', PERSON, { name: NAME, document: '***.444.777-**' })
  await charge('of another', OTHER, OTHER)

  await pix.behave({ cashOut: 'manual', refundIn: 'manual' })
  const payout = async (externalId: string, { name, document }: typeof PERSON) => {
    const more = { description: `Para ${name}`, externalId }
    const { id } = await pix.cashOut(more, { pixKey: document, pixKeyType: 'cpf', name, document })
    await pix.work()
    return id
  }
  const answers = [await payout('payout', PERSON), await payout('payout of another', OTHER)]
  const [ownPayout, othersPayout] = answers
  await pix.refundIn(own, 1, { reason: `A ${NAME}, CPF 111.444.777-35` })
  await pix.bankAction(`payouts/${ownPayout}/confirm`)
  await pix.bankAction(`payouts/${othersPayout}/fail`)
  await pix.until(`/api/pix/cash-out/${ownPayout}`, ({ status }) => status === 'CONFIRMED')
  const failure = {
    event: 'CashOut',
    eventId: 'f',
    transactionId: 't',
    externalId: ownPayout,
    status: 'FAILED',
    occurredAt,
  }
  const told = { ...failure, errorCode: 'AC07', errorMessage: `the account of ${DOCUMENT} is closed` }
  assert.equal(await postEvent(pix, told, { endpoint: 'cash-out' }), 200)

  const nobody = { id: DOCUMENT, valueCents: 1_000, providerTransactionId: 'nobody' }
  assert.equal(await postEvent(pix, paidEvent(nobody, { payer: PERSON, occurredAt, endToEndId: 'E1' })), 200)
  const alsoNobody = { id: 'another', valueCents: 1_000, providerTransactionId: 'another' }
  assert.equal(await postEvent(pix, paidEvent(alsoNobody, { payer: OTHER, occurredAt, endToEndId: 'E2' })), 200)
  assert.equal(await postEvent(pix, `CPF ${DOCUMENT} of ${OTHER.name} is no JSON`), 200)
  for (let waits = 0; waits < 8; waits += 1) await pix.later(1_000_000)
  const adjusted = await pix.call(
    'POST',
    '/operator/adjustments',
    { valueCents: 100, reason: `asked for by ${NAME}, CPF ${DOCUMENT}` },
    { authorization: `Bearer ${ADMIN_TOKEN}` },
  )
  assert.equal(adjusted.status, 201)
  await dismissed(pix)
}

/** An operator decides a case, and writes of both people why. */
async function dismissed(pix: World): Promise<void> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const path = '/operator/cases'
  const [first] = (await pix.call('GET', `${path}?kind=event_set_aside&min_cents=1`, undefined, headers)).body.data
  const { version } = (await pix.call('GET', `${path}/${first.id}`, undefined, headers)).body
  const reason = `${NAME}, CPF 111.444.777-35, has it back`
  const order = { decision: 'close', version, reason, evidence: { note: `said by ${OTHER.name}` } }
  const { status, body } = await pix.call('POST', `${path}/${first.id}/decisions`, order, headers)
  assert.equal(status, 200, JSON.stringify(body))
}

test('[privacy.7] an export has everything that traffic left of a person, whatever column it is in', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await traffic(pix)
  const found = await exported(pix, '111.444.777-35')
  const columns = await columnsWith(pix.databaseUrl, NAME, DOCUMENT, '111.444.777-35')
  // Keys by which events are known again stand in their callbacks, too.
  const places = columns.filter((column) => column !== 'inbox_event.dedupe_key')
  for (const place of places) {
    const text = JSON.stringify(SHOWN[place]?.(found))
    assert.ok(text?.includes(NAME) || text?.includes(DOCUMENT), `${place} is not in the export`)
  }
  for (const expected of [
    'operation.detail',
    'move.facts',
    'case.facts',
    'notification.body',
    'inbox.body',
    'case_step.content',
    'audit.facts',
  ]) {
    assert.ok(places.includes(expected), `the traffic left nothing in ${expected}`)
  }
  const ids = new Set(pluck(found.callbacks, 'id'))
  const bodies = (await callbacks(pix.database)).filter(({ body }) => body.includes(DOCUMENT) || body.includes(NAME))
  assert.ok(bodies.length > 5)
  assert.deepEqual(
    bodies.filter(({ id }) => !ids.has(id)),
    [],
  )
})

test('[privacy.8] nothing of another person is in it, not even where both are of one operation', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await traffic(pix)
  const found = await exported(pix, DOCUMENT)
  const text = JSON.stringify(found)
  for (const canary of ['Bruno', OTHER.document, '390.533']) assert.ok(!text.includes(canary), around(text, canary))
  const byReference = Map.groupBy(found.operations as { external_id: string }[], ({ external_id }) => external_id)
  assert.deepEqual(
    [...byReference.keys()].filter((reference) => /of another|by another/.test(reference)),
    ['paid by another', 'asked of another'],
  )
  const paid = JSON.stringify(byReference.get('asked of another'))
  assert.ok(paid.includes(`"payerName":"${NAME}"`) && paid.includes('withheld'))
  assert.ok(JSON.stringify(byReference.get('masked')).includes(`"payerName":"${NAME}"`))
})

function around(text: string, canary: string): string {
  const at = text.indexOf(canary)
  return text.slice(Math.max(0, at - 300), at + 100)
}

test('[privacy.7] a person is found by a Pix key too, as a whole only', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await pix.balance(20_000)
  const pay = (externalId: string, pixKey: string, pixKeyType: string) =>
    pix.cashOut({ externalId, description: `for ${pixKey}` }, { pixKey, pixKeyType, name: NAME })
  const evp = '0198c0de-7a11-4000-8000-000000000001'
  await pay('mail', 'ana@example.com', 'email')
  await pay('longer', 'ana@example.com.br', 'email')
  await pay('before', 'joana@example.com', 'email')
  await pay('phone', '+5511987654321', 'phone')
  await pay('evp', evp, 'evp')
  const found = async (key: string) =>
    ((await exported(pix, key)).operations as { external_id: string }[]).map(({ external_id }) => external_id)
  assert.deepEqual(await found('Ana@Example.com'), ['mail'])
  assert.deepEqual(await found('+5511987654321'), ['phone'])
  assert.deepEqual(await found(evp.toUpperCase()), ['evp'])
  assert.deepEqual(await found('nobody@example.com'), [])
  const [mail] = (await exported(pix, 'ana@example.com')).operations
  assert.ok(JSON.stringify(mail).includes(NAME))
})

test('[privacy.7] what is neither document nor key is nobody, and a number within another is not one', () => {
  for (const text of ['', 'João da Silva', '11144477734', '11987654321', '1', 'ana@']) {
    assert.equal(readIdentifier(text), undefined, text)
  }
  const cpf = new RegExp(readIdentifier(DOCUMENT)?.pattern ?? '', 'i')
  for (const text of ['CPF 111.444.777-35.', `{"a":"${DOCUMENT}"}`, `x ${DOCUMENT}`]) assert.match(text, cpf)
  for (const text of [`1${DOCUMENT}`, `${DOCUMENT}0`, `E${DOCUMENT}`]) assert.doesNotMatch(text, cpf)
  const cnpj = new RegExp(readIdentifier('12ABC34501DE35')?.pattern ?? '', 'i')
  for (const text of ['12.ABC.345/01DE-35', '12.abc.345\\/01de-35', '12ABC34501DE35']) assert.match(text, cnpj)
})

test('[privacy.7] an export cannot write, and whoever does is not held up by it', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await traffic(pix)
  const subject = readIdentifier(DOCUMENT)
  assert.ok(subject)
  await withSnapshot({ url: pix.databaseUrl, name: 'test' }, async (queries) => {
    await exportOf(queries, subject)
    await administer(pix.databaseUrl, `SET lock_timeout = 1; UPDATE operation SET updated_at = now()`)
    await assert.rejects(queries.rows({ name: 'test.write', text: 'DELETE FROM delivery' }, []), /read-only/)
  })
})
