import test from 'node:test'
import { SEED } from '../support/seed.ts'
import { createOneOperation, refundOnePayment, spendOneBalance } from './rounds.ts'

test('[engine.5] [CO-5] in 400 rounds one balance is spent to the centavo and never twice', (t) =>
  spendOneBalance(t, SEED + 1, 400))

test('[refund-in.create.2] [RF-2] in 300 rounds refunds never exceed a payment', (t) =>
  refundOnePayment(t, SEED + 2, 300))

test('[engine.4] [external-id.2] [idempotency.2] [refund-in.create.6] in 200 rounds one external id makes one operation', (t) =>
  createOneOperation(t, SEED + 3, 200))
