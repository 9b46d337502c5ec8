import { type EndpointInput, type payCashIn, Refusal } from '@pixgate/spec'
import type { Outcome, PartnerCall, PartnerLink } from './link.ts'

/**
 * The levers of the simulated bank, which no real bank has. What they set off arrives as the bank's own signed events.
 *
 * Every lever throws Refusal `not_found` (the simulator knows no such charge), `not_possible_in_state` (its charge does
 * not allow that now) or `partner_unavailable` (it did not answer as it should).
 * @source rules#sandbox.1
 */
export interface SimulatorControl {
  /**
   * Pays a charge, whether or not it is due, expired or paid before.
   * @returns the payment's end-to-end id, of its own
   * @source rules#sandbox.2
   */
  pay(chargeId: string, order: PaymentOrder): Promise<{ readonly endToEndId: string }>
  /** Lets a charge fail. @source rules#sandbox.3 */
  fail(chargeId: string): Promise<void>
  /** How the simulator behaves from now on. */
  getBehavior(): Promise<SimulatorBehavior>
  /**
   * Changes the fields given and leaves the others.
   * @returns the whole behaviour that follows
   * @throws Refusal `validation_error` too, where the simulator knows no such field or value
   */
  putBehavior(change: SimulatorBehavior): Promise<SimulatorBehavior>
}

/** What is left out pays exactly what the charge asks, by a payer the simulator makes up. */
export type PaymentOrder = EndpointInput<typeof payCashIn>['body']

/** Known to the simulator alone; see its own documentation. */
export type SimulatorBehavior = Readonly<Record<string, unknown>>

/** Makes the levers of the simulator at the other end of a link. */
export function createSimulatorControl(link: PartnerLink): SimulatorControl {
  async function control(call: PartnerCall): Promise<Readonly<Record<string, unknown>>> {
    return answerOf(await link.exchange({ ...call, path: `/control${call.path}` }))
  }
  return {
    async pay(chargeId, order) {
      const { endToEndId } = await control({ method: 'POST', path: chargePath(chargeId, 'pay'), body: order })
      if (typeof endToEndId !== 'string') throw new Refusal('partner_unavailable')
      return { endToEndId }
    },
    async fail(chargeId) {
      await control({ method: 'POST', path: chargePath(chargeId, 'fail') })
    },
    getBehavior: () => control({ method: 'GET', path: '/behavior' }),
    putBehavior: (change) => control({ method: 'PUT', path: '/behavior', body: change }),
  }
}

function chargePath(id: string, lever: string): string {
  return `/charges/${encodeURIComponent(id)}/${lever}`
}

function answerOf(outcome: Outcome): Readonly<Record<string, unknown>> {
  if (outcome.kind !== 'answered') throw new Refusal('partner_unavailable')
  const { httpStatus, json } = outcome
  if (httpStatus === 400) throw new Refusal('validation_error')
  if (httpStatus === 404) throw new Refusal('not_found')
  if (httpStatus === 409) throw new Refusal('not_possible_in_state')
  if (httpStatus >= 300 || !isObject(json)) throw new Refusal('partner_unavailable')
  return json
}

function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null
}
