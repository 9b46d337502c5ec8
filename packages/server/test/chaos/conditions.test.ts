import assert from 'node:assert/strict'
import test from 'node:test'
import { type GoneThrough, lackingIn } from './conditions.ts'
import { dosesOf, faultKinds, liesToMeet, planOf } from './plan.ts'

const once = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 1]))

const COMPLETE: GoneThrough = {
  connector: 'efi',
  bankKind: 'truthful',
  faults: once(faultKinds('truthful')),
  restarts: 1,
  lies: once(liesToMeet('truthful', 'efi')),
  operations: { 'cash_in PAID': 600, 'cash_in EXPIRED': 100, 'cash_out CONFIRMED': 300, 'refund_in CONFIRMED': 50 },
}

test('[P4] a run that went through everything lacks nothing', () => {
  assert.deepEqual(lackingIn(COMPLETE, { operations: 1_000 }), [])
})

test('[P4] a run with too few charges and payouts lacks them: refunds do not count', () => {
  assert.deepEqual(lackingIn(COMPLETE, { operations: 1_001 }), ['charges and payouts: 1000, at least 1001 are wanted'])
})

test('[P4] whatever never happened is named: a fault, a lie of the bank, a restart', () => {
  for (const kind of faultKinds('truthful')) {
    const [only, ...more] = lackingIn({ ...COMPLETE, faults: { ...COMPLETE.faults, [kind]: 0 } }, { operations: 1 })
    assert.deepEqual([only, more], [`fault «${kind}»: 0, at least 1 are wanted`, []])
  }
  for (const lie of ['eventLost', 'eventDoubled', 'eventsBatched', 'eventLate', 'eventForeign', 'tokenEndsEarly']) {
    const { [lie]: _, ...lies } = COMPLETE.lies
    assert.deepEqual(lackingIn({ ...COMPLETE, lies }, { operations: 1 }), [`lie «${lie}»: 0, at least 1 are wanted`])
  }
  assert.equal(lackingIn({ ...COMPLETE, restarts: 0 }, { operations: 1 }).length, 1)
})

test('[P4] time passes beside a bank that lies, and must have', () => {
  assert.ok(faultKinds('lying').includes('time passes'))
  assert.ok(!faultKinds('truthful').includes('time passes'))
})

test('[P4] a plan of minutes has every kind of fault, whatever its seed', () => {
  for (const bankKind of ['truthful', 'lying'] as const) {
    for (let seed = 0; seed < 200; seed += 1) {
      const doses = dosesOf(planOf(seed, 120_000, bankKind))
      assert.deepEqual(
        faultKinds(bankKind).filter((kind) => !doses[kind]),
        [],
      )
    }
  }
})

test('[P4] a refused repetition is wanted of a bank that denies what it has, and of no other', () => {
  assert.ok(liesToMeet('lying', 'efi').includes('repeatRefused'))
  assert.ok(!liesToMeet('truthful', 'efi').includes('repeatRefused'))
})
