import { randomUUID } from 'node:crypto'
import type { Command, Create } from '../../packages/server/src/engine/operation.ts'

/** The work of all contestants: reserve money for a payout, all from one balance. */

/** Value of each payout. */
export const VALUE_CENTS = 1_00n

/** More than a benchmark spends. */
const FUNDS_CENTS = 1_000_000_000_00n

/** A new payout. */
export function payout(id: string): Create['operation'] {
  return {
    id,
    kind: 'cash_out',
    externalId: `payout-${id}`,
    orderId: id.replaceAll('-', ''),
    status: 'RESERVED',
    valueCents: VALUE_CENTS,
    feeCents: 0n,
    correlationId: id,
    bodyHash: Buffer.alloc(32),
    idempotencyKey: null,
    exclusiveKey: null,
    expiresAt: null,
    dueAt: Date.now(),
    transactionId: null,
    endToEndId: null,
    detail: { recipient: { pixKey: '52998224725', pixKeyType: 'cpf' }, description: null },
    facts: {},
  }
}

/** Credits the balance with a paid charge. */
export function fund(): Command<void> {
  const id = randomUUID()
  const operation = { ...payout(id), kind: 'cash_in', status: 'PENDING', valueCents: FUNDS_CENTS, dueAt: null } as const
  return {
    reads: [],
    movements: [{ direction: 'in', id: 'E' }],
    decide: () => ({
      creates: [{ operation }],
      moves: [{ operationId: id, trigger: 'partner.confirmed', to: 'PAID' }],
      journals: [{ operationId: id, kind: 'cash_in_paid', reference: 'E', amounts: { v: FUNDS_CENTS, f: 0n } }],
      outcome: undefined,
    }),
  }
}
