import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { allOperators, deactivationCount } from '../../src/access/operators.ts'
import type { Operator } from '../../src/audit/trail.ts'
import type { CaseNeeds } from '../../src/cases/decide.ts'
import type { CashOut } from '../../src/cash-out/cash-out.ts'
import {
  type CashOutCommands,
  type CashOutRequest,
  type CashOutTerms,
  createCashOutCommands,
} from '../../src/cash-out/commands.ts'
import {
  type Adjustment,
  type AdjustmentRequest,
  createOperatorCommands,
  createOperatorStore,
  type OperatorCommands,
  type OperatorDependencies,
  type OperatorStore,
  type SwitchSetting,
} from '../../src/controls/commands.ts'
import { createDryRun } from '../../src/engine/dry-run.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { type Pause, realPause } from '../../src/platform/jobs/pause.ts'
import { openTestDatabase } from '../support/database.ts'
import { type TestEngine, testEngine } from '../support/engine.ts'
import { INSTALLATION, limitsOf, MADE_BY } from '../support/limits.ts'
import type { SteppedClock } from '../support/stepped-clock.ts'

/** One process of a service, as far as an operator has to do with it. */
export interface Process extends TestEngine {
  readonly store: OperatorStore
  readonly operator: OperatorCommands
  readonly operators: OperatorDependencies['operators']
  readonly payouts: CashOutCommands
  /** Books so much, as `OPERATOR` does, or another admin. */
  adjust(
    valueCents: bigint,
    given?: Partial<AdjustmentRequest>,
    by?: Pick<Operator, 'actor' | 'actorName'>,
  ): Promise<{ readonly adjustment: Adjustment; readonly isReplayed: boolean }>
  /** Sets the switch, as `OPERATOR` does. */
  switchCashOuts(
    enabled: boolean,
    reason?: string,
    given?: Partial<SwitchSetting>,
  ): ReturnType<OperatorCommands['setSwitch']>
  /** Sets so much aside for a payout. */
  payOut(valueCents: bigint, given?: Partial<CashOutRequest>): Promise<CashOut>
  /** Gives back what was set aside for one: the bank refuses it. */
  giveBack(payout: CashOut): Promise<void>
}

export const OPERATOR = { actor: 'admin', address: '203.0.113.7' }

/** What cases are decided with: no adjustment takes a second person unless from some amount on. */
export function caseNeeds(
  engine: TestEngine,
  database: Database,
  operators: CaseNeeds['operators'],
  approvalFromCents = Number.MAX_SAFE_INTEGER,
): CaseNeeds {
  const none = async () => assert.fail('nothing is decided here')
  const nothing = { read: none, accepts: none, command: none, attributionCommand: none }
  const withoutOperation = {
    ...engine,
    events: nothing,
    statement: nothing,
    charges: { reversal: () => assert.fail() },
    refunds: { requestedCommand: () => assert.fail() },
  }
  const dryRun = createDryRun({ ...engine, database })
  return { ...engine, database, operators, dryRun, deciders: {}, withoutOperation, approvalFromCents }
}

const NO_TERMS: CashOutTerms = {
  installation: INSTALLATION,
  fee: { cents: 0n, basisPoints: 0n },
  maxValueCents: 1_000_000_00n,
  limits: limitsOf(),
  approvalFromCents: null,
}

/** Starts a process on a test's database. */
export function operatedProcess(
  t: TestContext,
  url: string,
  terms: Partial<CashOutTerms> = {},
  pause: Pause = realPause,
  clock?: SteppedClock,
): Process {
  const engine = testEngine(t, url, undefined, pause, undefined, clock)
  const database = openTestDatabase(url)
  t.after(() => database.close())
  const store = createOperatorStore(database)
  const operators = { people: () => allOperators(database), deactivations: () => deactivationCount(database) }
  const operator = createOperatorCommands({
    ...engine,
    store,
    operators,
    cases: caseNeeds(engine, database, operators),
  })
  const payouts = createCashOutCommands(engine.engine, { ...NO_TERMS, ...terms })
  return {
    ...engine,
    store,
    operators,
    operator,
    payouts,
    adjust: async (valueCents, given, by) => {
      const request = adjustmentRequest(engine.ids.uuid(), valueCents, given)
      const { adjustment, isReplayed } = await operator.adjust(request, { ...OPERATOR, ...by })
      assert.ok(adjustment)
      return { adjustment, isReplayed }
    },
    switchCashOuts: (enabled, reason = 'a test', given = {}) =>
      operator.setSwitch({ enabled, reason, ...given }, OPERATOR),
    payOut: async (valueCents, given) => {
      const id = engine.ids.uuid()
      const recipient = { name: null, document: null, pixKey: 'joao@example.com', pixKeyType: 'email' } as const
      const { cashOut } = await payouts.create({
        id,
        valueCents,
        externalId: id,
        detail: { description: null, paymentType: 'key', recipient, qrCode: null },
        exclusiveKey: null,
        correlationId: 'test',
        bodyHash: sha256(id),
        idempotencyKey: null,
        madeBy: MADE_BY,
        ...given,
      })
      return cashOut
    },
    giveBack: async ({ id }) => {
      await payouts.apply(id, [
        { on: 'send.claimed', leaseMs: 1_000 },
        { on: 'send.rejected', attempt: 1, errorCode: 'limit', errorMessage: null },
      ])
    },
  }
}

/** A valid order of an adjustment; what a test cares about is given. */
export function adjustmentRequest(
  id: string,
  valueCents: bigint,
  given: Partial<AdjustmentRequest> = {},
): AdjustmentRequest {
  const reason = 'Opening balance'
  const bodyHash = sha256(JSON.stringify([Number(valueCents), reason]))
  return { id, valueCents, reason, correlationId: 'test', bodyHash, idempotencyKey: null, madeBy: MADE_BY, ...given }
}
