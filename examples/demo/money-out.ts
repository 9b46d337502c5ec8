import assert from 'node:assert/strict'
import type { Client } from './client.ts'
import { print, reais, until } from './output.ts'
import type { Receiver } from './receiver.ts'

/** Outgoing money: a payout to a Pix key, a payout for a QR code, and a refund. */

interface Operation {
  readonly id: string
  readonly status: string
}

interface Payout extends Operation {
  readonly endToEndId: string | null
  readonly recipient: { readonly name: string | null; readonly pixKey: string }
  readonly reserved_total_cents: number
}

/** Sends a payout to a Pix key. @returns the debited amount with fees, centavos */
export async function payKey(pix: Client, receiver: Receiver, valueCents: number): Promise<number> {
  return settled(pix, receiver, await createPayout(pix, valueCents), 'Payout')
}

function createPayout(pix: Client, valueCents: number): Promise<Operation> {
  return pix.post('/api/pix/cash-out', {
    transaction: { value: valueCents / 100, externalId: `demo-${crypto.randomUUID()}`, description: 'Fornecedor' },
    recipient: { pixKey: 'Joao@Example.com', pixKeyType: 'email', name: 'João Souza' },
  })
}

/** Requests a payout from a bank that does not support payouts. @returns the debited amount: 0 */
export async function payoutsAreRefused(pix: Client): Promise<number> {
  await assert.rejects(createPayout(pix, 1), /answered 422: .*not_supported_by_bank/, 'the payout was not refused')
  print('Payout', 'refused with 422 not_supported_by_bank: API Pix has charges and returns, but no payouts')
  return 0
}

/** Pays a QR code. @returns the debited amount with fees, centavos */
export async function payCode(pix: Client, receiver: Receiver, pixCode: string, valueCents: number): Promise<number> {
  const created = await pix.post<Operation>('/api/pix/cash-out-qrcode', {
    transaction: { pixCode, value: valueCents / 100, externalId: `demo-${crypto.randomUUID()}` },
  })
  return settled(pix, receiver, created, 'QR payout')
}

async function settled(pix: Client, receiver: Receiver, created: Operation, what: string): Promise<number> {
  assert.equal(created.status, 'RESERVED', 'the payout is not RESERVED')
  const payout = await until('the payout was not confirmed', async () => {
    const detail = await pix.get<Payout>(`/api/pix/cash-out/${created.id}`)
    return detail.status === 'CONFIRMED' ? detail : undefined
  })
  await notificationArrives(receiver, payout.id, 'pix_cash_out')
  print(what, `CONFIRMED to ${payout.recipient.name ?? payout.recipient.pixKey}, end-to-end id ${payout.endToEndId}`)
  return payout.reserved_total_cents
}

/** Refunds part of a payment. */
export async function refund(pix: Client, receiver: Receiver, cashInId: string, valueCents: number): Promise<void> {
  const created = await pix.post<Operation>(`/api/pix/refund-in/${cashInId}`, {
    refundValue: valueCents / 100,
    reason: 'Um pão de queijo a menos',
  })
  assert.equal(created.status, 'PENDING', 'the refund is not PENDING')
  await until('the refund was not confirmed', async () => {
    const detail = await pix.get<Operation>(`/api/pix/refund/${created.id}`)
    return detail.status === 'CONFIRMED'
  })
  await notificationArrives(receiver, cashInId, 'pix_cash_in_reversal')
  print('Refund', `${reais(valueCents)} returned to the payer`)
}

async function notificationArrives(receiver: Receiver, id: string, eventType: string): Promise<void> {
  const { event } = await until(`no ${eventType} arrived`, () =>
    receiver.notifications.find(
      (notification) => notification.event_type === eventType && notification.event.id === id,
    ),
  )
  assert.equal(event.status, 'CONFIRMED', `the status of ${eventType} is not CONFIRMED`)
}
