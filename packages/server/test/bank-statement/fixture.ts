import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { createStatementModule, type StatementModule } from '../../src/bank-statement/index.ts'
import { createTripWireStore, type TripWireStore } from '../../src/bank-statement/trip-wire/store.ts'
import type {
  BalanceAnswer,
  StatementAnswer,
  StatementEntry,
  StatementPartner,
  StatementQuery,
} from '../../src/banks/port.ts'
import type { CashIn, CashInInput } from '../../src/cash-in/cash-in.ts'
import { createCashInCommands } from '../../src/cash-in/commands.ts'
import { createCashInStore } from '../../src/cash-in/store.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { createIds, type Ids } from '../../src/platform/ids.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import type { Logger } from '../../src/platform/log.ts'
import { createRefundInCommands, type RefundInCommands } from '../../src/refund-in/commands.ts'
import { createRefundInStore } from '../../src/refund-in/store.ts'
import { openTestDatabase, testDatabase } from '../support/database.ts'
import { cashInRequest, TERMS } from '../support/engine.ts'
import { limitsOf } from '../support/limits.ts'
import { type SteppedClock, steppedClock } from '../support/stepped-clock.ts'

/** A bank's statement by script: what it answers, and what it was asked. */
export interface ScriptedStatement extends StatementPartner {
  readonly asked: StatementQuery[]
  answer: (query: StatementQuery) => StatementAnswer | Promise<StatementAnswer>
  /** What it says of the balance; only a bank that was made with one is asked. */
  balance: () => BalanceAnswer
  readBalance(): Promise<BalanceAnswer>
}

/** Charges, and processes that read a scripted statement: no HTTP, and a clock that is stepped. */
export interface StatementFixture {
  readonly database: Database
  readonly clock: SteppedClock
  readonly bank: ScriptedStatement
  /** What one process does. */
  readonly statements: StatementModule
  /** Another process. */
  readonly others: StatementModule
  /** A process at another bank. */
  processOf(partner: StatementPartner): StatementModule
  readonly engine: Engine
  readonly ids: Ids
  readonly store: TripWireStore
  readonly refunds: RefundInCommands
  /** Lets a charge take an input from elsewhere. */
  apply(id: string, input: CashInInput): Promise<unknown>
  /** Makes a charge of R$ 100,00. */
  charge(): Promise<CashIn>
  read(id: string): Promise<CashIn | undefined>
  /** Reads until nothing is due. */
  sweep(): Promise<void>
  /** Puts the clock forward by a minute, then reads, so often. */
  minutes(count: number): Promise<void>
}

const nothing = async () => undefined

const SILENT = pino({ level: 'silent' })

/** In what it differs from the ordinary one. */
export interface FixtureOptions {
  readonly isAccountShared?: boolean
  readonly hasBalance?: boolean
}

/** Opens one, on a statement without entries. */
export async function statementFixture(
  t: TestContext,
  logger: Logger = SILENT,
  { isAccountShared = false, hasBalance = false }: FixtureOptions = {},
): Promise<StatementFixture> {
  const { url, database } = await testDatabase(t)
  const connection = openTestDatabase(url, 1)
  t.after(() => connection.close())
  const clock = steppedClock()
  const ids = createIds(clock)
  const engine = createEngine({ database: connection, clock, ids, pause: realPause, logger })
  const commands = createCashInCommands(engine, clock, TERMS)
  const store = createCashInStore(database)
  const bank = scriptedStatement(hasBalance)
  const refunds = createRefundInCommands({ engine, store: createRefundInStore(database), ids, limits: limitsOf() })
  const base = { engine, database, clock, ids, logger, isAccountShared }
  const processOf = (partner: StatementPartner) =>
    createStatementModule({
      ...base,
      partner,
      cashIns: { apply: commands.apply },
      cashOuts: { apply: nothing },
      refunds: { apply: nothing, applyReturn: async (...told) => ({ result: await refunds.applyReturn(...told) }) },
    })
  const statements = processOf(bank)
  const sweep = async () => {
    while (await statements.processNext());
  }
  let charges = 0
  return {
    database,
    engine,
    ids,
    refunds,
    store: createTripWireStore(database),
    clock,
    bank,
    statements,
    others: processOf(bank),
    processOf,
    charge: async () => {
      charges += 1
      return (await commands.create(cashInRequest({ id: ids.uuid(), externalId: `order-${charges}` }))).cashIn
    },
    apply: commands.apply,
    read: store.get,
    sweep,
    minutes: async (count) => {
      for (let minute = 0; minute < count; minute += 1) {
        clock.advance(60_000)
        await sweep()
      }
    },
  }
}

/** A bank without entries, and, where it has a balance, one that nobody tells. */
function scriptedStatement(hasBalance: boolean): ScriptedStatement {
  const bank: ScriptedStatement = {
    capabilities: new Set(hasBalance ? ['statement', 'balance'] : ['statement']),
    asked: [],
    answer: () => pageOf([]),
    readStatement: async (query) => {
      bank.asked.push(query)
      return bank.answer(query)
    },
    balance: () => ({ kind: 'UNKNOWN', reason: 'nobody said', httpStatus: undefined }),
    readBalance: async () => bank.balance(),
  }
  return bank
}

/** A payment of a charge; what a test cares about is given. */
export function paymentOf(
  { id, valueCents, createdAt }: CashIn,
  endToEndId: string,
  given: Partial<StatementEntry> = {},
): StatementEntry {
  const movement = { movementId: endToEndId, endToEndId, reference: id, valueCents, occurredAt: createdAt + 1_000 }
  return { kind: 'PAYMENT_RECEIVED', direction: 'in', ...movement, ...given }
}

/** A page with these entries, on balances that these entries, or those of the whole window, account for. */
export function pageOf(
  entries: readonly StatementEntry[],
  nextCursor: string | null = null,
  all: readonly StatementEntry[] = entries,
): StatementAnswer {
  const closingCents = all.reduce(
    (sum, { direction, valueCents }) => (direction === 'in' ? sum + valueCents : sum - valueCents),
    0n,
  )
  return { kind: 'READ', page: { entries, openingCents: 0n, closingCents, nextCursor } }
}
