import assert from 'node:assert/strict'
import test from 'node:test'
import { pino } from 'pino'
import type { CashInInput } from '../../src/cash-in/cash-in.ts'
import { createEventApplier } from '../../src/cash-in/jobs.ts'
import { cashInAs, confirmed, INPUTS, NOW } from './situations.ts'

const CREDITS = { verifyFromCents: 99_99n }

/** How a payment that an event reports is handed on, by whether charges can be queried at the bank. */
async function handedOn(canAsk: boolean) {
  const taken: CashInInput[] = []
  const events = createEventApplier({
    commands: {
      apply: async (_id, input) => {
        taken.push(input)
        return undefined
      },
    },
    jobs: { askNow: async () => undefined },
    credits: CREDITS,
    clock: { now: () => NOW },
    logger: pino({ level: 'silent' }),
    canAsk,
  })
  await events.apply('id', confirmed({ valueCents: 99_99n }))
  const [input] = taken
  return input?.on === 'partner.confirmed' ? input.unverified : assert.fail()
}

test('[cash-in.credits.2] a payment from the limit on is verified; where charges cannot be queried the event is enough', async () => {
  assert.equal(await handedOn(true), 'query')
  assert.equal(await handedOn(false), undefined)
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
      credits: CREDITS,
      clock: { now: () => NOW },
      logger: pino({ level: 'silent' }),
      canAsk: true,
    })
    await events.apply('id', INPUTS['work.requested'])
    await events.drained()
    assert.equal(asked, count)
  }
})
