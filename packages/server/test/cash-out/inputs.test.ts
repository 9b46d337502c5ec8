import assert from 'node:assert/strict'
import test from 'node:test'
import { createCashOutJobs, inputsOfPayout } from '../../src/cash-out/jobs.ts'
import { CONFIRMED, payout } from './bank-answers.ts'
import { BOUNDS } from './fixture.ts'

test('[cash-out.states.9] [P7] of what the bank reports about another order nothing is booked, and no reference learned', () => {
  const inputsFor = (id: string) => {
    const answer = { kind: 'CONTRADICTED', reason: 'other', payout: payout('PROCESSING', { id }) } as const
    return inputsOfPayout('ours', answer)
  }
  assert.deepEqual(inputsFor('ours'), [{ on: 'send.contradicted', reason: 'other', transactionId: 'tx' }])
  assert.deepEqual(inputsFor('another'), [{ on: 'send.contradicted', reason: 'other', transactionId: null }])
  const left = (id: string) =>
    inputsOfPayout('ours', { kind: 'CONTRADICTED', reason: 'other', payout: { ...CONFIRMED.payout, id } })
  assert.deepEqual(
    [left('ours'), left('another')].map((inputs) => inputs.map(({ on }) => on)),
    [['partner.confirmed'], ['send.contradicted']],
  )
})

test('[CO-30] [cash-out.work] while the switch is off nothing that only waits to be sent is looked for', async () => {
  for (const isEnabled of [true, false]) {
    const looked: boolean[] = []
    const due = async (_nowMs: number, _limit: number, isSending: boolean) => {
      looked.push(isSending)
      return []
    }
    const jobs = createCashOutJobs({
      commands: {},
      store: { due, isEnabled: async () => isEnabled },
      partner: { capabilities: new Set(), idempotencyWindowMs: 0, allowedSends: () => Number.POSITIVE_INFINITY },
      clock: { now: () => 0 },
      bounds: BOUNDS,
    } as unknown as Parameters<typeof createCashOutJobs>[0])
    await jobs.processNext()
    assert.deepEqual(looked, [isEnabled])
  }
})
