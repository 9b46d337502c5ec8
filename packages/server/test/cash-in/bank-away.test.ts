import assert from 'node:assert/strict'
import test from 'node:test'
import { createCashInJobs } from '../../src/cash-in/jobs.ts'
import { CHARGED, cashInAs, NOW } from './situations.ts'

const UNMADE = cashInAs('PENDING', { dueAt: NOW })

/** The jobs at a bank that takes so many charges now; nothing waits, and nothing is sent. */
function jobsAt(allowedCharges: number, createCharge: () => unknown = () => assert.fail('the bank is asked')) {
  const taken: string[] = []
  const made = cashInAs('PENDING', { id: 'made', dueAt: NOW, facts: CHARGED })
  const jobs = createCashInJobs({
    commands: {
      apply: async (id: string, { on }: { on: string }) => {
        taken.push(`${id === UNMADE.id ? 'unmade' : id} ${on}`)
        return { result: 'IGNORED', cashIn: UNMADE }
      },
    },
    store: { due: async () => [UNMADE, UNMADE, made] },
    partner: {
      capabilities: new Set(),
      allowedCharges: () => allowedCharges,
      createCharge,
    },
    clock: { now: () => NOW },
    pause: { for: () => assert.fail('somebody waits') },
    createBudgetMs: 8_000,
    returns: {},
    eventQueries: { take: () => 0 },
  } as unknown as Parameters<typeof createCashInJobs>[0])
  return { jobs, taken }
}

test('[cash-in.create.7] [partner.9] the charge that shows whether the bank is back is asked for behind its answer', async () => {
  const bank = Promise.withResolvers<{ kind: 'UNKNOWN'; reason: string }>()
  const { jobs, taken } = jobsAt(1, () => bank.promise)
  assert.equal(await jobs.requestCharge(UNMADE), UNMADE, 'answered before the bank is')
  assert.deepEqual(taken, [])
  bank.resolve({ kind: 'UNKNOWN', reason: 'timeout' })
  await jobs.drained()
  assert.deepEqual(taken, ['unmade charge.unknown'])
})

test('[cash-in.create.7] [partner.9] charges waiting for creation are claimed up to what the bank accepts; other work does not wait', async () => {
  for (const [allowedCharges, claims] of [
    [0, ['made work.claimed']],
    [1, ['made work.claimed', 'unmade work.claimed']],
  ] as const) {
    const { jobs, taken } = jobsAt(allowedCharges)
    await jobs.processNext()
    assert.deepEqual(taken, claims)
  }
})
