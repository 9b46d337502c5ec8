import assert from 'node:assert/strict'
import test from 'node:test'
import { verify } from '../../src/ledger/verify/store.ts'
import { charge as bankCharge } from '../cash-in/fixture.ts'
import { administer } from '../support/database.ts'
import { payment } from '../support/engine.ts'
import { audit, cases, cashIns, payoutSwitch, statementMark, unverifiedTotal } from '../support/evidence.ts'
import { as, serverLogin, sessionOf } from '../support/logins.ts'
import { pageOf, paymentOf, type StatementFixture, statementFixture } from './fixture.ts'

/** What whoever has the login of a server, and the secret of the bank's events, does to keep the trip wire from suspending. */

const SECOND = 1_000

/** A bank that can be asked, and has nothing of what events tell. */
function denyingBank(fixture: StatementFixture) {
  fixture.bank.charge = (id) => ({ kind: 'ACCEPTED', charge: bankCharge('ACTIVE', { id }) })
}

/** A credit that an event made up. */
async function forge(fixture: StatementFixture, endToEndId: string) {
  const { id } = await fixture.charge()
  const told = payment({ endToEndId, occurredAt: fixture.clock.now() })
  await fixture.apply(id, {
    on: 'partner.confirmed',
    payment: told,
    transactionId: 'tx',
    unverified: { maxCents: 1_000_000n },
  })
}

async function later({ clock, statements }: StatementFixture, seconds: number) {
  clock.advance(seconds * SECOND)
  await statements.askAboutCredits()
}

async function isSuspended({ database }: StatementFixture): Promise<boolean> {
  return (await payoutSwitch(database)).isSuspended
}

const OPEN_CASE = (kind: string) =>
  `INSERT INTO "case" (id, kind, reference, opened_at, facts) VALUES (gen_random_uuid(), '${kind}', 'in E1', now(), '{}')`

for (const kind of ['credit_denied', 'statement_missing']) {
  test(`[trip-wire.5] a case «${kind}» that somebody opened beforehand keeps no question from suspending`, async (t) => {
    const fixture = await statementFixture(t, undefined, { canAsk: true, stands: true })
    denyingBank(fixture)
    await administer(as(fixture.url, await serverLogin(t)), OPEN_CASE(kind))
    await forge(fixture, 'E1')
    await later(fixture, 10)
    await later(fixture, 30)
    assert.equal(await isSuspended(fixture), true)
  })

  test(`[trip-wire.5] a case «${kind}» that somebody opened beforehand keeps no statement from suspending`, async (t) => {
    const fixture = await statementFixture(t, undefined, { stands: true })
    await fixture.minutes(1)
    await administer(as(fixture.url, await serverLogin(t)), OPEN_CASE(kind))
    await forge(fixture, 'E1')
    await fixture.minutes(7)
    assert.equal(await isSuspended(fixture), true)
  })
}

test('[trip-wire.5] a case that somebody holds in an open transaction does not keep payouts from being suspended', async (t) => {
  const fixture = await statementFixture(t, undefined, { canAsk: true, stands: true })
  denyingBank(fixture)
  const thief = await sessionOf(t, as(fixture.url, await serverLogin(t)))
  await thief.query(`BEGIN; ${OPEN_CASE('credit_denied')}`)
  await forge(fixture, 'E1')
  await later(fixture, 10)
  fixture.clock.advance(30 * SECOND)
  const asking = fixture.statements.askAboutCredits().catch(() => undefined)
  while (!(await isSuspended(fixture))) await fixture.read(fixture.ids.uuid())
  assert.deepEqual(await cases(fixture.database), [], 'it waits for the case still')
  await thief.query('ROLLBACK')
  await asking
  await later(fixture, 30)
  assert.deepEqual(await cases(fixture.database), ['credit_denied'])
  assert.equal((await audit(fixture.database)).filter(({ actor }) => actor === 'trip-wire').length, 1)
})

test('[trip-wire.5] a row of the trail that says the wire had suspended is refused where it has not', async (t) => {
  const fixture = await statementFixture(t)
  const row = `INSERT INTO audit (id, at, actor, action, subject, address, facts)
    VALUES (gen_random_uuid(), now(), 'trip-wire', 'cash_out_switch.set', 'cash_out_switch', '', '{"cases": ["credit_denied in E1"]}')`
  await assert.rejects(administer(as(fixture.url, await serverLogin(t)), row), /the trip wire has suspended nothing/)
})

test('[cash-in.credits.3] [ledger.verify.1] a sum of unverified credits that somebody set to nothing is told, and right after the next reading', async (t) => {
  const fixture = await statementFixture(t, undefined, { stands: true })
  await fixture.minutes(1)
  await forge(fixture, 'E1')
  await forge(fixture, 'E2')
  await administer(as(fixture.url, await serverLogin(t)), 'UPDATE unverified_total SET cents = 0')
  const names = async () => (await verify(fixture.database)).drifts.map(({ name }) => name)
  assert.deepEqual(await names(), ['unverified-total'])
  const [charge] = await cashIns(fixture.database)
  const paid = (await fixture.read(charge?.id ?? '')) ?? assert.fail()
  fixture.bank.answer = () => pageOf([paymentOf(paid, 'E1')])
  await fixture.minutes(1)
  assert.ok(((await statementMark(fixture.database)).readAt ?? 0) >= fixture.clock.now())
  assert.equal((await unverifiedTotal(fixture.database))?.cents, 100_00n)
  assert.deepEqual(await names(), [])
})
