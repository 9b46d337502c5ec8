import type { Target } from './benchmark.ts'
import { type Figures, median, ratio } from './measure.ts'

/** What one process did with 256 callers: alone, beside another one with one caller, and beside one with as many. */
type BesideAnother<Who extends string> = Readonly<
  Record<`${Who}, 256` | `${Who}, 256 beside 1` | `${Who}, 256 beside 256` | `${Who}, the other 256`, Figures>
>

/** What a second process on the same balance may cost. */
export function twoProcessTargets<Who extends string>(who: Who, rounds: readonly BesideAnother<Who>[]): Target[] {
  const perSecond = (round: BesideAnother<Who>, name: keyof BesideAnother<Who>) => round[name].perSecond
  return [
    {
      id: 'T7b',
      what: '256 callers beside a process with 1: speed against alone',
      value: ratio(rounds, 'perSecond', `${who}, 256 beside 1`, `${who}, 256`),
      atLeast: 0.8,
    },
    {
      id: 'T7b',
      what: 'two processes with 256 callers each: speed together against one alone',
      value: median(
        rounds.map(
          (round) =>
            (perSecond(round, `${who}, 256 beside 256`) + perSecond(round, `${who}, the other 256`)) /
            perSecond(round, `${who}, 256`),
        ),
      ),
      atLeast: 1.2,
    },
  ]
}
