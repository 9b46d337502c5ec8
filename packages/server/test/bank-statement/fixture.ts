import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { createStatementModule, type StatementModule } from '../../src/bank-statement/index.ts'
import { lacking } from '../../src/banks/bank.ts'
import type { StatementAnswer, StatementEntry, StatementPartner, StatementQuery } from '../../src/banks/port.ts'
import type { CashIn, CashInInput } from '../../src/cash-in/cash-in.ts'
import { type CashInCommands, createCashInCommands, createCashInStore } from '../../src/cash-in/commands.ts'
import type { CashOutInput } from '../../src/cash-out/cash-out.ts'
import { type CashOutCommands, createCashOutCommands } from '../../src/cash-out/commands.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { createIds, type Ids } from '../../src/platform/ids.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import type { Logger } from '../../src/platform/log.ts'
import { createRefundInCommands, createRefundInStore, type RefundInCommands } from '../../src/refund-in/commands.ts'
import { TERMS as CASH_OUT_TERMS } from '../cash-out/situations.ts'
import { openTestDatabase, testDatabase } from '../support/database.ts'
import { cashInRequest, TERMS } from '../support/engine.ts'
import { refundTerms } from '../support/limits.ts'
import { type SteppedClock, steppedClock } from '../support/stepped-clock.ts'

/** A bank's statement by script: what it answers, and what it was asked. */
export interface ScriptedStatement extends StatementPartner {
  readonly asked: StatementQuery[]
  answer: (query: StatementQuery) => StatementAnswer | Promise<StatementAnswer>
}

/** Charges, and processes that read a scripted statement: no HTTP, and a clock that is stepped. */
export interface StatementFixture {
  readonly url: string
  readonly database: Database
  readonly clock: SteppedClock
  readonly bank: ScriptedStatement
  /** Work of one process. */
  readonly statements: StatementModule
  /** Another process. */
  readonly others: StatementModule
  /** A process at another bank. */
  processOf(partner: ScriptedStatement): StatementModule
  readonly engine: Engine
  readonly ids: Ids
  readonly refunds: RefundInCommands
  readonly cashOuts: CashOutCommands
  /** Takes back the credit of a charge. */
  readonly reversal: CashInCommands['reversal']
  /** Lets a charge take an input from elsewhere. */
  apply(id: string, input: CashInInput): Promise<unknown>
  /** Makes a charge, of R$ 100,00 where no value is given. */
  charge(valueCents?: bigint): Promise<CashIn>
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
  /** The clock moves only when it is put forward. */
  readonly stands?: boolean
}

/** Opens one, on a statement without entries. */
export async function statementFixture(
  t: TestContext,
  logger: Logger = SILENT,
  { isAccountShared = false, stands = false }: FixtureOptions = {},
): Promise<StatementFixture> {
  const { url, database } = await testDatabase(t)
  const connection = openTestDatabase(url, 1)
  t.after(() => connection.close())
  const clock = steppedClock({ stands })
  const ids = createIds(clock)
  const engine = createEngine({ database: connection, clock, ids, pause: realPause, logger })
  const commands = createCashInCommands(engine, clock, TERMS)
  const store = createCashInStore(database)
  const bank = scriptedStatement()
  const refunds = createRefundInCommands({ engine, store: createRefundInStore(database), ids, terms: refundTerms() })
  const cashOuts = createCashOutCommands(engine, CASH_OUT_TERMS)
  const base = { engine, database, clock, ids, logger, isAccountShared }
  const processOf = (partner: ScriptedStatement) =>
    createStatementModule({
      ...base,
      partner,
      cashIns: commands,
      cashOuts: payoutsOf(cashOuts),
      refunds: returnsOf(refunds),
    })
  const statements = processOf(bank)
  const sweep = async () => {
    while (await statements.processNext());
  }
  let charges = 0
  return {
    url,
    database,
    engine,
    ids,
    refunds,
    cashOuts,
    reversal: commands.reversal,
    clock,
    bank,
    statements,
    others: processOf(bank),
    processOf,
    charge: async (valueCents = 100_00n) => {
      charges += 1
      const request = cashInRequest({ id: ids.uuid(), externalId: `order-${charges}`, valueCents })
      return (await commands.create(request)).cashIn
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

function payoutsOf({ apply, command }: CashOutCommands) {
  return {
    apply: (id: string, input: CashOutInput) => apply(id, [input]),
    command: async (id: string, input: CashOutInput) => command(id, [input]),
  }
}

/** No refund is ordered here; what the bank gives back by itself is. */
function returnsOf({ applyReturn, returnCommand }: RefundInCommands) {
  return {
    apply: nothing,
    command: nothing,
    applyReturn: async (...given: Parameters<typeof applyReturn>) => ({ result: await applyReturn(...given) }),
    returnCommand,
  }
}

/** A bank without entries. */
function scriptedStatement(): ScriptedStatement {
  const bank: ScriptedStatement = {
    capabilities: new Set(['statement']),
    statementDelayMs: lacking.statementDelayMs,
    asked: [],
    answer: () => pageOf([]),
    readStatement: async (query) => {
      bank.asked.push(query)
      return bank.answer(query)
    },
  }
  return bank
}

/** A payment of a charge; what a test cares about is given. */
export function paymentOf(
  { orderId, valueCents, createdAt }: CashIn,
  endToEndId: string,
  given: Partial<StatementEntry> = {},
): StatementEntry {
  const movement = { movementId: endToEndId, endToEndId, reference: orderId, valueCents, occurredAt: createdAt + 1_000 }
  return { kind: 'PAYMENT_RECEIVED', direction: 'in', ...movement, ...given }
}

/** A page with these entries. */
export function pageOf(entries: readonly StatementEntry[], nextCursor: string | null = null): StatementAnswer {
  return { kind: 'READ', page: { entries, nextCursor } }
}
