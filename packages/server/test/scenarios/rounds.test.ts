import test from 'node:test'
import { createOneOperation, refundOnePayment, spendOneBalance } from './rounds.ts'

test('[engine.5] [CO-5] in 40 rounds one balance is spent to the centavo and never twice', (t) =>
  spendOneBalance(t, 1, 40))

test('[refund-in.create.2] [RF-2] in 30 rounds refunds never exceed a payment', (t) => refundOnePayment(t, 2, 30))

test('[engine.4] [external-id.2] [idempotency.2] [refund-in.create.6] in 20 rounds one external id makes one operation', (t) =>
  createOneOperation(t, 3, 20))
