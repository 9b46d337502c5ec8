import { Refused } from './refused.ts'

/** Deviations of a confirmation from its order. */
export interface ConfirmationOrder {
  /** Amount in centavos, if it differs from the order's. */
  readonly valueCents?: number
  /** Confirms the order even if the bank reported it as failed. */
  readonly despiteFailure?: boolean
}

/**
 * Asserts that an order can settle: it is processing, or it failed and `despiteFailure` is set.
 * @throws Refused not_possible
 */
export function assertUnsettled({ status }: { readonly status: string }, despiteFailure = false): void {
  if (status === 'PROCESSING' || (despiteFailure && status === 'FAILED')) return
  throw new Refused('not_possible', `the order is ${status}`)
}
