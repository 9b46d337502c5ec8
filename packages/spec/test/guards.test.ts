import assert from 'node:assert/strict'
import test from 'node:test'
import { cashIn } from '../src/cash-in/index.ts'
import { cashOut } from '../src/cash-out/index.ts'
import { refundIn } from '../src/refund-in/index.ts'

/**
 * In which states each guard stands. The tables' own tests prove what is there; these miss what is not: a guard that one
 * state forgets lets money pass in that state alone.
 */

interface AnyMachine {
  readonly rows: readonly { readonly from: string | null; readonly on: string; readonly when?: string }[]
}

/** The states in which a guard stands for a trigger, in their order in the alphabet. */
function statesOf({ rows }: AnyMachine, on: string, when: string): (string | null)[] {
  return rows
    .filter((row) => row.on === on && row.when === when)
    .map(({ from }) => from)
    .toSorted()
}

function assertStands(machine: AnyMachine, stands: Readonly<Record<string, Readonly<Record<string, string>>>>): void {
  for (const [on, guards] of Object.entries(stands))
    for (const [when, states] of Object.entries(guards))
      assert.deepEqual(statesOf(machine, on, when), states.split(' ').toSorted(), `${on}: ${when}`)
}

test('[ledger.movements] [cash-in.credits.1] [cash-in.refunds.10] no state of a charge forgets a guard', () => {
  const every = cashIn.states.join(' ')
  const paid = 'PAID RECONCILIATION_REQUIRED'
  assertStands(cashIn, {
    'partner.confirmed': {
      'movement belongs to another operation': every,
      'payment is to be verified': every,
      // A failed charge takes no payment, and of a paid one it is a second one.
      'payment is older than the charge': 'PENDING PROVIDER_RESULT_UNKNOWN EXPIRED RECONCILIATION_REQUIRED',
    },
    'partner.failed': { 'only an event tells it': 'PENDING PROVIDER_RESULT_UNKNOWN PAID RECONCILIATION_REQUIRED' },
    'charge.not_found': {
      'absence settles it': 'PENDING PROVIDER_RESULT_UNKNOWN',
      'absence contradicts': 'PENDING',
      'absence settles what was missing': 'RECONCILIATION_REQUIRED',
    },
    'work.done': {
      'end is unknown for too long': 'PENDING',
      'payment told is unconfirmed for too long': every,
    },
    'refund.taken': { 'return restated': paid },
    'return.told': {
      'return restated': paid,
      'movement belongs to another operation': paid,
      'return has no id and may be known': paid,
      'return has no id': paid,
      'payment is in suspense': paid,
      'payment cannot be told': paid,
      'a refund may explain it': paid,
    },
    'return.known': { 'money of it is held': paid },
  })
})

test('[ledger.movements] [cash-out.unknown.7] [cash-out.unknown.8] no state of a payout forgets a guard', () => {
  const open = 'DISPATCHED PROVIDER_RESULT_UNKNOWN RECONCILIATION_REQUIRED'
  const left = 'CONFIRMED REVERSED'
  assertStands(cashOut, {
    'partner.confirmed': {
      'movement belongs to another operation': cashOut.states.join(' '),
      'movement restated': left,
      'movement is a second one': left,
    },
    'partner.returned': {
      'movement belongs to another operation': `${left} FAILED RELEASED RECONCILIATION_REQUIRED`,
      'return is of another payment': left,
      'return has no id': left,
    },
    'send.claimed': { 'nothing of it left': open, 'asked in vain and safe to repeat': open },
    'send.rejected': { 'another attempt may arrive': open },
  })
})

test('[ledger.movements] [refund-in.doubt.7] [refund-in.unknown.5] no state of a refund forgets a guard', () => {
  const every = refundIn.states.join(' ')
  assertStands(refundIn, {
    'partner.confirmed': {
      'movement belongs to another operation': every,
      'another payment went back': every,
      'return has no id': 'PENDING',
      'return restated': 'CONFIRMED',
      'return is a second one': 'CONFIRMED',
    },
    'send.claimed': { 'nothing of it left': 'PENDING', 'asked in vain and safe to repeat': 'PENDING' },
    'send.rejected': { 'another attempt may arrive': 'PENDING' },
  })
})
