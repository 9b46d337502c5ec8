import assert from 'node:assert/strict'
import test from 'node:test'
import { pino } from 'pino'
import type { CashInInput } from '../../src/cash-in/cash-in.ts'
import { createEventApplier } from '../../src/cash-in/event-applier.ts'
import { cashInAs, confirmed, INPUTS, NOW } from './situations.ts'

/** How a payment that an event tells is handed on, by whether the bank can be asked, demands it, and credits are left. */
async function handedOn(given: { canAsk?: boolean; isAlwaysVerified?: boolean; isAdmitted?: boolean }) {
  const taken: (CashInInput & { readonly unverified?: string })[] = []
  const noted: string[] = []
  const events = createEventApplier({
    commands: {
      apply: async (_id, input) => {
        taken.push(input)
        return undefined
      },
    },
    jobs: { askNow: async () => undefined },
    credits: {
      admit: async () => {
        noted.push('admitted')
        return given.isAdmitted ?? true
      },
    },
    clock: { now: () => NOW },
    logger: pino({ level: 'silent' }),
    canAsk: given.canAsk ?? true,
    isAlwaysVerified: given.isAlwaysVerified ?? false,
  })
  await events.apply('id', confirmed())
  await events.apply('id', INPUTS['work.requested'])
  return { unverified: taken[0]?.unverified, noted }
}

test('[cash-in.credits.2] [cash-in.credits.3] a credit within the unverified limit is counted before it is decided; else it is verified', async () => {
  assert.deepEqual(await handedOn({}), { unverified: 'counted', noted: ['admitted'] })
  assert.deepEqual(await handedOn({ isAdmitted: false }), { unverified: 'first', noted: ['admitted'] })
})

test('[cash-in.credits.2] a bank may require that every payment is verified; where it cannot be asked its event is enough', async () => {
  assert.deepEqual(await handedOn({ isAlwaysVerified: true }), { unverified: 'first', noted: [] })
  assert.deepEqual(await handedOn({ canAsk: false, isAlwaysVerified: true }), { unverified: undefined, noted: [] })
})

test('[cash-in.work.5] a status query that an event requests is made at once, unless one is in flight; a failed query stops nothing', async () => {
  for (const [dueAt, isQuestionWanted, count] of [
    [NOW, true, 1],
    [NOW + 1, true, 0],
    [NOW, false, 0],
  ] as const) {
    let asked = 0
    const cashIn = cashInAs('PENDING', { dueAt, facts: { isQuestionWanted } })
    const events = createEventApplier({
      commands: { apply: async () => ({ result: 'APPLIED', cashIn }) },
      jobs: {
        askNow: async () => {
          asked += 1
          throw new Error('the bank cannot be reached')
        },
      },
      credits: { admit: async () => false },
      clock: { now: () => NOW },
      logger: pino({ level: 'silent' }),
      canAsk: true,
      isAlwaysVerified: false,
    })
    await events.apply('id', INPUTS['work.requested'])
    await events.drained()
    assert.equal(asked, count)
  }
})
