import { Refused } from './refused.ts'

/** How money goes out otherwise than was agreed. */
export interface ConfirmationOrder {
  /** Another amount. */
  readonly valueCents?: number
  /** Also after the bank said that it failed. */
  readonly despiteFailure?: boolean
}

/**
 * Money goes out once, and what failed stays so unless the bank is told to contradict itself.
 * @throws Refused not_possible
 */
export function assertUnsettled({ status }: { readonly status: string }, despiteFailure = false): void {
  if (status === 'PROCESSING' || (despiteFailure && status === 'FAILED')) return
  throw new Refused('not_possible', `it is ${status}`)
}
