import type { TestContext } from 'node:test'
import type { Caps } from '@pixgate/spec'
import { sha256 } from '../../src/platform/crypto.ts'
import { createRefundInCommands, createRefundInStore, type RefundInRequest } from '../../src/refund-in/commands.ts'
import type { BankReturn } from '../../src/refund-in/refund-in.ts'
import { testDatabase } from '../support/database.ts'
import { cashInRequest, payment, type TestEngine, testEngine } from '../support/engine.ts'
import { MADE_BY, refundTerms } from '../support/limits.ts'

/** Two processes on one database, without HTTP and without a bank. */
export async function refundOffice(t: TestContext, caps: Partial<Caps> = {}) {
  const { url, database } = await testDatabase(t)
  const store = createRefundInStore(database)
  const processOf = (engine: TestEngine) => createRefundInCommands({ ...engine, terms: refundTerms(caps), store })
  const [engine, another] = [testEngine(t, url), testEngine(t, url)]
  let charges = 0

  /** A charge of R$ 100,00 that was paid a moment ago; the merchant is credited R$ 99,00. */
  async function paid(): Promise<string> {
    charges += 1
    const [id, externalId] = [engine.ids.uuid(), `order-${charges}`]
    await engine.cashIns.create(cashInRequest({ id, externalId }))
    const endToEndId = `E${charges}`
    await engine.cashIns.apply(id, {
      on: 'partner.confirmed',
      transactionId: `tx-${charges}`,
      payment: payment({ endToEndId, occurredAt: engine.clock.now() }),
    })
    return id
  }

  function request(cashInId: string, given: Partial<RefundInRequest> = {}): RefundInRequest {
    const id = engine.ids.uuid()
    const content = { cashInId, valueCents: 40_00n, externalId: id, reason: null, ...given }
    const bodyHash = sha256(JSON.stringify({ ...content, valueCents: String(content.valueCents) }))
    return { id, correlationId: 'test', idempotencyKey: null, madeBy: MADE_BY, ...content, bodyHash }
  }
  const returned = (given: Partial<BankReturn> = {}): BankReturn => {
    const occurredAt = engine.clock.now()
    return { returnId: 'M1', valueCents: 40_00n, occurredAt, transactionId: 'tx-b', ...given }
  }
  const now = () => engine.clock.now()
  const [one, other] = [processOf(engine), processOf(another)]
  return { database, store, engine, one, other, paid, request, returned, now }
}
