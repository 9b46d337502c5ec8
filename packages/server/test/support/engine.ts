import type { TestContext } from 'node:test'
import { pino } from 'pino'
import type { Payment } from '../../src/banks/port.ts'
import { type CashInCommands, type CashInRequest, createCashInCommands } from '../../src/cash-in/commands.ts'
import { createEngine, type Engine, type EngineBounds } from '../../src/engine/engine.ts'
import type { Command } from '../../src/engine/operation.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { createIds, type Ids } from '../../src/platform/ids.ts'
import { type Pause, realPause } from '../../src/platform/jobs/pause.ts'
import type { Logger } from '../../src/platform/log.ts'
import { openTestDatabase } from './database.ts'
import { INSTALLATION, MADE_BY } from './limits.ts'
import { type SteppedClock, steppedClock } from './stepped-clock.ts'
import { wallNow } from './wall-clock.ts'

/** An engine as one process has it: a connection, a cache and a clock of its own. */
export interface TestEngine {
  readonly engine: Engine
  readonly cashIns: CashInCommands
  readonly clock: SteppedClock
  readonly ids: Ids
}

/** Starts an engine on a test's database. */
export function testEngine(
  t: TestContext,
  url: string,
  bounds?: EngineBounds,
  pause: Pause = realPause,
  logger: Logger = pino({ level: 'silent' }),
  clock: SteppedClock = steppedClock(),
  through: (pool: Database) => Database = (pool) => pool,
): TestEngine {
  const database = openTestDatabase(url, 2)
  t.after(() => database.close())
  const ids = createIds(clock)
  const engine = createEngine({
    database: through(database),
    clock,
    ids,
    pause,
    logger,
    ...(bounds ? { bounds } : {}),
  })
  return { engine, clock, ids, cashIns: createCashInCommands(engine, clock, TERMS) }
}

/** The same on a database that is watched or fails, and with pauses in which somebody else is faster. */
export function testEngineThrough(
  t: TestContext,
  url: string,
  through: (pool: Database) => Database,
  jittered: () => Promise<unknown> = async () => undefined,
): TestEngine {
  const pause = { ...realPause, jittered: async () => void (await jittered()) }
  return testEngine(t, url, undefined, pause, undefined, undefined, through)
}

/** What the merchant of the tests has configured. */
export const TERMS = {
  installation: INSTALLATION,
  merchant: { pixKey: 'loja@example.com', name: 'Loja', city: 'Sao Paulo' },
  fee: { cents: 0n, basisPoints: 100n },
  maxValueCents: 100_000_00n,
}

/** The balances of a merchant to whom R$ 100,00 were credited, while another R$ 100,00 wait in suspense. */
export const CREDITED_AND_SUSPENDED = {
  available: 99_00n,
  settlement: -200_00n,
  fees: 1_00n,
  suspense_in: 100_00n,
}

/** A valid create; what a test cares about is given. */
export function cashInRequest(given: Partial<CashInRequest> & Pick<CashInRequest, 'id' | 'externalId'>): CashInRequest {
  return {
    valueCents: 100_00n,
    description: null,
    expirationSeconds: 3_600,
    generateQrCode: true,
    payer: null,
    correlationId: 'test',
    idempotencyKey: null,
    madeBy: MADE_BY,
    bodyHash: sha256(JSON.stringify([given.externalId, String(given.valueCents)])),
    ...given,
  }
}

/** A payment of a charge, just now. */
export function payment(given: Partial<Payment> & Pick<Payment, 'endToEndId'>): Payment {
  return {
    valueCents: 100_00n,
    occurredAt: wallNow(),
    payer: { name: 'Maria da Silva', document: '52998224725', ispb: '99999010' },
    ...given,
  }
}

/** Gives back a payout that has no fee, and with it what only one operation may hold. */
export function releasing(id: string, valueCents: bigint): Command<void> {
  return {
    reads: [id],
    decide: () => ({
      moves: [{ operationId: id, trigger: 'clock.released', to: 'RELEASED', givesUpExclusiveKey: true }],
      journals: [{ operationId: id, kind: 'cash_out_released', reference: '', amounts: { v: valueCents, f: 0n } }],
      notifications: [
        { operationId: id, eventType: 'pix_cash_out', status: 'FAILED', reference: '', body: Buffer.from('{}') },
      ],
      outcome: undefined,
    }),
  }
}
