import { Refusal } from '@pixgate/spec'
import { HoldersChanged, type Person } from '../access/index.ts'
import { insertAudit, type Operator } from '../audit/trail.ts'
import { type CaseNeeds, type DecisionResult, replayedAnswer } from '../cases/decide.ts'
import { requestAdjustment, whyRequestNeedsSecondPerson } from '../cases/requested.ts'
import { assertOperates } from '../cases/second-person.ts'
import { IdempotencyKeyTaken } from '../engine/batch.ts'
import type { Engine } from '../engine/engine.ts'
import { type Create, created, type Decision, type Document, type Operation, type State } from '../engine/operation.ts'
import { createReader } from '../engine/reader.ts'
import { adjustmentOf } from '../operations/adjustment.ts'
import type { AskedBy, MadeByFact } from '../operations/requests.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, statement } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import type { LiveRequest } from '../platform/live-request.ts'

/** Rules of the kill switch. Pure. */

export interface SwitchSetting {
  readonly enabled: boolean
  readonly reason: string
  /** To resume only: the version the operator saw; by default the version at the request's arrival. */
  readonly version?: bigint | undefined
  /** A lapsed request decides nothing. */
  readonly live?: LiveRequest
  /** Age of the request in milliseconds; absent: just now. */
  readonly ageMs?: () => number
}

/**
 * Decides a setting. Suspending always wins. Resuming requires an unchanged version since its operator looked, so that an
 * older request cannot overrule a newer one. A setting without a change is also a new version, so that it cannot be
 * overruled either.
 * @param seen version that resuming compares; `null` for suspending, which compares none
 * @throws version_conflict (409) resuming, and the switch was set since
 * @source rules#operator.switch.3, rules#operator.switch.4, failure-modes#CO-30
 */
export function decideSwitch(
  { enabled, reason }: SwitchSetting,
  seen: bigint | null,
  operator: Operator,
  state: State,
  now: number,
): Decision<CashOutSwitch> {
  const version = state.versionOf('cash_out_switch')
  if (seen !== null && seen !== version) throw new Refusal('version_conflict')
  const facts = { enabled, reason }
  return {
    controls: { cash_out_switch: { ...facts, changedAt: new Date(now).toISOString() } },
    audits: [{ ...operator, action: 'cash_out_switch.set', subject: 'cash_out_switch', facts }],
    outcome: { ...facts, changedAt: now, version: version + 1n },
  }
}

export interface AdjustmentDetail extends Document {
  readonly reason: string
}

/** An adjustment as the engine stores it: the value without a sign, the direction as status. */
export type Adjustment = Operation<'adjustment', AdjustmentDetail, MadeByFact>

export interface AdjustmentRequest extends AskedBy {
  readonly id: string
  /** Positive: came in; negative: went out. Never 0. */
  readonly valueCents: bigint
  readonly reason: string
  readonly bodyHash: Buffer
}

/**
 * Decides an adjustment: booked completely, or nothing is stored.
 * @throws insufficient_balance (422) a debit above the available balance
 * @source rules#adjustment.states.1, rules#adjustment.states.2, rules#adjustment.create.2
 */
export function decideAdjustment(request: AdjustmentRequest, state: State, now: number): Decision<Adjustment> {
  const isCredit = request.valueCents > 0n
  const valueCents = isCredit ? request.valueCents : -request.valueCents
  if (!isCredit && state.balance('available') < valueCents) throw new Refusal('insufficient_balance')
  const { id, reason, correlationId, bodyHash, idempotencyKey } = request
  const create: Create<Adjustment> = adjustmentOf({
    ...{ id, externalId: id, valueCents, correlationId, bodyHash, idempotencyKey },
    status: isCredit ? 'CREDITED' : 'DEBITED',
    detail: { reason },
    madeBy: request.madeBy,
  })
  const kind = isCredit ? 'adjustment_credited' : 'adjustment_debited'
  return {
    creates: [create],
    journals: [{ operationId: id, kind, reference: '', amounts: { v: valueCents } }],
    outcome: created(create, now),
  }
}

export interface OperatorStore {
  readSwitch(): Promise<CashOutSwitch>
  adjustmentByKey(key: string, sinceMs: number): Promise<Adjustment | undefined>
  auditAdjustment(order: OrderedAdjustment, id: string, nowMs: number, operator: Operator): Promise<void>
}

/** The current kill switch; fields are `null` before the first setting. */
export interface CashOutSwitch {
  readonly enabled: boolean
  readonly reason: string | null
  /** Time of the last setting, epoch milliseconds. */
  readonly changedAt: number | null
  /** Incremented by each setting. */
  readonly version: bigint
}

export interface OrderedAdjustment {
  readonly id: string
  readonly valueCents: bigint
  readonly reason: string
}

const selectSwitch = statement<[], CashOutSwitch>(
  'operator.switch',
  `SELECT (value ->> 'enabled')::boolean AS enabled, value ->> 'reason' AS reason,
          (value ->> 'changedAt')::timestamptz AS "changedAt", version
     FROM control WHERE name = 'cash_out_switch'`,
)

export function createOperatorStore(database: Database): OperatorStore {
  return {
    readSwitch: async () => {
      const [row] = await database.rows(selectSwitch, [])
      if (!row) throw new Error('the row of the kill switch is missing')
      return row
    },
    adjustmentByKey: async (key, sinceMs) =>
      (await createReader(database).byIdempotencyKeys([key], sinceMs)).find(
        (operation): operation is Adjustment => operation.kind === 'adjustment',
      ),
    auditAdjustment: ({ id: subject, valueCents, reason }, id, nowMs, operator) => {
      const facts = { valueCents: Number(valueCents), reason }
      return insertAudit(database, { ...operator, id, at: nowMs, action: 'adjustment.ordered', subject, facts })
    },
  }
}

export interface OperatorCommands {
  /**
   * Sets the kill switch ahead of all waiting work. Every process compares it in the statement that accepts a payout,
   * so it takes effect everywhere at once.
   * @throws version_conflict (409) resuming, and it was set meanwhile · overloaded (503) · DatabaseUnavailable
   * @source rules#operator.switch.2, rules#operator.switch.4, rules#operator.switch.5
   */
  setSwitch(setting: SwitchSetting, operator: Operator): Promise<CashOutSwitch>
  /**
   * Books an adjustment, proposes one that needs a second person, or returns the result of the same `Idempotency-Key`.
   * The audit row comes first, and remains even if nothing is booked.
   * @throws idempotency_key_reused · insufficient_balance (422) · DatabaseUnavailable
   * @throws insufficient_role (403) it must be proposed, and the caller is not a named operator · unauthorized (401)
   * the operator was deactivated meanwhile
   * @source rules#adjustment.create.1, rules#adjustment.create.3, rules#adjustment.create.4
   */
  adjust(request: AdjustmentRequest, operator: Operator): Promise<Adjusted>
}

export type Adjusted = { readonly isReplayed: boolean } & (
  | { readonly adjustment: Adjustment; readonly proposed?: undefined }
  | { readonly proposed: { readonly caseId: string; readonly proposalId: string }; readonly adjustment?: undefined }
)

export interface OperatorDependencies {
  readonly engine: Engine
  readonly store: OperatorStore
  readonly clock: Clock
  readonly ids: Ids
  /** Adjustments that need a second person are cases. */
  readonly cases: CaseNeeds
  readonly operators: {
    /** All operators ever created, in their current state. */
    readonly people: () => Promise<readonly Person[]>
    /** Number of deactivations of keys and operators; to be read before the operators. */
    readonly deactivations: () => Promise<bigint>
  }
}

const IDEMPOTENCY_MS = 24 * 60 * 60 * 1_000

const CLOCK_STEP_MS = 1

export function createOperatorCommands(needs: OperatorDependencies): OperatorCommands {
  const { engine, store, clock, ids } = needs

  /** The current version, if it is as old as the request. @throws version_conflict (409) */
  async function versionFor({ ageMs }: SwitchSetting): Promise<bigint> {
    const { version, changedAt } = await store.readSwitch()
    const askedAt = clock.now() - (ageMs?.() ?? 0)
    if (changedAt !== null && changedAt > askedAt + CLOCK_STEP_MS) throw new Refusal('version_conflict')
    return version
  }

  return {
    setSwitch: async (setting, operator) => {
      // Read before any wait: settings from now on are not overruled.
      const seen = setting.enabled ? (setting.version ?? (await versionFor(setting))) : null
      return engine.execute({
        reads: [],
        controls: ['cash_out_switch'],
        request: setting.live,
        isUrgent: true,
        decide: (state, now) => decideSwitch(setting, seen, operator, state, now),
      })
    },
    adjust: async (request, operator) => {
      await store.auditAdjustment(request, ids.uuid(), clock.now(), operator)
      const before = await madeBefore(needs, request)
      if (before) return before
      if (whyRequestNeedsSecondPerson(needs.cases, request.valueCents) !== null) {
        return proposedOf(await requestAdjustment(needs.cases, request, operator))
      }
      try {
        return { adjustment: await book(needs, request, operator), isReplayed: false }
      } catch (error) {
        return { adjustment: repeated(error, request), isReplayed: true }
      }
    },
  }
}

/**
 * The adjustment or proposal of the same `Idempotency-Key`, even if the threshold for a second person was different
 * then.
 * @throws idempotency_key_reused (422)
 */
async function madeBefore(needs: OperatorDependencies, request: AdjustmentRequest): Promise<Adjusted | undefined> {
  const { idempotencyKey: key, bodyHash } = request
  if (key === null) return undefined
  const proposed = await replayedAnswer(needs.cases, request)
  if (proposed) return proposedOf(proposed)
  const adjustment = await needs.store.adjustmentByKey(key, needs.clock.now() - IDEMPOTENCY_MS)
  if (!adjustment) return undefined
  if (!adjustment.bodyHash.equals(bodyHash)) throw new Refusal('idempotency_key_reused')
  return { adjustment, isReplayed: true }
}

function proposedOf({ answer: { caseId, proposalId }, isReplayed }: DecisionResult): Adjusted {
  if (proposalId === null) throw new Error(`the adjustment of case ${caseId} has no proposal`)
  return { proposed: { caseId, proposalId }, isReplayed }
}

/** Books an adjustment while its operator is active. */
async function book(needs: OperatorDependencies, request: AdjustmentRequest, operator: Operator): Promise<Adjustment> {
  const { engine, operators } = needs
  const { id, idempotencyKey, live } = request
  for (;;) {
    const deactivations = await operators.deactivations()
    assertOperates(operator, await operators.people())
    try {
      return await engine.execute({
        reads: [],
        creates: { kind: 'adjustment', externalId: id, idempotencyKey },
        controls: ['holders'],
        request: live,
        decide: (state, now) => {
          if (state.versionOf('holders') !== deactivations) throw new HoldersChanged()
          return decideAdjustment(request, state, now)
        },
      })
    } catch (error) {
      if (!(error instanceof HoldersChanged)) throw error
    }
  }
}

/** The adjustment of the same request, made earlier; other errors are rethrown. @source rules#idempotency.2 */
function repeated(error: unknown, request: AdjustmentRequest): Adjustment {
  if (!(error instanceof IdempotencyKeyTaken)) throw error
  if (!error.operation.bodyHash.equals(request.bodyHash)) throw new Refusal('idempotency_key_reused')
  return error.operation as Adjustment
}
