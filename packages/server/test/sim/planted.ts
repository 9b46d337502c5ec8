import type { Lacking } from './tables.ts'
import type { InvariantName } from './violation.ts'

/** Bugs that are planted one at a time, to prove that the simulation would find them. */

/** A bug: one place of the source that reads otherwise, or something that the database lacks. */
export interface PlantedBug {
  readonly name: string
  /** What is found, one of these; `assertion`: one of the core itself. */
  readonly finds: readonly (InvariantName | 'assertion')[]
  /** Under packages/; the text is there exactly once. */
  readonly change?: { readonly file: string; readonly from: string; readonly to: string }
  readonly lacking?: Lacking
}

const OF_CASH_OUT = 'spec/src/cash-out/machine.ts'

/** All of them. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'a release on time-out',
    finds: ['I9'],
    change: {
      file: OF_CASH_OUT,
      from: "on: 'send.unknown', to: 'PROVIDER_RESULT_UNKNOWN', rule",
      to: "on: 'send.unknown', to: 'FAILED', posts: 'cash_out_released', emits: 'pix_cash_out', rule",
    },
  },
  { name: 'a missing unique constraint', finds: ['I11'], lacking: { uniqueExternalIds: true } },
  {
    name: 'a missing row lock',
    finds: ['I3', 'I5', 'I6', 'I7', 'I8', 'I12', 'I13', 'assertion'],
    lacking: { rowLocks: true },
  },
  {
    name: 'a duplicate applied',
    finds: ['I12', 'I5'],
    change: {
      file: 'server/src/cash-in/rules.ts',
      from: 'bookedAmount(cashIn, input.payment) === input.payment.valueCents ||',
      to: 'false ||',
    },
  },
  {
    name: 'a reversal before its confirmation',
    finds: ['I3', 'I9', 'I12'],
    change: {
      file: OF_CASH_OUT,
      from: "{ from: DOUBT, on: 'partner.returned', when: 'only an event reports it'",
      to: "{ from: OPEN, on: 'partner.returned', to: 'REVERSED', posts: 'cash_out_returned', emits: 'pix_cash_out_reversal', rule: 'cash-out.reversal.1', says: '' }, { from: DOUBT, on: 'partner.returned', when: 'only an event reports it'",
    },
  },
  {
    name: 'a second send with a new id',
    finds: ['I9'],
    change: {
      file: 'server/src/cash-out/jobs.ts',
      from: 'partner.sendPayout(cashOut.orderId, payoutRequest(cashOut), window)',
      to: "partner.sendPayout(cashOut.orderId.replace(/.$/, (last) => ((cashOut.facts.attempts ?? 1) > 1 ? 'x' : last)), payoutRequest(cashOut), window)",
    },
  },
  {
    name: 'a refund above its ceiling by race',
    finds: ['I8'],
    change: {
      file: 'server/src/cash-in/returns.ts',
      from: '    BigInt(cashIn.facts.refundsOpenCents ?? 0) -\n',
      to: '',
    },
  },
  {
    name: 'a case that closes the wrong case',
    finds: ['I12', 'I4', 'I16'],
    change: {
      file: 'server/src/engine/cases.ts',
      from: 'OF_OUTCOME.has(open.kind) || isOfDoubt(open)',
      to: '!OF_OUTCOME.has(open.kind)',
    },
  },
  {
    name: 'a case that outlives the outcome it waits for',
    finds: ['I16'],
    change: {
      file: 'server/src/operations/orders.ts',
      from: 'order.facts.isOverdue && isOutcome',
      to: 'false',
    },
  },
  {
    name: 'a close that forgets a movement',
    finds: ['I4'],
    change: {
      file: 'server/src/closes/figures.ts',
      from: 'booksCents + timing.cents + kept.cents',
      to: 'booksCents + kept.cents',
    },
  },
  {
    name: 'a close in which a journal is missing',
    finds: ['I13'],
    change: {
      file: 'server/src/closes/figures.ts',
      from: '    accounts,\n    journals,\n',
      to: '    accounts,\n    journals: journals.slice(1),\n',
    },
  },
  {
    name: 'a confirmation that books nothing',
    finds: ['I3', 'I4'],
    change: {
      file: OF_CASH_OUT,
      from: "on: 'partner.confirmed', to: 'CONFIRMED', posts: 'cash_out_confirmed', emits: 'pix_cash_out', rule: 'cash-out.states.11'",
      to: "on: 'partner.confirmed', to: 'CONFIRMED', emits: 'pix_cash_out', rule: 'cash-out.states.11'",
    },
  },
]
