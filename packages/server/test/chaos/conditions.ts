import type { ChaosReport } from './chaos.ts'
import { faultKinds, liesToMeet } from './plan.ts'

/** What a run must have gone through, or it proves less than it says. */
export interface Conditions {
  /** So many charges and payouts, at least. */
  readonly operations: number
}

/** The part of a report that says what a run went through. */
export type GoneThrough = Pick<ChaosReport, 'connector' | 'bankKind' | 'faults' | 'restarts' | 'lies' | 'operations'>

/**
 * What never happened, or too seldom: every kind of fault and every lie of its bank must have come at least once, with so many
 * charges and payouts under way. Pure.
 * @returns a line for each, for people; empty where all of it happened
 */
export function lackingIn(report: GoneThrough, { operations }: Conditions): readonly string[] {
  const { connector, bankKind, faults, restarts, lies } = report
  const seldom = (what: string, count: number, least: number) =>
    count < least ? [`${what}: ${count}, at least ${least} are wanted`] : []
  return [
    ...seldom('charges and payouts', tradedIn(report), operations),
    ...seldom('restarts of processes', restarts, 1),
    ...faultKinds(bankKind).flatMap((kind) => seldom(`fault «${kind}»`, faults[kind] ?? 0, 1)),
    ...liesToMeet(bankKind, connector).flatMap((lie) => seldom(`lie «${lie}»`, lies[lie] ?? 0, 1)),
  ]
}

function tradedIn({ operations }: Pick<ChaosReport, 'operations'>): number {
  return Object.entries(operations)
    .filter(([what]) => what.startsWith('cash_in ') || what.startsWith('cash_out '))
    .reduce((sum, [, count]) => sum + count, 0)
}
