import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Refusal } from '@pixgate/spec'
import { pino } from 'pino'
import type {
  Availability,
  PayoutAnswer,
  PayoutPartner,
  PayoutQueryAnswer,
  PayoutRequest,
  QrCodeAnswer,
  QrCodeAvailability,
  SendWindow,
} from '../../src/banks/port.ts'
import { createCashInCommands } from '../../src/cash-in/commands.ts'
import { type CashOutHandlers, createCashOutHandlers } from '../../src/cash-out/api.ts'
import type { CashOut } from '../../src/cash-out/cash-out.ts'
import {
  type CashOutCommands,
  type CashOutTerms,
  createCashOutCommands,
  createCashOutStore,
} from '../../src/cash-out/commands.ts'
import { type CashOutJobs, createCashOutJobs, decodeQrCode } from '../../src/cash-out/jobs.ts'
import { createEngine } from '../../src/engine/engine.ts'
import type { IsAskedFirst } from '../../src/operations/attempts.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { createIds, type Ids } from '../../src/platform/ids.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { openTestDatabase, testDatabase } from '../support/database.ts'
import { TERMS as CASH_IN_TERMS, cashInRequest, payment } from '../support/engine.ts'
import { type SteppedClock, steppedClock } from '../support/stepped-clock.ts'
import { CONFIRMED, PROCESSING, QR_CODE } from './bank-answers.ts'
import { cashOutRequest, TERMS } from './situations.ts'

/** Calls of 3 s at most, so that a lease lasts 5.5 s; and events may cause what they like. */
export const BOUNDS = { callTimeoutMs: 3_000, eventQueries: { take: (wanted: number) => wanted } }

/** A bank that answers by script and notes what it was asked. */
export interface ScriptedPartner extends PayoutPartner, Availability, QrCodeAvailability {
  /** `PUT`, `GET` or `DECODE`, in order. */
  readonly asked: string[]
  /** The payouts it was asked to send, in order. */
  readonly requests: [id: string, request: PayoutRequest][]
  /** Until when each of these may leave. */
  readonly windows: (SendWindow | undefined)[]
  put: PayoutAnswer
  query: PayoutQueryAnswer
  qrCode: QrCodeAnswer
  /** Looks around while the bank is being called. */
  whileCalled: () => Promise<void>
}

/** Makes one that takes and confirms everything unless told otherwise. */
function scriptedPartner(answers: Partial<ScriptedPartner> = {}): ScriptedPartner {
  const partner: ScriptedPartner = {
    capabilities: new Set(['payout', 'idempotent-payout', 'query-payout', 'decode-qr-code']),
    idempotencyWindowMs: 86_400_000,
    asked: [],
    requests: [],
    windows: [],
    put: PROCESSING,
    query: CONFIRMED,
    qrCode: { kind: 'DECODED', qrCode: QR_CODE },
    whileCalled: async () => undefined,
    allowedSends: () => 64,
    allowedQrCodes: () => 64,
    sendPayout: async (id, request, window) => {
      partner.windows.push(window)
      partner.asked.push('PUT')
      partner.requests.push([id, request])
      await partner.whileCalled()
      return partner.put
    },
    getPayout: async () => {
      partner.asked.push('GET')
      await partner.whileCalled()
      return partner.query
    },
    decodeQrCode: async () => {
      const count = partner.asked.push('DECODE')
      const { qrCode } = partner
      if (qrCode.kind !== 'DECODED') return qrCode
      return { ...qrCode, qrCode: { ...qrCode.qrCode, decodeId: `decode-${count}` } }
    },
    ...answers,
  }
  return partner
}

/** Everything that a process has of payouts. */
export interface Process {
  readonly ids: Ids
  readonly commands: CashOutCommands
  readonly jobs: CashOutJobs
  readonly handlers: CashOutHandlers
  /** Adds to the merchant's balance. */
  fund(cents: bigint): Promise<void>
}

const SILENT = pino({ level: 'silent' })
const NO_FEE = { cents: 0n, basisPoints: 0n }

/** A database, one process on it, and a bank: no HTTP, and a clock that is stepped. */
export interface CashOutFixture extends Process {
  readonly database: Database
  readonly databaseUrl: string
  readonly clock: SteppedClock
  readonly partner: ScriptedPartner
  /** Another process, with the same bank. */
  another(): Process
  /** Makes a payout of R$ 30,00 and returns its id. */
  reserve(externalId?: string): Promise<string>
  /** Puts the clock forward, then does what is due. */
  later(ms: number): Promise<void>
  read(id: string): Promise<CashOut>
}

/** Opens one, with R$ 100,00 and no fee. */
export async function cashOutFixture(
  t: TestContext,
  answers: Partial<ScriptedPartner> = {},
  terms: Partial<CashOutTerms> = {},
  isAskedFirst?: IsAskedFirst,
): Promise<CashOutFixture> {
  const { url, database } = await testDatabase(t)
  const clock = steppedClock()
  const partner = scriptedPartner(answers)
  const store = createCashOutStore(database)
  const decode = (pixCode: string, asker: string) => decodeQrCode(partner, pixCode, asker)
  const configured = { ...TERMS, fee: NO_FEE, ...terms }

  function another(): Process {
    const connection = openTestDatabase(url, 1)
    t.after(() => connection.close())
    const ids = createIds(clock)
    const engine = createEngine({ database: connection, clock, ids, pause: realPause, logger: SILENT })
    const commands = createCashOutCommands(engine, configured)
    const jobs = createCashOutJobs({ commands, store, partner, clock, bounds: BOUNDS, isAskedFirst })
    const cashIns = createCashInCommands(engine, clock, { ...CASH_IN_TERMS, fee: NO_FEE })
    return {
      ids,
      commands,
      jobs,
      handlers: createCashOutHandlers({ commands, jobs, decode, store, clock, ids, onReserved: () => undefined }),
      fund: async (cents) => {
        const id = ids.uuid()
        await cashIns.create(cashInRequest({ id, externalId: id, valueCents: cents }))
        const movement = payment({ endToEndId: `E${id}`, valueCents: cents })
        await cashIns.apply(id, { on: 'partner.confirmed', payment: movement, transactionId: id })
      },
    }
  }

  const process = another()
  await process.fund(100_00n)
  return {
    ...process,
    database,
    databaseUrl: url,
    clock,
    partner,
    another,
    reserve: async (externalId = 'payout-1') => {
      const id = process.ids.uuid()
      await process.commands.create(cashOutRequest({ id, externalId }))
      return id
    },
    later: async (ms) => {
      clock.advance(ms)
      await process.jobs.processNext()
    },
    read: async (id) => {
      const cashOut = await store.get(id)
      assert.ok(cashOut)
      return cashOut
    },
  }
}

/** The code of the refusal that work ends with, if it does. */
export async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    return error.code
  }
}

/** The refusal that work ends with. */
export async function refusalOf(work: Promise<unknown>): Promise<Refusal> {
  const error = await work.then(
    () => undefined,
    (reason) => reason,
  )
  assert.ok(error instanceof Refusal, String(error))
  return error
}
