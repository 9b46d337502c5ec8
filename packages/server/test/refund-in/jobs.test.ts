import assert from 'node:assert/strict'
import test from 'node:test'
import type { Availability, Refund, RefundPartner, RefundQueryAnswer, RefundStatus } from '../../src/banks/port.ts'
import { createRefundInJobs, inputsOfRefund } from '../../src/refund-in/jobs.ts'
import type { RefundIn, RefundInInput } from '../../src/refund-in/refund-in.ts'
import { NOW } from '../cash-in/situations.ts'
import { confirmed, REFUND_ID, refundAs } from './situations.ts'

function answered<Status extends RefundStatus>(status: Status, given: Partial<Refund> = {}): Refund<Status> {
  return {
    id: REFUND_ID,
    transactionId: 'tx-r',
    valueCents: 30_00n,
    returnId: undefined,
    errorCode: undefined,
    errorMessage: undefined,
    occurredAt: undefined,
    ...given,
    status,
  }
}

const LEFT = { returnId: 'D1', occurredAt: NOW - 1_000 }
const ACCEPTED = { kind: 'ACCEPTED', refund: answered('PROCESSING') } as const
const SETTLED = { kind: 'FINAL', refund: { ...answered('CONFIRMED'), ...LEFT } } as const
const FAILED = { kind: 'FINAL', refund: answered('FAILED', { errorCode: 'AC07', occurredAt: NOW }) } as const
const TIMEOUT = { kind: 'UNKNOWN', reason: 'timeout', httpStatus: undefined } as const

const accepted: RefundInInput = { on: 'send.accepted', transactionId: 'tx-r' }
const failed: RefundInInput = {
  on: 'partner.failed',
  errorCode: 'AC07',
  errorMessage: null,
  transactionId: 'tx-r',
  occurredAt: NOW,
  isVerified: true,
}

test('[P5] an answer by which the bank has the refund is what the refund is given', () => {
  assert.deepEqual(inputsOfRefund(REFUND_ID, ACCEPTED), [accepted])
  assert.deepEqual(inputsOfRefund(REFUND_ID, SETTLED), [accepted, confirmed()])
  assert.deepEqual(inputsOfRefund(REFUND_ID, FAILED), [failed])
})

test('[P7] [refund-in.doubt.1] of an answer that contradicts, money of ours that left counts; another refund’s does not', () => {
  const inputs = (refund: Refund) =>
    inputsOfRefund(REFUND_ID, { kind: 'CONTRADICTED', reason: 'other valueCents', refund })
  const contradicted = [{ on: 'send.contradicted', reason: 'other valueCents', transactionId: 'tx-r' }]
  assert.deepEqual(inputs(answered('CONFIRMED', { ...LEFT, valueCents: 29_99n })), [confirmed({ valueCents: 29_99n })])
  assert.deepEqual(inputs(answered('CONFIRMED', { valueCents: 29_99n })), contradicted)
  assert.deepEqual(inputs(answered('PROCESSING', { valueCents: 29_99n })), contradicted)
  const foreign = inputs(answered('CONFIRMED', { ...LEFT, id: 'another' }))
  assert.deepEqual(foreign, [{ on: 'send.contradicted', reason: 'other valueCents', transactionId: null }])
})

/** A bank that answers by script, and one refund that is due. */
function bench(
  refund: RefundIn,
  sends: number,
  capabilities: RefundPartner['capabilities'] = new Set(),
  isEnabled = true,
  isNearRestore = false,
  answer: RefundQueryAnswer = { kind: 'NOT_FOUND' },
) {
  const [asked, inputs]: [string[], RefundInInput[]] = [[], []]
  let now = NOW
  const clock = { now: () => now, advance: (ms: number) => (now += ms) }
  const partner: RefundPartner & Availability = {
    capabilities,
    idempotencyWindowMs: 86_400_000,
    allowedSends: () => sends,
    sendRefund: async (id, request, window) => {
      assert.equal(typeof window?.isOver, 'function', 'until when it may leave')
      asked.push(`PUT ${id} ${JSON.stringify({ ...request, valueCents: Number(request.valueCents) })}`)
      return ACCEPTED
    },
    getRefund: async (id, terms) => {
      assert.deepEqual(terms, { valueCents: 3_000n, endToEndId: 'E1' })
      asked.push(`GET ${id}`)
      return answer
    },
  }
  const jobs = createRefundInJobs({
    partner,
    clock,
    isAskedFirst: () => isNearRestore,
    bounds: { callTimeoutMs: 3_000, eventQueries: { take: (wanted) => wanted } },
    commands: {
      apply: async (_id, given) => {
        inputs.push(...given)
        // A claim is dated when it is made.
        const claimed = { ...refund, facts: { ...refund.facts, lastAttemptAt: NOW } }
        return { result: 'APPLIED', refund: given.some(({ on }) => on === 'send.claimed') ? claimed : refund }
      },
    },
    store: {
      isEnabled: async () => isEnabled,
      due: async (_at, _most, isSending) => {
        asked.push(`due ${isSending}`)
        return [refund]
      },
    },
  })
  return { jobs, asked, inputs, clock }
}

test('[refund-in.states.2] [CO-40] every attempt asks for the same, under its order id, after it was claimed', async () => {
  const refund = refundAs('PENDING', { facts: {}, detail: { ...refundAs('PENDING').detail, reason: 'returned' } })
  const { jobs, asked, inputs } = bench(refund, 128)
  await jobs.processNext()
  const request = { valueCents: 3000, endToEndId: 'E1', reason: 'returned' }
  assert.deepEqual(asked, ['due true', `PUT ${refund.orderId} ${JSON.stringify(request)}`])
  assert.deepEqual(inputs, [{ on: 'send.claimed', leaseMs: 5_500 }, accepted])
})

test('[restored.4] a refund of which the bank says nothing is not released, and queried once a minute', async () => {
  const old = refundAs('PENDING', { facts: {}, createdAt: NOW - 25 * 3_600_000 })
  const { jobs, asked, inputs, clock } = bench(old, 0, new Set(['query-refund']), false, true, TIMEOUT)
  for (let second = 0; second < 120; second += 1) {
    await jobs.processNext()
    clock.advance(1_000)
  }
  assert.equal(asked.filter((call) => call.startsWith('GET')).length, 2)
  assert.deepEqual(inputs, [])
})

test('[restored.4] after a restore a refund that looks as if it was never sent is released once the bank does not have it', async () => {
  const old = refundAs('PENDING', { facts: {}, createdAt: NOW - 25 * 3_600_000 })
  for (const isNearRestore of [false, true]) {
    const { jobs, asked, inputs } = bench(old, 0, new Set(['query-refund']), false, isNearRestore)
    await jobs.processNext()
    assert.deepEqual(asked, ['due false', ...(isNearRestore ? [`GET ${old.orderId}`] : [])])
    assert.deepEqual(inputs, [{ on: 'clock.released' }])
  }
})

test('[refund-in.work.4] while the bank is not called no refund is claimed for sending', async () => {
  const { jobs, asked, inputs } = bench(refundAs('PENDING', { facts: {} }), 0)
  await jobs.processNext()
  assert.deepEqual([asked, inputs], [['due false'], []])
})

test('[refund-in.work.4] [operator.switch.2] while the switch is off no refund is claimed for sending', async () => {
  const { jobs, asked, inputs } = bench(refundAs('PENDING', { facts: {} }), 128, new Set(), false)
  await jobs.processNext()
  assert.deepEqual([asked, inputs], [['due false'], []])
})

test('[refund-in.unknown.2] [refund-in.unknown.3] only a bank that executes a repeated order once is sent it again', async () => {
  for (const isIdempotent of [true, false]) {
    const due = refundAs('PENDING')
    const { jobs, asked, inputs } = bench(due, 128, new Set(isIdempotent ? ['idempotent-refund'] : []))
    await jobs.processNext()
    const windowMs = isIdempotent ? 86_400_000 : 0
    const again = { askedAt: due.updatedAt, windowMs, setBackAt: undefined }
    assert.deepEqual(inputs.slice(1), [
      { on: 'partner.not_found', windowMs, askedAt: due.updatedAt },
      { on: 'work.done' },
      ...(isIdempotent ? [{ on: 'send.claimed', leaseMs: 5_500, again }, accepted] : []),
    ])
    assert.equal(asked.filter((call) => call.startsWith('PUT')).length, isIdempotent ? 1 : 0)
  }
})
