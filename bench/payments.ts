import { createHmac } from 'node:crypto'
import { type PartnerEvent, receiveCashInEvent } from '@pixgate/spec'
import type { Charge } from './charges.ts'
import type { Pixgate } from './pixgate.ts'

/** @returns tells, as the bank does, that a charge was paid; resolves when the service has taken the event */
export function payer({ send, partnerSecret }: Pixgate): (charge: Charge) => Promise<string> {
  return (charge) => {
    const body = JSON.stringify(paymentOf(charge))
    const headers = {
      'content-type': 'application/json',
      'x-partner-signature': `sha256=${createHmac('sha256', partnerSecret).update(body).digest('hex')}`,
      'x-partner-timestamp': `${Date.now()}`,
    }
    return send({ method: 'POST', path: receiveCashInEvent.path, headers, body })
  }
}

function paymentOf({ id, orderId, transactionId, valueCents }: Charge): PartnerEvent {
  return {
    event: 'CashIn',
    eventId: id,
    transactionId,
    externalId: orderId,
    status: 'CONFIRMED',
    endToEndId: `E${id}`,
    valueCents,
    payer: { name: 'Maria da Silva', document: '52998224725', ispb: '99999010' },
    occurredAt: new Date().toISOString(),
  }
}
