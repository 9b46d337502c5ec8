import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { assertBooks, balances } from './books.ts'
import { administer, openTestDatabase } from './database.ts'
import { backupOf, openCaseFacts } from './restored-database.ts'
import { wallNow } from './wall-clock.ts'
import { ADMIN_TOKEN, type Answer, type World, world } from './world.ts'

/** A client that asks again for what a restored database has forgotten, at each bank and of each kind of order. */

/** How the bank is connected. */
export type Connector = 'pixgate' | 'api-pix' | 'efi'

/** What is ordered. */
export type Kind = 'cash_in' | 'cash_out' | 'refund_in'

/** A story. */
export interface Story {
  readonly connector: Connector
  readonly kind: Kind
  /** Whether the service notices that its database was restored. */
  readonly isNoticed: boolean
  /** What the client asks for otherwise the second time; absent: nothing. Only a payout to a key has a recipient. */
  readonly other?: 'amount' | 'recipient'
}

/** Kinds of orders that a bank takes. */
export function kindsAt(connector: Connector): readonly Kind[] {
  return connector === 'api-pix' ? ['cash_in', 'refund_in'] : ['cash_in', 'cash_out', 'refund_in']
}

const SWITCH = '/operator/cash-out-switch'
const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` }

/** What is ordered, in reais, and who is paid. */
interface Terms {
  readonly value: number
  readonly pixKey: string
}

const SAME: Terms = { value: 30, pixKey: 'joao@example.com' }
const OTHER = { amount: { ...SAME, value: 31 }, recipient: { ...SAME, pixKey: 'maria@example.com' } } as const
const PATHS: Readonly<Record<Kind, string>> = {
  cash_in: '/api/pix/cash-in',
  cash_out: '/api/pix/cash-out',
  refund_in: '/api/pix/refund',
}
const DONE: Readonly<Record<Kind, string>> = { cash_in: 'PAID', cash_out: 'CONFIRMED', refund_in: 'CONFIRMED' }
const AT_BANK = { cash_in: 'charges', cash_out: 'payouts', refund_in: 'refunds' } as const

/** What a story comes to. */
export interface Restored {
  readonly pix: World
  /** The world before, whose bank it is. */
  readonly before: World
  /** Orders again, as the client does. */
  order(terms?: Terms): Promise<Answer>
  /** The order once it rests. */
  settled(id: string): Promise<Answer['body']>
  /** How many orders of the kind the bank has, besides what the story began with. */
  made(): Promise<number>
  /** The cases that are open. */
  openCases(): Promise<readonly { readonly kind: string }[]>
  /** Enables payouts again, as an operator does. */
  enable(): Promise<void>
  /** Our books against all invariants, and against the bank's balance. */
  assertBooksAgree(): Promise<void>
}

/** The first order is carried out at the bank, and then forgotten. */
export async function forgotten(t: TestContext, { connector, kind, isNoticed }: Story): Promise<Restored> {
  const standard = connector === 'pixgate' ? {} : { standard: connector }
  const before = await world(t, {}, { isStepped: true, ...standard })
  const paid = await before.charge('200')
  await before.bankAction(`charges/${paid.id}/pay`)
  await rests(before, `/api/pix/cash-in/${paid.id}`, ({ status }) => status === 'PAID')
  const backup = await backupOf(t, before.databaseUrl)
  // That tells nobody which database it is.
  if (!isNoticed)
    await administer(backup, 'UPDATE database_identity SET cluster = NULL, tables = NULL, timeline = NULL')
  const order = (pix: World, terms = SAME) => orderOf(pix, kind, paid.id, terms)
  const atFirst = await before.bank('GET', '/control/book')
  const first = await order(before)
  assert.equal(first.status, 201, JSON.stringify(first.body))
  if (kind === 'cash_in') await before.bankAction(`charges/${first.body.id}/pay`)
  await rests(before, `${PATHS[kind]}/${first.body.id}`, ({ status }) => status === DONE[kind])
  // The bank's time is that of the world before.
  before.clock.advance(Math.max(0, wallNow() - before.clock.now()))

  const apiPixUrl = before.apiPixUrl ?? ''
  const reached = connector === 'pixgate' ? { bankUrl: before.bankUrl } : { ...standard, reachBank: () => apiPixUrl }
  const pix = await world(t, {}, { isStepped: true, ...reached, reach: async () => backup })
  if (isNoticed) await enable(pix)
  const database = openTestDatabase(backup)
  t.after(() => database.close())
  return {
    pix,
    before,
    order: (terms) => order(pix, terms),
    settled: async (id) => {
      // What the bank repeats may be its first answer, «accepted»: the outcome is queried seconds later.
      for (let seconds = 0; seconds < 60; seconds += 1) {
        const now = await pix.get(`${PATHS[kind]}/${id}`)
        if (!['PENDING', 'RESERVED', 'DISPATCHED'].includes(now.status)) return now
        await pix.later(1_000)
      }
      return assert.fail(`${kind} ${id} does not rest`)
    },
    made: async () => {
      const { body } = await before.bank('GET', '/control/book')
      return body[AT_BANK[kind]].length - atFirst.body[AT_BANK[kind]].length
    },
    openCases: () => openCaseFacts(database),
    enable: () => enable(pix),
    assertBooksAgree: async () => {
      await assertBooks(database)
      const { settlement = 0n } = await balances(database)
      assert.equal(BigInt((await before.bank('GET', '/balance')).body.availableCents), -settlement)
    },
  }
}

const LOOKS_MAX = 2_000

/** Looks until it holds. Time goes on with each look: a bank that has not told the end yet is asked again after a while. */
async function rests(pix: World, path: string, holds: (body: Answer['body']) => boolean): Promise<Answer['body']> {
  let body = await pix.get(path)
  for (let looks = 0; !holds(body); looks += 1) {
    assert.ok(looks < LOOKS_MAX, `${path} stays ${body.status}`)
    await pix.later(100)
    body = await pix.get(path)
  }
  return body
}

function orderOf(pix: World, kind: Kind, cashInId: string, { value, pixKey }: Terms): Promise<Answer> {
  const externalId = 'again'
  switch (kind) {
    case 'cash_in':
      return pix.call('POST', PATHS.cash_in, { transaction: { value, externalId } })
    case 'cash_out':
      return pix.call('POST', PATHS.cash_out, {
        transaction: { value, externalId },
        recipient: { pixKey, pixKeyType: 'email' },
      })
    case 'refund_in':
      return pix.call('POST', `/api/pix/refund-in/${cashInId}`, { refundValue: value, externalId })
  }
}

/** Lets payouts and refunds go on. */
export async function enable(pix: World): Promise<void> {
  const { version } = (await pix.call('GET', SWITCH, undefined, ADMIN)).body
  const order = { enabled: true, reason: 'the statement was read', version }
  assert.equal((await pix.call('PUT', SWITCH, order, ADMIN)).status, 200)
}

/** Tells the story: what was ordered once is carried out once, or nothing is sent and a case says why. */
export async function tellRestored(t: TestContext, story: Story): Promise<void> {
  const { pix, order, settled, made, openCases, assertBooksAgree } = await forgotten(t, story)
  const { status, body } = await order(story.other && OTHER[story.other])
  if (!story.other) {
    assert.equal(status, 201, JSON.stringify(body))
    assert.equal((await settled(body.id)).status, DONE[story.kind])
    assert.equal(await made(), 1, 'the bank was not told a second time')
    await assertBooksAgree()
    return
  }
  for (let step = 0; step < 5; step += 1) await pix.later(1_000)
  const after = await pix.get(`${PATHS[story.kind]}/${body.id ?? body.existing.id}`)
  assert.equal(await made(), 1, 'the bank was not told a second time')
  // A refund in doubt is shown as one that is under way.
  assert.equal(after.status, story.kind === 'refund_in' ? 'PENDING' : 'RECONCILIATION_REQUIRED')
  assert.ok((await openCases()).length > 0, 'an operator is told')
}
