import assert from 'node:assert/strict'
import test from 'node:test'
import { type AccountCode, accounts } from '@pixgate/spec'
import fc from 'fast-check'
import type { CashOut, CashOutInput, CashOutOutcome } from '../../src/cash-out/cash-out.ts'
import { reasonOf } from '../../src/engine/follow.ts'
import type { Decision, Journal } from '../../src/engine/operation.ts'
import { entriesOf } from '../../src/engine/postings.ts'
import { CREATED_AT, cashOutAs, confirmed, decide, INPUTS, returned, stateOf } from './situations.ts'

const { 'partner.confirmed': _, 'partner.returned': __, ...OTHERS } = INPUTS
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The bank was asked, and takes a repeat for so long. */
function sentAgain(windowMs: number): CashOutInput {
  return { ...INPUTS['send.claimed'], again: { askedAt: CREATED_AT, windowMs } }
}

/** What the bank says of the money: often the same, restated, more than there was, or of another time. */
const movement = fc
  .tuple(fc.constantFrom('E1', 'E1', 'E2'), fc.constantFrom(30_00n, 30_00n, 29_00n), fc.boolean())
  .map(([endToEndId, valueCents, isVerified]) =>
    confirmed({ endToEndId, valueCents, occurredAt: CREATED_AT }, isVerified),
  )
const comingBack = fc
  .tuple(fc.constantFrom('D1', 'D2', 'D3'), fc.constantFrom(10_00n, 20_00n, 30_00n), fc.boolean())
  .map(([returnId, valueCents, isVerified]) => returned({ returnId, valueCents, occurredAt: CREATED_AT }, isVerified))
const anything = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom<CashOutInput>(...Object.values(OTHERS)) },
  { weight: 2, arbitrary: fc.constant<CashOutInput>({ ...INPUTS['partner.failed'], isVerified: false }) },
  { weight: 3, arbitrary: fc.constant<CashOutInput>({ on: 'partner.not_found', windowMs: 0, askedAt: 0 }) },
  { weight: 3, arbitrary: fc.constant<CashOutInput>({ on: 'partner.not_found', windowMs: 0, askedAt: CREATED_AT }) },
  { weight: 2, arbitrary: fc.constantFrom<CashOutInput>(sentAgain(0), sentAgain(HOUR), sentAgain(DAY)) },
  { weight: 2, arbitrary: fc.constant<CashOutInput>({ ...INPUTS['send.rejected'], attempt: 2 }) },
  { weight: 2, arbitrary: movement },
  { weight: 2, arbitrary: comingBack },
)

/** What happens, how long after the thing before it, and what the merchant has left for other purposes by then. */
const anyStep = fc.record({
  afterMs: fc.constantFrom(0, 1_000, MINUTE, 5 * MINUTE, 30 * MINUTE, DAY),
  inputs: fc.array(anything, { minLength: 1, maxLength: 3 }),
  spends: fc.constantFrom(0n, 0n, 15_00n, 100_00n),
})

/** Everything that was written since the payout was made, and what the bank proved on the way. */
class History {
  readonly balances = new Map<AccountCode, bigint>([['available', 81_00n]])
  readonly journals: Journal[] = []
  readonly notified: string[] = []
  readonly cases: string[] = []
  readonly unsent = new Set<number>()
  attempts = 0
  firstAttemptAt = 0
  lastAttemptAt = 0
  wasAccepted = false
  wasRefused = false
  notFoundAt: number[] = []

  balance(code: AccountCode): bigint {
    return this.balances.get(code) ?? 0n
  }

  apply({ journals = [], notifications = [], cases = [] }: Decision<CashOutOutcome>): void {
    for (const journal of journals) this.post(journal)
    this.notified.push(
      ...notifications.map(({ eventType, status, reference }) => `${eventType} ${status} ${reference}`),
    )
    this.cases.push(...cases.map(({ kind }) => kind))
  }

  post(journal: Journal): void {
    this.journals.push(journal)
    for (const { account, amountCents } of entriesOf(journal)) {
      const after = this.balance(account) + amountCents
      this.balances.set(account, after)
      if (accounts[account].bound === 'not negative') assert.ok(after >= 0n, `${account} stays at zero or above`)
    }
  }

  spend(cents: bigint): void {
    const free = this.balance('available')
    this.balances.set('available', free - (free < cents ? free : cents))
  }

  count(...kinds: string[]): number {
    return this.journals.filter(({ kind }) => kinds.includes(kind)).length
  }

  /** Whether the bank, time or that nothing was tried proves that nothing left: told from what happened, not from what the payout knows. */
  isProof(input: CashOutInput, nowMs: number): boolean {
    switch (input.on) {
      case 'send.rejected':
        return this.attempts - this.unsent.size <= 1
      case 'partner.failed':
        return input.isVerified
      case 'clock.released':
        if (this.attempts === 0) return nowMs - CREATED_AT >= DAY
        return this.unsent.size === this.attempts && nowMs - this.firstAttemptAt >= 30 * MINUTE && !this.wasAccepted
      case 'operator.refused':
        return this.attempts === 0
      case 'partner.not_found':
        return !this.#isRepeatable(input.windowMs, nowMs) && this.#isNotThere([...this.notFoundAt, nowMs])
      default:
        return false
    }
  }

  /** Whether no attempt is at the bank or on its way there, or the bank takes another one for the same. */
  mayBeSent({ again }: Extract<CashOutInput, { on: 'send.claimed' }>, nowMs: number): boolean {
    if (this.unsent.size === this.attempts) return true
    return again !== undefined && this.#isRepeatable(again.windowMs, nowMs)
  }

  #isRepeatable(windowMs: number, nowMs: number): boolean {
    return !this.wasAccepted && !this.wasRefused && nowMs - this.firstAttemptAt < windowMs
  }

  #isNotThere(notFoundAt: readonly number[]): boolean {
    const [first = 0, last = 0] = [notFoundAt.at(0), notFoundAt.at(-1)]
    return !this.wasAccepted && last - first >= MINUTE && last - this.lastAttemptAt >= 5 * MINUTE
  }

  note(input: CashOutInput, { status, facts }: CashOut, nowMs: number): void {
    if (input.on === 'partner.not_found' && input.askedAt > 0) this.notFoundAt.push(nowMs)
    this.wasRefused ||= facts.refusal != null
    if (input.on === 'send.accepted' && status !== 'RESERVED') this.wasAccepted ||= facts.isAccepted === true
    if (input.on !== 'send.claimed' || (facts.attempts ?? 0) === this.attempts) return
    this.attempts += 1
    this.lastAttemptAt = nowMs
    if (this.attempts === 1) this.firstAttemptAt = nowMs
    this.notFoundAt = []
  }
}

test('[P6] [cash-out.unknown.3] [cash-out.approval.11] [cash-out.states] whatever happens in whatever order, money is freed by proof only, and once', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 12 }), (steps) => {
      const history = new History()
      history.post({ operationId: 'id', kind: 'cash_out_reserved', reference: '', amounts: { v: 30_00n, f: 1_00n } })
      let cashOut = cashOutAs('RESERVED', { version: 1, dueAt: CREATED_AT })
      let nowMs = CREATED_AT
      for (const { afterMs, inputs, spends } of steps) {
        nowMs += afterMs
        history.spend(spends)
        for (const input of inputs) cashOut = step(cashOut, possible(input, cashOut, history, nowMs), nowMs, history)
      }
      assertBooked(cashOut, history)
    }),
    { numRuns: 10_000 },
  )
})

/** Of an attempt it is told once that it did not leave. */
function possible(input: CashOutInput, { facts }: CashOut, { unsent }: History, nowMs: number): CashOutInput {
  // What is asked is asked now; but for an answer from before everything.
  if (input.on === 'partner.not_found' && input.askedAt > 0) return { ...input, askedAt: nowMs }
  if (input.on === 'send.claimed' && input.again) return { ...input, again: { ...input.again, askedAt: nowMs } }
  if (input.on !== 'send.not_sent') return input
  const attempt = facts.attempts ?? 0
  if (attempt === 0 || unsent.has(attempt)) return INPUTS['work.requested']
  unsent.add(attempt)
  return { ...input, attempt }
}

function step(before: CashOut, input: CashOutInput, nowMs: number, history: History): CashOut {
  const decision = decide(before, input, nowMs, stateOf({ available: history.balance('available') }))
  const { outcome, moves = [], journals = [] } = decision
  const after = outcome.cashOut
  if (outcome.result !== 'APPLIED') assert.equal(after, before)
  assert.equal(after.version, before.version + moves.length)
  if (journals.some(({ kind }) => kind === 'cash_out_released')) {
    assert.ok(history.isProof(input, nowMs), `${before.status} is given back by ${input.on}`)
    assert.equal(after.exclusiveKey, null)
  }
  if (input.on === 'send.claimed' && outcome.result === 'APPLIED')
    assert.ok(history.mayBeSent(input, nowMs), 'no second order')
  history.note(input, after, nowMs)
  history.apply(decision)
  assertNotForgotten(after, history)
  return after
}

/** Nothing that is open waits for ever: a worker looks at it, or a person. */
function assertNotForgotten({ status, dueAt, facts }: CashOut, { cases }: History): void {
  const isOpen =
    ['RESERVED', 'DISPATCHED', 'PROVIDER_RESULT_UNKNOWN'].includes(status) || reasonOf({ facts }) === 'no_answer'
  if (isOpen) assert.notEqual(dueAt, null)
  if (status !== 'RECONCILIATION_REQUIRED') return
  assert.ok(cases.length > 0)
  assert.ok(reasonOf({ facts }))
}

function assertBooked({ status, facts, valueCents, feeCents }: CashOut, history: History): void {
  const hold = valueCents + feeCents
  const isSettled = history.count('cash_out_confirmed', 'cash_out_released')
  assert.ok(isSettled <= 1, 'a hold ends once')
  const hasLeftLate = history.count('cash_out_released') === 1 && Object.values(facts.movements ?? {}).includes(30_00)
  assert.equal(history.count('left_after_release'), Number(hasLeftLate), 'what is there is held again, once')
  assert.equal(history.balance('reserved'), isSettled ? BigInt(facts.heldAgainCents ?? 0) : hold)
  assert.equal(history.count('cash_out_confirmed'), Number(facts.confirmedAt !== undefined))
  if (['CONFIRMED', 'REVERSED'].includes(status)) assert.equal(history.count('cash_out_confirmed'), 1)
  if (['FAILED', 'RELEASED'].includes(status)) assert.equal(history.count('cash_out_released'), 1)

  const sum = (booked: Readonly<Record<string, number>> = {}) =>
    Object.values(booked).reduce((cents, more) => cents + BigInt(more), 0n)
  const cameBack = sum(facts.returns) + sum(facts.suspendedReturns)
  const tariff = BigInt(facts.tariffCents ?? 0) + sum(facts.moreTariffs)
  assert.equal(history.balance('partner_fees'), -tariff, 'the bank took it once')
  const moved = sum(facts.movements) - cameBack + tariff
  assert.equal(history.balance('settlement'), moved, 'what is known to have moved is booked')
  assert.ok(sum(facts.returns) <= valueCents)

  assert.equal(new Set(history.notified).size, history.notified.length, 'nothing is told twice')
  const ends = history.notified.filter((notified) => notified.startsWith('pix_cash_out '))
  assert.equal(ends.length, isSettled, 'each end is told, and nothing else')
}
