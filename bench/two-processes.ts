import type { Target } from './benchmark.ts'
import { type Figures, median, ratio } from './measure.ts'

/** A process with 256 callers: alone, beside another process with 1 caller, and beside one with 256. */
type BesideAnother<Name extends string> = Readonly<
  Record<`${Name}, 256` | `${Name}, 256 beside 1` | `${Name}, 256 beside 256` | `${Name}, the other 256`, Figures>
>

/** Targets for a second process on the same balance. */
export function twoProcessTargets<Name extends string>(name: Name, rounds: readonly BesideAnother<Name>[]): Target[] {
  const perSecond = (round: BesideAnother<Name>, name: keyof BesideAnother<Name>) => round[name].perSecond
  return [
    {
      what: '256 callers beside a process with 1: rate relative to alone',
      value: ratio(rounds, 'perSecond', `${name}, 256 beside 1`, `${name}, 256`),
      atLeast: 0.8,
    },
    {
      what: 'two processes with 256 callers each: total rate relative to one alone',
      value: median(
        rounds.map(
          (round) =>
            (perSecond(round, `${name}, 256 beside 256`) + perSecond(round, `${name}, the other 256`)) /
            perSecond(round, `${name}, 256`),
        ),
      ),
      atLeast: 1.2,
    },
  ]
}
