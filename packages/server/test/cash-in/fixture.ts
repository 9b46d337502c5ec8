import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { buildDynamicBrCode } from '@pixgate/brcode'
import { pino } from 'pino'
import { createEventQueryBudget, type EventQueryBudget } from '../../src/banks/event-query-budget.ts'
import type {
  CancelAnswer,
  Charge,
  ChargeAnswer,
  ChargeAvailability,
  ChargePartner,
  ChargeQueryAnswer,
  ChargeStatus,
  ChargeTerms,
} from '../../src/banks/port.ts'
import type { CashIn, CashInFacts, CashInInput } from '../../src/cash-in/cash-in.ts'
import { createCashInCommands, createCashInStore } from '../../src/cash-in/commands.ts'
import { type CashInJobs, createCashInJobs } from '../../src/cash-in/jobs.ts'
import { createEngine } from '../../src/engine/engine.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { createIds } from '../../src/platform/ids.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { administer, openTestDatabase, testDatabase } from '../support/database.ts'
import { cashInRequest, payment, TERMS } from '../support/engine.ts'
import { type SteppedClock, steppedClock } from '../support/stepped-clock.ts'
import { EXPIRES_AT } from './situations.ts'

/** What banks answer. */

export const PIX_CODE = buildDynamicBrCode({
  url: 'bank.example/qr/1',
  merchantName: 'Loja',
  merchantCity: 'SAO PAULO',
})

/** A charge as a bank tells it. */
export function charge<Status extends ChargeStatus>(status: Status, given: Partial<Charge> = {}): Charge<Status> {
  const asked = { id: 'id', valueCents: 100_00n, expiresAt: EXPIRES_AT }
  return { ...asked, transactionId: 'tx', pixCode: PIX_CODE, payments: [], ...given, status }
}

export const ACCEPTED = { kind: 'ACCEPTED', charge: charge('ACTIVE') } as const
export const PAID = {
  kind: 'FINAL',
  charge: charge('PAID', { payments: [payment({ endToEndId: 'E1' })] }),
} as const
export const ENDED = { kind: 'FINAL', charge: charge('FAILED') } as const
export const CONTRADICTED = { kind: 'CONTRADICTED', reason: 'other valueCents', charge: charge('ACTIVE') } as const
export const REJECTED = { kind: 'REJECTED', errorCode: 'limit', errorMessage: 'too much' } as const
export const NOT_FOUND = { kind: 'NOT_FOUND' } as const
export const TIMEOUT = { kind: 'UNKNOWN', reason: 'timeout', httpStatus: undefined } as const
export const UNREACHABLE = { kind: 'NOT_SENT', reason: 'ECONNREFUSED' } as const
export const CANCELLED = { kind: 'CANCELLED' } as const

/** A bank that answers by script and notes what it was asked. */
export interface ScriptedPartner extends ChargePartner, ChargeAvailability {
  /** `PUT`, `GET` or `DELETE`, in order. */
  readonly asked: string[]
  create: ChargeAnswer
  query: ChargeQueryAnswer
  cancel: CancelAnswer
  /** Looks around while the bank is being called. */
  whileCalled: () => Promise<void>
}

/** One cash-in, the jobs that work on it, and a bank: no HTTP, and a clock that is stepped. */
export interface CashInFixture {
  readonly database: Database
  readonly clock: SteppedClock
  readonly jobs: CashInJobs
  readonly partner: ScriptedPartner
  readonly budget: EventQueryBudget
  /** One input after the other. */
  apply(...inputs: CashInInput[]): Promise<void>
  /** All inputs in one batch. */
  applyTogether(...inputs: CashInInput[]): Promise<void>
  /** Makes so many more charges that live for a minute. */
  stock(count: number): Promise<void>
  /** Lets all charges know these returns, and be due. */
  knows(returns: CashInFacts['returns']): Promise<void>
  /** Puts the clock forward, then does what is due. */
  later(ms: number): Promise<void>
  read(): Promise<CashIn>
}

/** Opens one, with a charge of R$ 100,00 that lives for a minute, or as long as is said here, and that no bank was asked for yet. */
export async function cashInFixture(
  t: TestContext,
  answers: Partial<ScriptedPartner> = {},
  expirationSeconds = 60,
  settle: (cashIn: CashIn) => Promise<void> = async () => assert.fail(),
): Promise<CashInFixture> {
  const { url, database } = await testDatabase(t)
  const connection = openTestDatabase(url, 1)
  t.after(() => connection.close())
  const clock = steppedClock()
  const ids = createIds(clock)
  const logger = pino({ level: 'silent' })
  const engine = createEngine({ database: connection, clock, ids, pause: realPause, logger })
  const commands = createCashInCommands(engine, clock, TERMS)
  const store = createCashInStore(database)
  const partner = scriptedPartner(answers)
  const budget = createEventQueryBudget()
  const jobs = createCashInJobs({
    commands,
    store,
    partner,
    clock,
    pause: realPause,
    createBudgetMs: 500,
    returns: { take: async () => assert.fail(), settle },
    eventQueries: budget,
    logger: pino({ level: 'silent' }),
  })
  const create = (externalId: string) =>
    commands.create(cashInRequest({ id: ids.uuid(), externalId, expirationSeconds }))
  const { id } = (await create('a')).cashIn
  return {
    database,
    clock,
    jobs,
    partner,
    budget,
    apply: async (...inputs) => {
      for (const input of inputs) await commands.apply(id, input)
    },
    applyTogether: async (...inputs) => {
      await Promise.all(inputs.map((input) => commands.apply(id, input)))
    },
    stock: async (count) => {
      await Promise.all(Array.from({ length: count }, (_, index) => create(`more-${index}`)))
    },
    knows: (returns) =>
      administer(
        url,
        `UPDATE operation SET facts = facts || '${JSON.stringify({ returns })}', due_at = clock_timestamp(),
                version = version + 1`,
      ),
    later: async (ms) => {
      clock.advance(ms)
      await jobs.processNext()
    },
    read: async () => {
      const cashIn = await store.get(id)
      assert.ok(cashIn)
      return cashIn
    },
  }
}

/** The end of a charge is that which was asked for, where a test says nothing else. */
function echoed<Answer extends ChargeAnswer | ChargeQueryAnswer>(answer: Answer, { expiresAt }: ChargeTerms): Answer {
  if (!('charge' in answer) || answer.charge.expiresAt !== EXPIRES_AT) return answer
  return { ...answer, charge: { ...answer.charge, expiresAt } }
}

function scriptedPartner(answers: Partial<ScriptedPartner>): ScriptedPartner {
  const partner: ScriptedPartner = {
    capabilities: new Set(['charge', 'idempotent-charge', 'query-charge', 'cancel-charge', 'statement']),
    allowedCharges: () => Number.POSITIVE_INFINITY,
    asked: [],
    create: ACCEPTED,
    query: ACCEPTED,
    cancel: CANCELLED,
    whileCalled: async () => undefined,
    createCharge: async (_, terms) => {
      partner.asked.push('PUT')
      await partner.whileCalled()
      return echoed(partner.create, terms)
    },
    getCharge: async (_, terms) => {
      partner.asked.push('GET')
      await partner.whileCalled()
      return echoed(partner.query, terms)
    },
    cancelCharge: async () => {
      partner.asked.push('DELETE')
      await partner.whileCalled()
      return partner.cancel
    },
    ...answers,
  }
  return partner
}
