import { Refusal } from '@pixgate/spec'
import type { Operator } from '../audit/operator.ts'
import { IdempotencyKeyTaken } from '../engine/duplicates.ts'
import type { Engine } from '../engine/engine.ts'
import type { Clock } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import { type Adjustment, type AdjustmentRequest, decideAdjustment } from './rules.ts'
import type { CashOutSwitch, OperatorStore } from './store.ts'
import { decideSwitch, type SwitchSetting } from './switch.ts'

/** One function per intention; each leaves a row in the audit trail. */
export interface OperatorCommands {
  /**
   * Sets the switch, ahead of all that waits. Every process compares it in the statement that accepts a payout, so it counts
   * everywhere at once.
   * @throws version_conflict (409) on, and it was set meanwhile · overloaded (503) · DatabaseUnavailable
   * @source rules#operator.switch.2, rules#operator.switch.4, rules#operator.switch.5
   */
  setSwitch(setting: SwitchSetting, operator: Operator): Promise<CashOutSwitch>
  /**
   * Books an adjustment, or finds the one that the same `Idempotency-Key` made. What is not booked in the end leaves its
   * audit row nevertheless; nothing is booked without one.
   * @throws idempotency_key_reused · insufficient_balance (422) · DatabaseUnavailable
   * @source rules#adjustment.create.1, rules#adjustment.create.3
   */
  adjust(request: AdjustmentRequest, operator: Operator): Promise<Adjusted>
}

/** An adjustment that a request made, now or when it came before. */
export interface Adjusted {
  readonly adjustment: Adjustment
  readonly isReplayed: boolean
}

/** What the commands work with. */
export interface OperatorDependencies {
  readonly engine: Engine
  readonly store: OperatorStore
  readonly clock: Clock
  readonly ids: Ids
}

/** Clocks tell whole milliseconds. */
const CLOCK_STEP_MS = 1

/** Makes the commands. */
export function createOperatorCommands({ engine, store, clock, ids }: OperatorDependencies): OperatorCommands {
  /** The version that stands, where it stood when this was asked for. @throws version_conflict (409) */
  async function versionFor({ ageMs }: SwitchSetting): Promise<bigint> {
    const { version, changedAt } = await store.readSwitch()
    const askedAt = clock.now() - (ageMs?.() ?? 0)
    if (changedAt !== null && changedAt > askedAt + CLOCK_STEP_MS) throw new Refusal('version_conflict')
    return version
  }

  return {
    setSwitch: async (setting, operator) => {
      // Before anything waits: whoever sets it from now on is not overruled.
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
      const { id, idempotencyKey } = request
      await store.auditAdjustment(request, ids.uuid(), clock.now(), operator)
      try {
        const adjustment = await engine.execute({
          reads: [],
          creates: { kind: 'adjustment', externalId: id, idempotencyKey },
          request: request.live,
          decide: (state, now) => decideAdjustment(request, state, now),
        })
        return { adjustment, isReplayed: false }
      } catch (error) {
        return { adjustment: repeated(error, request), isReplayed: true }
      }
    },
  }
}

/** The adjustment that the same request made before; everything else is refused. @source rules#idempotency.2 */
function repeated(error: unknown, request: AdjustmentRequest): Adjustment {
  if (!(error instanceof IdempotencyKeyTaken)) throw error
  if (!error.operation.bodyHash.equals(request.bodyHash)) throw new Refusal('idempotency_key_reused')
  return error.operation as Adjustment
}
