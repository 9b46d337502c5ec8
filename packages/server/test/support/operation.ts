import type { Operation } from '../../src/engine/operation.ts'

/** A charge of R$ 1,00 that was just made, as the engine keeps it; what a test cares about is given. */
export function operationAs(given: Partial<Operation> & Pick<Operation, 'id'>): Operation {
  return {
    kind: 'cash_in',
    externalId: `external ${given.id}`,
    orderId: `order ${given.id}`,
    status: 'PENDING',
    version: 1,
    valueCents: 1_00n,
    feeCents: 0n,
    correlationId: 'test',
    bodyHash: Buffer.alloc(32),
    idempotencyKey: null,
    exclusiveKey: null,
    expiresAt: null,
    dueAt: null,
    transactionId: null,
    endToEndId: null,
    detail: {},
    facts: {},
    createdAt: 0,
    updatedAt: 0,
    ...given,
  }
}
