import assert from 'node:assert/strict'
import test from 'node:test'
import { administer } from '../support/database.ts'
import { payment } from '../support/engine.ts'
import { audit, cases, payoutSwitch } from '../support/evidence.ts'
import { as, serverLogin, sessionOf } from '../support/logins.ts'
import { type StatementFixture, statementFixture } from './fixture.ts'

/** Attempts of a thief with a server's login and the secret of the bank's events to keep the trip wire from suspending. */

/** A credit that an event made up. */
async function forge(fixture: StatementFixture, endToEndId: string) {
  const { id } = await fixture.charge()
  const told = payment({ endToEndId, occurredAt: fixture.clock.now() })
  await fixture.apply(id, {
    on: 'partner.confirmed',
    payment: told,
    transactionId: 'tx',
    unverified: 'book',
  })
}

async function isSuspended({ database }: StatementFixture): Promise<boolean> {
  return (await payoutSwitch(database)).isSuspended
}

const OPEN_CASE = `INSERT INTO "case" (id, kind, reference, opened_at, facts)
  VALUES (gen_random_uuid(), 'line_missing', 'in E1', now(), '{}')`

test('[trip-wire.5] a case opened beforehand does not keep the statement from suspending', async (t) => {
  const fixture = await statementFixture(t, undefined, { stands: true })
  await fixture.minutes(1)
  await administer(as(fixture.url, await serverLogin(t)), OPEN_CASE)
  await forge(fixture, 'E1')
  await fixture.minutes(7)
  assert.equal(await isSuspended(fixture), true)
})

test('[trip-wire.5] a case locked by an open transaction does not keep payouts from being suspended', async (t) => {
  const fixture = await statementFixture(t, undefined, { stands: true })
  await fixture.minutes(1)
  const thief = await sessionOf(t, as(fixture.url, await serverLogin(t)))
  await thief.query(`BEGIN; ${OPEN_CASE}`)
  await forge(fixture, 'E1')
  const reading = fixture.minutes(7).catch(() => undefined)
  while (!(await isSuspended(fixture))) await fixture.read(fixture.ids.uuid())
  assert.deepEqual(await cases(fixture.database), [], 'it waits for the case still')
  await thief.query('ROLLBACK')
  await reading
  await fixture.minutes(2)
  assert.deepEqual(await cases(fixture.database), ['line_missing'])
  assert.equal((await audit(fixture.database)).filter(({ actor }) => actor === 'trip-wire').length, 1)
})

test('[trip-wire.5] an audit row of a suspension that did not happen is refused', async (t) => {
  const fixture = await statementFixture(t)
  const row = `INSERT INTO audit (id, at, actor, action, subject, address, facts)
    VALUES (gen_random_uuid(), now(), 'trip-wire', 'cash_out_switch.set', 'cash_out_switch', '', '{"cases": ["line_missing in E1"]}')`
  await assert.rejects(administer(as(fixture.url, await serverLogin(t)), row), /the trip wire has suspended nothing/)
})
