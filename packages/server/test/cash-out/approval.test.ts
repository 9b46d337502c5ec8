import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { ApprovalInput } from '../../src/cash-out/approval.ts'
import type { CashOut } from '../../src/cash-out/cash-out.ts'
import { createCashOutStore } from '../../src/cash-out/commands.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { operatedProcess } from '../controls/fixture.ts'
import { assertBooks, balances } from '../support/books.ts'
import { switchPayouts } from '../support/controls.ts'
import { testDatabase } from '../support/database.ts'
import { audit, notifiedStatuses } from '../support/evidence.ts'
import { capsOf, limitsOf } from '../support/limits.ts'
import { ALIVE } from '../support/live-request.ts'
import { steppedClock } from '../support/stepped-clock.ts'
import { openHolder } from '../support/waiting-backends.ts'
import { codeOf } from './fixture.ts'
import { APPROVER, INPUTS, person } from './situations.ts'

const HOUR = 60 * 60_000
const MAKER = '0198c0d1-3f00-7000-8000-00000000000a'
const ANOTHER = { ...APPROVER, actor: '0198c0d1-3f00-7000-8000-00000000000b', actorName: 'Caio' }
const PEOPLE = [
  person(MAKER, 'Ana', { role: 'admin' }),
  person(APPROVER.actor, 'Bia'),
  person(ANOTHER.actor, 'Caio'),
] as const

/** A process with R$ 500,00, where payouts of R$ 50,00 and more are approved. */
async function office(t: TestContext, limits = limitsOf()) {
  const { url, database } = await testDatabase(t)
  const clock = steppedClock({ stands: true })
  const process = operatedProcess(t, url, { approvalFromCents: 50_00n, limits }, realPause, clock)
  await process.adjust(500_00n)
  const say = (cashOut: CashOut, input: ApprovalInput) => process.payouts.approve(cashOut, input, ALIVE)
  const approve = (cashOut: CashOut, approver = APPROVER, given: Partial<Approved> = {}) =>
    say(cashOut, { ...INPUTS['operator.approved'], approver, people: PEOPLE, ...given })
  const refuse = (cashOut: CashOut) => say(cashOut, { ...INPUTS['operator.refused'], approver: ANOTHER })
  const claim = async ({ id }: CashOut) => (await process.payouts.apply(id, [INPUTS['send.claimed']]))?.result
  return { ...process, url, database, clock, approve, refuse, claim, store: createCashOutStore(database) }
}

type Approved = Extract<ApprovalInput, { on: 'operator.approved' }>

test('[cash-out.approval.1] [cash-out.approval.7] from the amount on a payout is not claimed before it is approved', async (t) => {
  const { payOut, approve, claim } = await office(t)
  assert.equal(await claim(await payOut(49_99n)), 'APPLIED')
  const waiting = await payOut(50_00n, { keyMadeBy: MAKER })
  assert.equal(waiting.status, 'RESERVED')
  assert.equal(await claim(waiting), 'IGNORED')
  const approved = await approve(waiting)
  assert.deepEqual([approved?.status, approved?.facts.approval?.by], ['RESERVED', [APPROVER.actor]])
  assert.equal(await claim(waiting), 'APPLIED')
})

test('[cash-out.approval.2] who made the key does not approve; of a key of the administrative token it takes two', async (t) => {
  const { payOut, approve, claim } = await office(t)
  const made = await payOut(50_00n, { keyMadeBy: APPROVER.actor })
  assert.equal(await codeOf(approve(made)), 'approver_not_independent')
  assert.equal(await claim(made), 'IGNORED')
  await approve(made, ANOTHER)
  assert.equal(await claim(made), 'APPLIED')

  const ofToken = await payOut(60_00n)
  await approve(ofToken)
  assert.equal(await claim(ofToken), 'IGNORED')
  assert.equal(await codeOf(approve(ofToken)), 'approver_not_independent')
  await approve(ofToken, ANOTHER)
  assert.equal(await claim(ofToken), 'APPLIED')
  assert.equal(await codeOf(approve(ofToken)), 'not_possible_in_state')
})

test('[cash-out.approval.2] of two who approve at the same moment both count, and of one who does so twice one', async (t) => {
  const { payOut, approve, claim } = await office(t)
  const waiting = await payOut(50_00n)
  const codes = await Promise.all([approve(waiting), approve(waiting), approve(waiting, ANOTHER)].map(codeOf))
  assert.equal(codes.filter((code) => code === undefined).length, 2, String(codes))
  assert.equal(await claim(waiting), 'APPLIED')
})

test('[cash-out.approval.2] operators of one name are one person, whichever their token', async (t) => {
  const { payOut, approve, adjust } = await office(t)
  await adjust(5_000_00n)
  const [before, now] = [ANOTHER.actor, APPROVER.actor]
  const names = [
    ['Bia Sá', ' BIA  Sa\u0301 ', 'approver_not_independent'],
    ['Bia Sá', 'Bia Sousa', undefined],
  ] as const
  for (const [name, newName, code] of names) {
    for (const formerly of [{ role: 'admin' }, { isActive: false }] as const) {
      const people = [person(now, newName), person(before, name, formerly)]
      const waiting = await payOut(50_00n, { keyMadeBy: before })
      assert.equal(await codeOf(approve(waiting, APPROVER, { people })), code, `${name} made the key, ${newName}`)
    }
    const people = [person(now, newName), person(before, name)]
    const ofToken = await payOut(50_00n)
    await approve(ofToken, ANOTHER, { people })
    assert.equal(await codeOf(approve(ofToken, APPROVER, { people })), code, `${name} approved it, ${newName}`)
  }
})

test('[cash-out.approval.10] the approval of whoever is no active approver any more counts for nothing', async (t) => {
  const { payOut, approve, claim } = await office(t)
  const [ana, bia, caio] = PEOPLE
  for (const gone of [{ isActive: false }, { role: 'viewer' }] as const) {
    const waiting = await payOut(50_00n)
    await approve(waiting)
    const people = [ana, { ...bia, ...gone }, caio]
    assert.equal(await codeOf(approve(waiting, APPROVER, { people })), 'insufficient_role')
    const after = await approve(waiting, ANOTHER, { people })
    assert.deepEqual(after?.facts.approval?.by, [ANOTHER.actor])
    assert.equal(await claim(waiting), 'IGNORED')
    await approve(waiting)
    assert.equal(await claim(waiting), 'APPLIED')
  }
  const stranger = await payOut(50_00n)
  assert.equal(await codeOf(approve(stranger, APPROVER, { people: [ana, caio] })), 'insufficient_role')
})

test('[cash-out.approval.3] what a key that was deactivated asked for is not approved; it can be refused', async (t) => {
  const { payOut, approve, refuse, claim } = await office(t)
  const waiting = await payOut(50_00n, { keyMadeBy: MAKER })
  assert.equal(await codeOf(approve(waiting, APPROVER, { isRequesterDeactivated: true })), 'api_key_deactivated')
  assert.equal(await claim(waiting), 'IGNORED')
  assert.equal((await refuse(waiting))?.status, 'RELEASED')
})

test('[cash-out.approval.3] the switch is looked at again, and so are the caps on a night and on a new recipient', async (t) => {
  const { payOut, approve, clock, database } = await office(
    t,
    limitsOf({ nightCents: 80_00n, newRecipientCents: 130_00n }),
  )
  clock.advance(untilNoon(clock.now()))
  const waiting = await payOut(50_00n, { keyMadeBy: MAKER })
  await switchPayouts(database, false)
  assert.equal(await codeOf(approve(waiting)), 'cash_out_suspended')
  await switchPayouts(database, true)
  clock.advance(9 * HOUR)
  await payOut(40_00n)
  assert.equal(await codeOf(approve(waiting)), 'limit_exceeded', 'the night has R$ 40,00 left')
  clock.advance(10 * HOUR)
  assert.equal(await codeOf(approve(waiting)), undefined, 'a new day, and its own amount is known')
})

test('[cash-out.approval.3] [limits.5] an approval that waits for the switch sees what of the night was used meanwhile', async (t) => {
  const { payOut, approve, clock, url } = await office(t, limitsOf({ nightCents: 80_00n }))
  clock.advance(untilNoon(clock.now()))
  const [first, second] = [await payOut(50_00n, { keyMadeBy: MAKER }), await payOut(50_00n, { keyMadeBy: MAKER })]
  clock.advance(9 * HOUR)
  const other = operatedProcess(
    t,
    url,
    { approvalFromCents: 50_00n, limits: limitsOf({ nightCents: 80_00n }) },
    realPause,
    clock,
  )
  const holder = await openHolder(url)
  await holder.hold(`SELECT FROM control WHERE name = 'cash_out_switch' FOR UPDATE`)
  const said = { ...INPUTS['operator.approved'], people: PEOPLE }
  const codes = [codeOf(approve(first)), codeOf(other.payouts.approve(second, said, ALIVE))]
  await holder.waiting(2)
  await holder.release()
  assert.deepEqual((await Promise.all(codes)).toSorted(), ['limit_exceeded', undefined])
})

test('[cash-out.approval.3] [limits.9] the caps of the API key on a night and on a new recipient are judged again', async (t) => {
  const { payOut, approve, clock } = await office(t)
  const night = { caps: capsOf({ nightCents: 60_00n }), keyMadeBy: MAKER }
  clock.advance(untilNoon(clock.now()))
  const [first, second] = [await payOut(60_00n, night), await payOut(60_00n, night)]
  clock.advance(9 * HOUR)
  await approve(first)
  assert.equal(await codeOf(approve(second)), 'limit_exceeded')

  const narrow = { caps: capsOf({ newRecipientCents: 70_00n }), keyMadeBy: MAKER, detail: toMaria() }
  const waiting = await payOut(60_00n, narrow)
  await payOut(11_00n, { detail: toMaria() })
  assert.equal(await codeOf(approve(waiting)), 'limit_exceeded', 'others paid the recipient meanwhile')
})

/** How long until it is noon in São Paulo, milliseconds. */
function untilNoon(nowMs: number): number {
  return (39 * HOUR - (nowMs % (24 * HOUR))) % (24 * HOUR)
}

function toMaria() {
  const recipient = { name: null, document: null, pixKey: 'maria@example.com', pixKeyType: 'email' } as const
  return { description: null, paymentType: 'key', recipient, qrCode: null } as const
}

test('[cash-out.approval.4] what nobody approves in time is given back; what was approved late has its time', async (t) => {
  const { payOut, approve, payouts, clock, database, store } = await office(t)
  const [late, forgotten] = [await payOut(50_00n, { keyMadeBy: MAKER }), await payOut(50_00n, { keyMadeBy: MAKER })]
  clock.advance(23 * HOUR)
  assert.deepEqual(await store.due(clock.now(), 10, true), [])
  await approve(late)
  clock.advance(2 * HOUR)
  const due = await store.due(clock.now(), 10, true)
  assert.deepEqual(
    due.map(({ id, plan }) => [id, plan?.step]).toSorted(),
    [
      [forgotten.id, 'release'],
      [late.id, 'send'],
    ].toSorted(),
  )
  assert.equal(await codeOf(approve(forgotten)), 'not_possible_in_state', 'also before a worker gave it back')
  for (const { id } of [late, forgotten]) await payouts.apply(id, [{ on: 'clock.released' }])
  assert.deepEqual((await balances(database)).reserved, 50_00n)
  assert.equal((await store.get(forgotten.id))?.status, 'RELEASED')
  assert.equal(await codeOf(approve(forgotten)), 'not_possible_in_state')
  await assertBooks(database)
})

test('[cash-out.approval.5] what waits is listed, the oldest first, and nothing else', async (t) => {
  const { payOut, approve, refuse, store } = await office(t)
  const waiting = [await payOut(50_00n), await payOut(51_00n), await payOut(52_00n, { keyMadeBy: MAKER })]
  const [first, second, third] = waiting as [CashOut, CashOut, CashOut]
  await payOut(1_00n)
  const ids = async (after?: string, limit = 10) => (await store.awaitingApproval(after, limit)).map(({ id }) => id)
  assert.deepEqual(await ids(), [first.id, second.id, third.id])
  assert.deepEqual(await ids(first.id, 1), [second.id])
  await approve(third)
  await refuse(second)
  assert.deepEqual(await ids(), [first.id])
})

test('[cash-out.approval.6] [cash-out.approval.8] a refusal frees the money, tells the merchant, and both stand in the audit trail', async (t) => {
  const { payOut, approve, refuse, database } = await office(t)
  const [approved, refused] = [await payOut(50_00n, { keyMadeBy: MAKER }), await payOut(60_00n)]
  await approve(approved)
  const after = await refuse(refused)
  assert.deepEqual([after?.status, after?.facts.failureCode], ['RELEASED', 'not_approved'])
  assert.deepEqual(await notifiedStatuses(database), ['FAILED'])
  assert.equal((await balances(database)).reserved, 50_00n)
  const rows = (await audit(database)).filter(({ action }) => action.startsWith('cash_out.'))
  assert.deepEqual(
    rows.map(({ actor, action, subject, facts }) => ({ actor, action, subject, facts })),
    [
      {
        actor: APPROVER.actor,
        action: 'cash_out.approved',
        subject: approved.id,
        facts: { valueCents: 50_00, reason: 'checked' },
      },
      {
        actor: ANOTHER.actor,
        action: 'cash_out.refused',
        subject: refused.id,
        facts: { valueCents: 60_00, reason: 'nobody knows it' },
      },
    ],
  )
})

test('[cash-out.approval.9] a code that asks for something else is not paid; the same one is, as it was decoded last', async (t) => {
  const { payOut, approve, database } = await office(t)
  const recipient = { name: null, document: null, pixKey: 'maria@example.com', pixKeyType: null }
  const qrCode = { pixCode: '000201', decodeId: 'before' }
  const detail = { description: null, paymentType: 'qrcode', recipient, qrCode } as const
  const same = { valueCents: 50_00n, pixKey: 'maria@example.com', decodeId: 'now' }
  for (const code of [null, { ...same, valueCents: 50_01n }, { ...same, pixKey: 'ladrao@example.com' }]) {
    const waiting = await payOut(50_00n, { detail, keyMadeBy: MAKER })
    const after = await approve(waiting, APPROVER, { code })
    assert.deepEqual([after?.status, after?.facts.failureCode], ['RELEASED', 'pix_code_changed'])
  }
  assert.equal((await balances(database)).reserved ?? 0n, 0n)
  const waiting = await payOut(50_00n, { detail, keyMadeBy: MAKER })
  const after = await approve(waiting, APPROVER, { code: same })
  assert.deepEqual([after?.status, after?.facts.decodeId], ['RESERVED', 'now'])
})

test('[cash-out.approval.11] whatever is RESERVED can be refused, also while payouts are off; the merchant is told once', async (t) => {
  const { payOut, approve, refuse, claim, database } = await office(t)
  const [small, approved] = [await payOut(49_99n), await payOut(50_00n, { keyMadeBy: MAKER })]
  await approve(approved)
  await switchPayouts(database, false)
  for (const payout of [small, approved]) {
    const after = await refuse(payout)
    assert.deepEqual([after?.status, after?.facts.failureCode], ['RELEASED', 'refused_by_operator'])
    assert.equal(await codeOf(refuse(payout)), 'not_possible_in_state')
  }
  await switchPayouts(database, true)
  for (const payout of [small, approved]) assert.equal(await claim(payout), 'IGNORED')
  assert.deepEqual(await notifiedStatuses(database), ['FAILED', 'FAILED'])
  assert.equal((await balances(database)).reserved ?? 0n, 0n)

  const sent = await payOut(1_00n)
  await claim(sent)
  assert.equal(await codeOf(refuse(sent)), 'not_possible_in_state')
  await assertBooks(database)
})

test('[cash-out.approval.11] of a refusal and a claim for sending at the same moment, in two processes, exactly one wins', async (t) => {
  const { payOut, refuse, url, clock, database, store } = await office(t)
  const other = operatedProcess(t, url, {}, realPause, clock)
  const claimAtOther = async ({ id }: CashOut) => (await other.payouts.apply(id, [INPUTS['send.claimed']]))?.result
  const ends: [isRefused: boolean, isClaimed: boolean, status: string | undefined][] = []
  // Half of them are made by the other process, so that both are under way; each is first in turn.
  for (let round = 0; round < 30; round++) {
    const payout = await (round % 2 ? other : { payOut }).payOut(1_00n)
    const claimedFirst = round % 3 ? claimAtOther(payout) : undefined
    const refusal = codeOf(refuse(payout))
    const [code, result] = await Promise.all([refusal, claimedFirst ?? claimAtOther(payout)])
    ends.push([code === undefined, result === 'APPLIED', (await store.get(payout.id))?.status])
  }
  for (const [isRefused, isClaimed, status] of ends) {
    assert.notEqual(isRefused, isClaimed)
    assert.equal(status, isRefused ? 'RELEASED' : 'DISPATCHED')
  }
  const claimed = BigInt(ends.filter(([, isClaimed]) => isClaimed).length)
  assert.equal((await balances(database)).reserved ?? 0n, claimed * 1_00n)
  await assertBooks(database)
})
