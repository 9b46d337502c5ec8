import { aroundCalls } from './around-calls.ts'
import type { ConfiguredBank } from './connector.ts'
import type { Partner } from './port.ts'
import { bankProblem } from './problem.ts'

/** How the bank fared when it was called last. */
export interface BankStanding {
  /** Whether it has been called at all. */
  readonly isKnown: boolean
  /** What was wrong with the last call; `undefined` where nothing was. */
  readonly problem: string | undefined
}

/** A bank whose answers are looked at. */
export interface WatchedBank {
  readonly partner: Partner
  standing(): BankStanding
}

/**
 * Looks at every answer of a bank, so that somebody can be told what is wrong without another call.
 * @param onFirst called with what was wrong with the first: what a start has to say about the bank, to its operator
 * @source rules#health.5, rules#config.10
 */
export function watchBank(
  partner: Partner,
  { settings, host }: Pick<ConfiguredBank, 'settings' | 'host'>,
  onFirst: (problem: string | undefined) => void,
): WatchedBank {
  let standing: BankStanding = { isKnown: false, problem: undefined }

  const watched = aroundCalls(partner, (_, ask) => async (...parameters) => {
    const answer = await ask(...parameters)
    const isFirst = !standing.isKnown
    standing = { isKnown: true, problem: bankProblem(answer, settings) }
    if (isFirst) onFirst(bankProblem(answer, settings, host))
    return answer
  })
  return { partner: watched, standing: () => standing }
}
