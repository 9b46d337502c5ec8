import type { TestContext } from 'node:test'
import type { CaseDecision } from '@pixgate/spec'
import { createCashOutCommands } from '../../src/cash-out/commands.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { createRefundInCommands, createRefundInStore } from '../../src/refund-in/commands.ts'
import { TERMS as CASH_OUT_TERMS, cashOutRequest, INPUTS, confirmed as left } from '../cash-out/situations.ts'
import { testDatabase } from '../support/database.ts'
import { decideOn, type Ordered } from '../support/deciding.ts'
import { cashInRequest, payment, testEngine } from '../support/engine.ts'
import { MADE_BY, refundTerms } from '../support/limits.ts'

/** Operations on a real database whose cases operators decide, without a bank: the tests tell what it says. */

/** Charges, payouts and refunds, and whoever decides their cases. */
export async function caseWorld(t: TestContext) {
  const { url, database } = await testDatabase(t)
  const engine = testEngine(t, url)
  const { cashIns, clock, ids } = engine
  const cashOuts = createCashOutCommands(engine.engine, CASH_OUT_TERMS)
  const refunds = createRefundInCommands({ ...engine, terms: refundTerms(), store: createRefundInStore(database) })
  const charge = async (externalId: string, valueCents = 100_00n) => {
    const id = ids.uuid()
    await cashIns.create(cashInRequest({ id, externalId, valueCents }))
    return id
  }
  const pay = (id: string, endToEndId: string, valueCents = 100_00n) =>
    cashIns.apply(id, {
      on: 'partner.confirmed',
      payment: payment({ endToEndId, valueCents, occurredAt: clock.now() }),
      transactionId: id,
    })
  const payout = async (externalId = 'payout') => {
    const { cashOut } = await cashOuts.create(cashOutRequest({ id: ids.uuid(), externalId }))
    await cashOuts.apply(cashOut.id, [INPUTS['send.claimed']])
    return cashOut.id
  }
  /** A payout that waits for its approval. */
  const unsent = async (externalId: string) => {
    const terms = { ...CASH_OUT_TERMS, approvalFromCents: 1n }
    const { cashOut } = await createCashOutCommands(engine.engine, terms).create(
      cashOutRequest({ id: ids.uuid(), externalId }),
    )
    return cashOut.id
  }
  const refund = async (cashInId: string) => {
    const id = ids.uuid()
    const wanted = { id, cashInId, externalId: id, valueCents: 40_00n, reason: null, correlationId: 'test' }
    await refunds.create({ ...wanted, idempotencyKey: null, madeBy: MADE_BY, bodyHash: sha256(id) })
    await refunds.apply(id, [INPUTS_OF_REFUND])
    return id
  }
  const decide = (kind: string, decision: CaseDecision, ordered: Ordered = {}) =>
    decideOn({ engine: engine.engine, database }, kind, decision, ordered)
  return { ...engine, database, databaseUrl: url, cashOuts, refunds, charge, pay, payout, unsent, refund, decide }
}

const INPUTS_OF_REFUND = INPUTS['send.claimed']

/** A charge of R$ 100,00 that was paid, and paid again. */
export async function paidTwice(t: TestContext) {
  const at = await caseWorld(t)
  const id = await at.charge('a')
  await at.pay(id, 'E1')
  await at.pay(id, 'E2')
  return { ...at, id }
}

/** A payout of R$ 30,00 with a fee of R$ 1,00, claimed for sending, and R$ 99,00 before it. */
export async function sent(t: TestContext) {
  const at = await caseWorld(t)
  const chargeId = await at.charge('a')
  await at.pay(chargeId, 'E1')
  const id = await at.payout()
  const leave = (endToEndId: string, valueCents: bigint) =>
    at.cashOuts.apply(id, [left({ endToEndId, valueCents, occurredAt: at.clock.now() })])
  return { ...at, id, chargeId, leave }
}
