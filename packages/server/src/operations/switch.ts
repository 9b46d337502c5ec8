import type { State } from '../engine/operation.ts'

/**
 * Whether payouts and refunds are accepted and sent: the command must look at the control.
 * @source rules#operator.switch.2, failure-modes#CO-24
 */
export function isEnabled(state: State): boolean {
  return state.control('cash_out_switch').enabled === true
}
