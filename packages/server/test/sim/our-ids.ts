import type { SimulatedPartner } from './network.ts'
import type { Tables } from './tables.ts'

/** The simulation's bank knows everything by our own ids, as its stories do: what is sent and answered under order ids is translated here. */
export function inOurIds(partner: SimulatedPartner, tables: Pick<Tables, 'operations'>): SimulatedPartner {
  const idOf = (orderId: string) =>
    [...tables.operations.values()].find((operation) => operation.orderId === orderId)?.id ?? orderId
  const orderIdOf = (id: string) => tables.operations.get(id)?.orderId ?? id
  const answered = async <Answer extends object>(asking: Promise<Answer>): Promise<Answer> => {
    const answer = await asking
    const told = Object.entries(answer).map(([name, value]) => {
      const isThing = name === 'charge' || name === 'payout' || name === 'refund'
      return [name, isThing ? { ...value, id: orderIdOf(value.id) } : value]
    })
    return Object.fromEntries(told)
  }
  return {
    ...partner,
    createCharge: (orderId, ...more) => answered(partner.createCharge(idOf(orderId), ...more)),
    getCharge: (orderId, ...more) => answered(partner.getCharge(idOf(orderId), ...more)),
    cancelCharge: (orderId, ...more) => answered(partner.cancelCharge(idOf(orderId), ...more)),
    sendPayout: (orderId, ...more) => answered(partner.sendPayout(idOf(orderId), ...more)),
    getPayout: (orderId, ...more) => answered(partner.getPayout(idOf(orderId), ...more)),
    sendRefund: (orderId, ...more) => answered(partner.sendRefund(idOf(orderId), ...more)),
    getRefund: (orderId, ...more) => answered(partner.getRefund(idOf(orderId), ...more)),
  }
}
