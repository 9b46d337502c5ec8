import { Refusal } from '@pixgate/spec'
import type { Operator } from '../audit/operator.ts'
import { allowanceOf, TakesSecondPerson } from '../desk/alone.ts'
import { assertOperates } from '../desk/steps/rules.ts'
import { IdempotencyKeyTaken } from '../engine/duplicates.ts'
import type { Engine } from '../engine/engine.ts'
import { HoldersChanged, type Person } from '../operators/index.ts'
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
   * @throws insufficient_role (403) it is too much for who may adjust it · unauthorized (401) the operator was deactivated meanwhile
   * @source rules#adjustment.create.1, rules#adjustment.create.3, rules#adjustment.create.4, rules#adjustment.create.5
   */
  adjust(request: AdjustmentRequest, operator: Adjuster): Promise<Adjusted>
}

/** Who adjusts. */
export interface Adjuster extends Operator {
  /** An admin's adjustments are neither bounded nor counted. */
  readonly isAdmin: boolean
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
  /** What an operator who is no admin adjusts within 24 hours, with what they decide alone, is less than this, centavos. */
  readonly adminFromCents: number
  readonly holders: {
    /** All operators there ever were, as they are now. */
    readonly people: () => Promise<readonly Person[]>
    /** How often keys and operators were deactivated: to be read before who holds them. */
    readonly version: () => Promise<bigint>
  }
}

/** Clocks tell whole milliseconds. */
const CLOCK_STEP_MS = 1

/** Makes the commands. */
export function createOperatorCommands(needs: OperatorDependencies): OperatorCommands {
  const { engine, store, clock, ids } = needs

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
      const { isAdmin: _, ...named } = operator
      await store.auditAdjustment(request, ids.uuid(), clock.now(), named)
      try {
        return { adjustment: await book(needs, request, operator), isReplayed: false }
      } catch (error) {
        return { adjustment: repeated(error, request), isReplayed: true }
      }
    },
  }
}

/** Books it while whoever ordered it is an operator, within what they may order in 24 hours. */
async function book(needs: OperatorDependencies, request: AdjustmentRequest, operator: Adjuster): Promise<Adjustment> {
  const { engine, holders, adminFromCents: fromCents } = needs
  const { id, idempotencyKey, live } = request
  for (;;) {
    const holdersVersion = await holders.version()
    const people = await holders.people()
    assertOperates(operator, people)
    const bound = operator.isAdmin ? null : { allowance: allowanceOf(operator.actor, people), fromCents }
    try {
      return await engine.execute({
        reads: [],
        creates: { kind: 'adjustment', externalId: id, idempotencyKey },
        // As decisions at the desk do: of two who take of one sum the second sees the first.
        controls: ['holders'],
        allowances: bound ? [bound.allowance] : [],
        request: live,
        decide: (state, now) => {
          if (state.versionOf('holders') !== holdersVersion) throw new HoldersChanged()
          return decideAdjustment(request, bound, state, now)
        },
      })
    } catch (error) {
      if (error instanceof TakesSecondPerson) throw onlyAdmin(error.message)
      if (!(error instanceof HoldersChanged)) throw error
    }
  }
}

/** @param because why somebody else is needed, in words @source rules#adjustment.create.4, rules#adjustment.create.5 */
export function onlyAdmin(because: string): Refusal {
  const message = `this adjustment is an admin’s: ${because}; what a case tells is decided there, with a second person`
  return new Refusal('insufficient_role', { message })
}

/** The adjustment that the same request made before; everything else is refused. @source rules#idempotency.2 */
function repeated(error: unknown, request: AdjustmentRequest): Adjustment {
  if (!(error instanceof IdempotencyKeyTaken)) throw error
  if (!error.operation.bodyHash.equals(request.bodyHash)) throw new Refusal('idempotency_key_reused')
  return error.operation as Adjustment
}
