import assert from 'node:assert/strict'
import test from 'node:test'
import { sendFirst } from '../../src/operations/attempts.ts'

const ACCEPTED = { kind: 'ACCEPTED', payout: 'ours' } as const

/** What comes of an order, and which calls were made. */
async function ordered(known: { readonly kind: string }, facts = {}, isAskedFirst = () => true) {
  const calls: string[] = []
  const answer = await sendFirst({
    order: { createdAt: 7, facts: { attempts: 1, ...facts } },
    isAskedFirst,
    ask: async () => {
      calls.push('GET')
      return known
    },
    send: async () => {
      calls.push('PUT')
      return ACCEPTED
    },
  })
  return { answer, calls }
}

test('[restored.4] what the bank has counts as the answer to the order, and nothing is sent', async () => {
  for (const kind of ['ACCEPTED', 'FINAL', 'CONTRADICTED', 'UNKNOWN']) {
    assert.deepEqual(await ordered({ kind }), { answer: { kind }, calls: ['GET'] })
  }
})

test('[restored.4] what the bank does not know is sent', async () => {
  assert.deepEqual(await ordered({ kind: 'NOT_FOUND' }), { answer: ACCEPTED, calls: ['GET', 'PUT'] })
})

test('[restored.4] without an answer nothing is sent, and the outcome is unknown', async () => {
  const { answer, calls } = await ordered({ kind: 'NOT_SENT', reason: 'ECONNREFUSED' } as never)
  assert.deepEqual(calls, ['GET'])
  assert.partialDeepStrictEqual(answer, { kind: 'UNKNOWN', reason: 'ECONNREFUSED' })
})

test('[restored.4] without a restore, and once another attempt may have arrived, the bank is not asked first', async () => {
  assert.deepEqual((await ordered({ kind: 'FINAL' }, {}, () => false)).calls, ['PUT'])
  assert.deepEqual((await ordered({ kind: 'FINAL' }, { attempts: 2 })).calls, ['PUT'])
  assert.deepEqual((await ordered({ kind: 'FINAL' }, { attempts: 2, unsentAttempts: 1 })).calls, ['GET'])
})
