import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Engine } from '../../src/engine/engine.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { assertBooks, balances } from '../support/books.ts'
import { administer, testDatabase } from '../support/database.ts'
import { audit } from '../support/evidence.ts'
import { lapsing } from '../support/live-request.ts'
import { tcpProxy, through } from '../support/tcp-proxy.ts'
import { openHolder } from '../support/waiting-backends.ts'
import { OPERATOR, operatedProcess, type Process } from './fixture.ts'

const SUSPENDED = { code: 'cash_out_suspended' }

test('[operator.switch.1] payouts are enabled until they are suspended; then it reports why and since when', async (t) => {
  const { url } = await testDatabase(t)
  const { store, switchCashOuts } = operatedProcess(t, url)
  assert.deepEqual(await store.readSwitch(), { enabled: true, reason: null, changedAt: null, version: 1n })
  const off = await switchCashOuts(false, 'Incident «42»')
  assert.deepEqual(off, { enabled: false, reason: 'Incident «42»', changedAt: off.changedAt, version: 2n })
  assert.deepEqual(await store.readSwitch(), off)
  const on = await switchCashOuts(true, 'over')
  assert.deepEqual(await store.readSwitch(), on)
})

test('[operator.switch.3] every setting is audited, also one that changes nothing', async (t) => {
  const { url, database } = await testDatabase(t)
  const { switchCashOuts } = operatedProcess(t, url)
  const settings = [
    { enabled: false, reason: 'Incident 42' },
    { enabled: false, reason: 'still' },
    { enabled: true, reason: 'over' },
  ]
  const set: (number | null)[] = []
  for (const { enabled, reason } of settings) set.push((await switchCashOuts(enabled, reason)).changedAt)
  assert.deepEqual(
    await audit(database),
    settings.map((facts, index) => ({
      ...OPERATOR,
      actorName: null,
      at: set[index],
      action: 'cash_out_switch.set',
      subject: 'cash_out_switch',
      facts,
    })),
  )
})

test('[operator.switch.3] without its audit row the switch is not set', async (t) => {
  const { url } = await testDatabase(t)
  const { store, switchCashOuts } = operatedProcess(t, url)
  await administer(url, 'REVOKE INSERT ON audit FROM pixgate_app')
  await assert.rejects(switchCashOuts(false))
  assert.equal((await store.readSwitch()).enabled, true)
})

test('[operator.switch.2] the stored switch decides, not the one that a process has cached, on or off', async (t) => {
  const { url, database } = await testDatabase(t)
  const [one, other] = [operatedProcess(t, url), operatedProcess(t, url)]
  await one.adjust(100_00n)
  for (const process of [one, other]) await process.payOut(1_00n)

  await one.switchCashOuts(false)
  for (const process of [other, one]) await assert.rejects(process.payOut(1_00n), SUSPENDED)
  assert.deepEqual(await balances(database), { available: 98_00n, reserved: 2_00n, settlement: -100_00n })

  await one.switchCashOuts(true)
  for (const process of [other, one]) await process.payOut(1_00n)
  assert.deepEqual(await balances(database), { available: 96_00n, reserved: 4_00n, settlement: -100_00n })
  await assertBooks(database)
})

test('[operator.switch.2] [CO-24] what was accepted before is not claimed for sending while the switch is off', async (t) => {
  const { url, database } = await testDatabase(t)
  const [one, other] = [operatedProcess(t, url), operatedProcess(t, url)]
  await one.adjust(100_00n)
  const payout = await other.payOut(1_00n)
  await one.switchCashOuts(false)
  const claim = () => other.payouts.apply(payout.id, [{ on: 'send.claimed', leaseMs: 60_000 }])
  assert.equal((await claim())?.result, 'IGNORED')
  await one.switchCashOuts(true)
  assert.equal((await claim())?.result, 'APPLIED')
  await assertBooks(database)
})

test('[operator.switch.2] a payout on its way into the database when the switch is set is refused', async (t) => {
  const { url, database } = await testDatabase(t)
  const [process, other] = [operatedProcess(t, url), operatedProcess(t, url)]
  await process.adjust(100_00n)
  await process.payOut(1_00n)

  const holder = await openHolder(url)
  await holder.hold(HOLD_SWITCH)
  // Both wait for the row, the setting before the payout.
  const setting = other.switchCashOuts(false)
  await holder.waiting(1)
  const refused = assert.rejects(process.payOut(1_00n), SUSPENDED)
  await holder.waiting(2)
  await holder.release()

  await Promise.all([setting, refused])
  assert.equal((await balances(database)).reserved, 1_00n)
})

const HOLD_SWITCH = `SELECT FROM control WHERE name = 'cash_out_switch' FOR UPDATE`

const CONFLICT = { code: 'version_conflict' }

test('[operator.switch.4] on counts where the version is the one that was seen; off counts always', async (t) => {
  const { url } = await testDatabase(t)
  const { store, switchCashOuts } = operatedProcess(t, url)
  const off = await switchCashOuts(false)
  const still = await switchCashOuts(false)
  await assert.rejects(switchCashOuts(true, 'over', { version: off.version }), CONFLICT)
  assert.deepEqual(await store.readSwitch(), still)
  const on = await switchCashOuts(true, 'over', { version: still.version })
  assert.deepEqual(await store.readSwitch(), on)
  assert.equal(on.version, 4n)
  assert.equal((await switchCashOuts(false, 'again', { version: off.version })).version, 5n)
  assert.equal((await switchCashOuts(true)).version, 6n, 'where none is given, the one that stands counts')
})

/** A process whose next setting of the switch is on its way to the database until it is let through. */
async function slowProcess(t: TestContext, url: string, patienceMs: number) {
  const proxy = await tcpProxy(t, Number(new URL(url).port))
  let patience: number | undefined
  const pause = { ...realPause, for: (ms: number, signal?: AbortSignal) => realPause.for(patience ?? ms, signal) }
  const process = operatedProcess(t, through(proxy, url), {}, pause)
  await process.switchCashOuts(false)
  patience = patienceMs
  const { promise: arrives, resolve } = Promise.withResolvers<'pass'>()
  const { promise: isOnItsWay, resolve: leave } = Promise.withResolvers<void>()
  proxy.judge = (direction, bytes) => {
    if (direction !== 'request' || !bytes.includes('engine.write')) return 'pass'
    leave()
    return arrives
  }
  return { process, isOnItsWay, letThrough: () => resolve('pass') }
}

test('[operator.switch.4] [CO-30] an on that got 503 and arrives after an off does not count', async (t) => {
  const { url, database } = await testDatabase(t)
  const { process, letThrough } = await slowProcess(t, url, 50)
  await assert.rejects(process.switchCashOuts(true), { code: 'overloaded' })
  const other = operatedProcess(t, url)
  const off = await other.switchCashOuts(false, 'Incident 42')
  letThrough()
  await process.engine.drained()
  assert.deepEqual(await other.store.readSwitch(), off)
  assert.equal((await audit(database)).length, 2)
})

test('[operator.switch.4] [CO-30] an on that is overtaken by an off on its way is 409', async (t) => {
  const { url } = await testDatabase(t)
  const { process, isOnItsWay, letThrough } = await slowProcess(t, url, 60_000)
  const refused = assert.rejects(process.switchCashOuts(true), CONFLICT)
  await isOnItsWay
  const other = operatedProcess(t, url)
  const off = await other.switchCashOuts(false, 'Incident 42')
  letThrough()
  await refused
  assert.deepEqual(await other.store.readSwitch(), off)
})

/** Keeps the queue of a process in which the switch waits busy until it is released. */
function keepBusy(url: string, { engine }: Process) {
  const movements = [{ direction: 'in', id: 'E1' }] as const
  return keepQueueBusy(url, engine, 'LOCK TABLE movement IN ACCESS EXCLUSIVE MODE', () =>
    engine.execute({ reads: [], movements, isUrgent: true, decide: () => ({ outcome: undefined }) }),
  )
}

/** @param work of an engine, which waits for what the query holds */
async function keepQueueBusy(url: string, engine: Engine, query: string, work: () => Promise<unknown>) {
  const holder = await openHolder(url)
  await holder.hold(query)
  const busy = work()
  await holder.waiting(1)
  return {
    queued: async (count: number) => {
      while (engine.waiting < count) await setImmediate()
    },
    release: async () => {
      await holder.release()
      await busy
    },
  }
}

test('[operator.switch.4] [CO-30] an on that waits in the queue does not overrule an off that was set meanwhile', async (t) => {
  const { url } = await testDatabase(t)
  const [process, other] = [operatedProcess(t, url), operatedProcess(t, url)]
  const busy = await keepBusy(url, process)
  const refused = assert.rejects(process.switchCashOuts(true), CONFLICT)
  await busy.queued(1)
  const off = await other.switchCashOuts(false, 'Incident 42')
  await busy.release()
  await refused
  assert.deepEqual(await other.store.readSwitch(), off)
})

test('[operator.switch.4] [CO-30] of an on and an off in one batch the off counts, whichever came first', async (t) => {
  const { url, database } = await testDatabase(t)
  const process = operatedProcess(t, url)
  for (const onFirst of [true, false]) {
    await process.switchCashOuts(false)
    const { version } = await process.store.readSwitch()
    const busy = await keepBusy(url, process)
    const first = process.switchCashOuts(onFirst, 'first')
    await busy.queued(1)
    const second = process.switchCashOuts(!onFirst, 'second')
    const refused = onFirst ? undefined : assert.rejects(second, CONFLICT)
    await busy.queued(2)
    await busy.release()
    await Promise.all([first, refused ?? second])
    const { enabled, ...now } = await process.store.readSwitch()
    assert.equal(enabled, false)
    assert.equal(now.version, version + (onFirst ? 2n : 1n))
  }
  assert.deepEqual(
    (await audit(database)).flatMap(({ facts: { reason } }) => (reason === 'a test' ? [] : [reason])),
    ['first', 'second', 'first'],
  )
})

test('[operator.switch.5] [engine.20] the switch is off before what is queued is decided, also while a batch is stuck', async (t) => {
  const { url, database } = await testDatabase(t)
  const process = operatedProcess(t, url)
  await process.adjust(100_00n)
  const held = 'SELECT FROM account ORDER BY id FOR UPDATE'
  const busy = await keepQueueBusy(url, process.engine, held, () => process.adjust(1n))
  const queued = Array.from({ length: 20 }, () => assert.rejects(process.payOut(1_00n), SUSPENDED))
  await busy.queued(20)
  const off = await process.switchCashOuts(false, 'Incident 42')
  assert.deepEqual(await process.store.readSwitch(), off, 'while the batch is still stuck')
  assert.equal(process.engine.waiting, 20)
  await busy.release()
  await Promise.all(queued)
  assert.equal((await balances(database)).reserved, undefined)
})

test('[operator.switch.4] [engine.17] a setting whose request has lapsed is not carried out, off neither', async (t) => {
  const { url, database } = await testDatabase(t)
  const { store, switchCashOuts } = operatedProcess(t, url)
  const live = lapsing()
  live.lapse()
  for (const enabled of [true, false])
    await assert.rejects(switchCashOuts(enabled, 'x', { live }), { code: 'overloaded' })
  assert.equal((await store.readSwitch()).version, 1n)
  assert.deepEqual(await audit(database), [])
})
