import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { aroundCalls } from './around-calls.ts'
import type { ConfiguredBank } from './connector.ts'
import type { Partner } from './port.ts'
import { bankProblem, isOfConfiguration } from './problem.ts'

/** How the bank fared when it was called last. */
export interface BankStanding {
  /** Whether it has been called at all. */
  readonly isKnown: boolean
  /** What was wrong with the last call; `undefined` where nothing was. */
  readonly problem: string | undefined
  /** Whether that lasts until somebody changes a setting. */
  readonly isOfConfiguration: boolean
}

/** A bank whose answers are looked at. */
export interface WatchedBank {
  readonly partner: Partner
  standing(): BankStanding
}

/**
 * Looks at every answer of a bank, so that somebody can be told what is wrong without another call.
 * @param onStanding called with each standing, after each answer; for our own operator, with the host where it cannot be found
 * @source rules#health.5, rules#config.10
 */
export function watchBank(
  partner: Partner,
  { settings, host }: Pick<ConfiguredBank, 'settings' | 'host'>,
  onStanding: (standing: BankStanding) => void,
): WatchedBank {
  let standing: BankStanding = { isKnown: false, problem: undefined, isOfConfiguration: false }

  const watched = aroundCalls(partner, (_, ask) => async (...parameters) => {
    const answer = await ask(...parameters)
    if (answer.isOfOrderAlone) return answer
    standing = { isKnown: true, problem: bankProblem(answer, settings), isOfConfiguration: isOfConfiguration(answer) }
    onStanding({ ...standing, problem: bankProblem(answer, settings, host) })
    return answer
  })
  return { partner: watched, standing: () => standing }
}

/** So often is said again what somebody has to change. */
const AGAIN_AFTER_MS = 600_000

/**
 * Makes what is said of a bank's standing: at the first answer whatever it is, later what somebody has to change, as an
 * error, again and again while it lasts, and that it is over. What passes by itself each call has lines for.
 * @source rules#config.10
 */
export function createStandingLog(logger: Logger, clock: Clock): (standing: BankStanding) => void {
  let isFirst = true
  /** When each problem was said last. A bank may refuse one call and answer the others. */
  const saidAt = new Map<string, number>()
  let isSaid = false
  return ({ problem, isOfConfiguration }) => {
    const now = clock.now()
    if (problem === undefined) {
      if (isFirst || isSaid) logger.info('the bank answers')
      isSaid = false
    } else if (isOfConfiguration) {
      if (now - (saidAt.get(problem) ?? Number.NEGATIVE_INFINITY) >= AGAIN_AFTER_MS) {
        logger.error(problem)
        saidAt.set(problem, now)
        isSaid = true
      }
    } else if (isFirst) logger.warn(problem)
    isFirst = false
  }
}
