import { Refusal } from '@pixgate/spec'
import type { Operator } from '../audit/operator.ts'
import type { Decision, State } from '../engine/operation.ts'
import type { LiveRequest } from '../platform/live-request.ts'
import type { CashOutSwitch } from './store.ts'

/** How the switch of payouts is set. Pure. */

/** How the switch is to stand, and why. */
export interface SwitchSetting {
  readonly enabled: boolean
  readonly reason: string
  /** On only: the version that the operator saw; where it is left out, the one that stands when the request comes. */
  readonly version?: bigint | undefined
  /** Nothing is decided for it once it has lapsed. */
  readonly live?: LiveRequest
  /** How long ago it was asked for, in milliseconds; absent: just now. */
  readonly ageMs?: () => number
}

/**
 * Decides a setting. Off always wins; on counts only where nobody set the switch since its operator looked: what was
 * asked before must not overrule what was asked after it. What changes nothing is a new version too, so that it is not
 * overruled either.
 * @param seen the version that an on compares; `null` for an off, which compares none
 * @throws version_conflict (409) on, and the switch was set since
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
