import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { limits } from '@pixgate/spec'
import fc from 'fast-check'
import { CALLBACK_PATH, SECRET_PARAMETER } from '../../src/banks/api-pix/inbound.ts'
import { everythingMoved } from '../support/books.ts'
import { cases, inbox } from '../support/evidence.ts'
import { signatureOf } from '../support/partner-events.ts'
import { callbackAddress } from '../support/standard-bank.ts'
import { type World, world } from '../support/world.ts'

/**
 * Whatever is posted where banks call, by whoever: it is answered as the rules say, moves nothing, and no more of it is kept than it
 * names.
 */

interface Post {
  readonly path: 0 | 1
  /** Shows what the bank would: its secret in the address, or its signature. */
  readonly isProven: boolean
  readonly body: Buffer
}

interface Named {
  readonly charge: string
  readonly paid: string
  readonly payout?: string
}

interface Caller {
  readonly standard?: 'api-pix' | 'efi'
  post(pix: World, post: Post): Promise<Response>
  /** What is written in the shape of its callbacks. @param named `undefined`: nothing of ours */
  shaped(named: Named | undefined): fc.Arbitrary<unknown>
  /** Whether what shows the bank's proof is believed: then it may not name what is ours, and what is no event is kept for a person. */
  readonly isBelieved: boolean
}

const UNKNOWN = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'
const END_TO_END_ID = 'E12345678202611221210abcdefghijk'
const HEADERS = { 'content-type': 'application/json' }

/** Texts that mean something to somebody. */
const oddText = fc.oneof(
  fc.constantFrom(
    '',
    '__proto__',
    'constructor',
    "'; DROP TABLE operation; --",
    '\u202e',
    '\ud800',
    '\0',
    'a'.repeat(200),
  ),
  fc.string({ maxLength: 40 }),
)

const oddValue = fc.oneof(oddText, fc.jsonValue({ maxDepth: 3 }))

const mostly = (fitting: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 6, arbitrary: fitting }, { weight: 1, arbitrary: oddValue })

const amount = fc.constantFrom('0.01', '100.00', '1000000.00', '-1.00', '1e9', '100', '0.001')
const status = fc.constantFrom('REALIZADO', 'NAO_REALIZADO', 'DEVOLVIDO', 'EM_PROCESSAMENTO', 'CONFIRMED', 'FAILED')

function standardCallback(named: Named | undefined): fc.Arbitrary<unknown> {
  const ours = named ? [named.charge, named.paid, named.payout ?? UNKNOWN] : []
  const id = fc.constantFrom(UNKNOWN.replaceAll('-', ''), ...ours)
  const fields = {
    endToEndId: mostly(fc.constantFrom(END_TO_END_ID, END_TO_END_ID.toUpperCase())),
    valor: mostly(amount),
    horario: mostly(fc.constant('2026-11-22T12:10:00.000Z')),
    status: mostly(status),
  }
  const returned = fc.record({ ...fields, id: mostly(id), rtrId: oddText, natureza: oddText }, { requiredKeys: [] })
  const item = fc.record(
    {
      ...fields,
      txid: mostly(id),
      chave: oddText,
      devolucoes: mostly(fc.array(returned, { maxLength: 4 })),
      gnExtras: mostly(fc.record({ idEnvio: mostly(id), erro: oddValue }, { requiredKeys: [] })),
    },
    { requiredKeys: [] },
  )
  const items = fc.oneof(
    fc.array(item, { maxLength: 8 }),
    item.map((one) => Array.from({ length: 60 }, () => one)),
  )
  return fc.record({ pix: mostly(items) })
}

function ownEvent(named: Named | undefined): fc.Arbitrary<unknown> {
  const id = fc.constantFrom(UNKNOWN, ...(named ? [named.charge, named.paid, named.payout ?? UNKNOWN] : []))
  return fc.record(
    {
      event: mostly(fc.constantFrom('CashIn', 'CashOut', 'CashInReversal', 'CashOutReversal')),
      eventId: oddValue,
      transactionId: mostly(id),
      externalId: mostly(id),
      status: mostly(status),
      endToEndId: mostly(fc.constant(END_TO_END_ID)),
      valueCents: mostly(fc.constantFrom(0, 1, -1, 10_000, 2 ** 53, 0.5)),
      occurredAt: oddValue,
      payer: oddValue,
    },
    { requiredKeys: [] },
  )
}

async function postToStandard(pix: World, { path, isProven, body }: Post): Promise<Response> {
  const wrong = `${pix.url}${CALLBACK_PATH}?${SECRET_PARAMETER}=wrong`
  const right = callbackAddress(pix.url)
  const address = isProven ? right : wrong
  return fetch(path === 0 ? address : address.replace(`${CALLBACK_PATH}/pix`, CALLBACK_PATH), {
    ...{ method: 'POST', headers: HEADERS, body },
  })
}

async function postOurOwn({ url, clock }: World, { path, isProven, body }: Post): Promise<Response> {
  const signature = isProven ? signatureOf(body) : signatureOf(body, 'a secret of nobody')
  return fetch(`${url}/api/webhooks/pix/${path === 0 ? 'cash-in' : 'cash-out'}`, {
    method: 'POST',
    headers: { ...HEADERS, 'x-partner-signature': signature, 'x-partner-timestamp': String(clock.now()) },
    body,
  })
}

const callers: Readonly<Record<string, Caller>> = {
  pixgate: { post: postOurOwn, shaped: ownEvent, isBelieved: true },
  'api-pix': { standard: 'api-pix', post: postToStandard, shaped: standardCallback, isBelieved: false },
  efi: { standard: 'efi', post: postToStandard, shaped: standardCallback, isBelieved: false },
}

/** Bytes of any kind: in the shape of a callback, cut, deep, too long, or nothing that anybody would send. */
function bodyOf(shaped: fc.Arbitrary<unknown>): fc.Arbitrary<Buffer> {
  const whole = shaped.map((value) => Buffer.from(JSON.stringify(value)))
  const cut = fc.tuple(whole, fc.nat()).map(([bytes, at]) => bytes.subarray(0, at % (bytes.length + 1)))
  const deep = fc.constantFrom(17, 1_000, 30_000).map((depth) => Buffer.from('['.repeat(depth) + ']'.repeat(depth)))
  const inDeep = fc
    .constantFrom(20, 5_000)
    .map((depth) => Buffer.from(`{"pix":${'['.repeat(depth)}${']'.repeat(depth)}}`))
  const long = fc.constantFrom(0, 1, 1_000_000).map((more) => Buffer.alloc(limits.bodyMaxBytes + more, '1'))
  const bytes = fc.uint8Array({ maxLength: 300 }).map((some) => Buffer.from(some))
  const marked = whole.map((some) => Buffer.concat([Buffer.from('\ufeff'), some]))
  const any = fc.json().map((text) => Buffer.from(text))
  return fc.oneof({ weight: 8, arbitrary: whole }, cut, deep, inDeep, long, bytes, marked, any)
}

function postsAt({ isBelieved, shaped }: Caller, named: Named): fc.Arbitrary<readonly Post[]> {
  const path = fc.constantFrom(0 as const, 1 as const)
  const strangers = fc.record({ path, isProven: fc.constant(false), body: bodyOf(shaped(named)) })
  const shown = fc.record({ path, isProven: fc.constant(true), body: bodyOf(shaped(isBelieved ? undefined : named)) })
  return fc.array(fc.oneof({ weight: 1, arbitrary: strangers }, { weight: 3, arbitrary: shown }), {
    minLength: 1,
    maxLength: 8,
  })
}

/** A busy machine's database may take longer than a call is kept waiting: 503, which the bank answers by calling again. */
const CALLS_MAX = 20

async function answerTo(pix: World, caller: Caller, post: Post): Promise<number> {
  for (let calls = 1; ; calls += 1) {
    const answer = await caller.post(pix, post)
    await answer.arrayBuffer()
    if (answer.status !== 503 || calls === CALLS_MAX) return answer.status
  }
}

/** Posts everything. @returns how many were let in */
async function postAll(pix: World, caller: Caller, posts: readonly Post[]): Promise<number> {
  let accepted = 0
  for (const post of posts) {
    const status = await answerTo(pix, caller, post)
    const expected = post.body.length > limits.bodyMaxBytes ? 413 : post.isProven ? 200 : 401
    assert.equal(status, expected, `${post.body.subarray(0, 300)}`)
    if (status === 200) accepted += 1
  }
  return accepted
}

/** A charge, a payment and, where the bank pays out, a payout; all that was under way is over. */
async function begun(t: TestContext, { standard }: Caller): Promise<{ pix: World; named: Named }> {
  const pix = await world(t, {}, { isStepped: true, ...(standard && { standard }) })
  const [charge, paid] = [await pix.charge('100'), await pix.charge('100')]
  await pix.bankAction(`charges/${paid.id}/pay`)
  await pix.until(`/api/pix/cash-in/${paid.id}`, ({ status }) => status === 'PAID')
  const payout = standard === 'api-pix' ? undefined : (await pix.cashOut()).id
  if (payout) await pix.until(`/api/pix/cash-out/${payout}`, ({ status }) => status === 'CONFIRMED')
  await pix.later(60_001)
  // As the bank names them.
  const named = {
    charge: await pix.orderIdOf(charge.id),
    paid: await pix.orderIdOf(paid.id),
    ...(payout && { payout: await pix.orderIdOf(payout) }),
  }
  return { pix, named }
}

for (const [name, caller] of Object.entries(callers)) {
  test(`[partner-inbox.1] [partner-inbox.4] [partner-inbox.15] [api-pix.11] at ${name}: any body is answered by rule, moves nothing, and is stored once at most`, async (t) => {
    const { pix, named } = await begun(t, caller)
    const [before, casesBefore] = [await everythingMoved(pix), await cases(pix.database)]
    const kept = async () => (await inbox(pix.database)).length
    await fc.assert(
      fc.asyncProperty(postsAt(caller, named), async (posts) => {
        const keptBefore = await kept()
        const accepted = await postAll(pix, caller, posts)
        const keptOnce = await kept()
        if (caller.isBelieved) assert.ok(keptOnce - keptBefore <= accepted, 'a call is an event at most')
        else {
          await postAll(pix, caller, posts)
          assert.equal(await kept(), keptOnce, 'the same again is kept once')
        }
        await pix.later(1_000)
        assert.deepEqual(await everythingMoved(pix), before)
      }),
      { numRuns: RUNS },
    )
    for (const waitMs of [60_001, 300_001, 900_001]) await pix.later(waitMs)
    assert.deepEqual(await everythingMoved(pix), before, 'nor later')
    if (!caller.isBelieved) assert.deepEqual(await cases(pix.database), casesBefore)
    await pix.assertBooksAgree()
  })
}

const RUNS = 25
