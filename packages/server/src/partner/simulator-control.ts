import {
  type BankBehavior,
  type BankBehaviorChange,
  bankBehavior,
  type EndpointInput,
  type payCashIn,
  Refusal,
} from '@pixgate/spec'
import { Ajv } from 'ajv'
import type { Outcome, PartnerCall, PartnerLink } from './link.ts'

/**
 * The levers of the simulated bank, which no real bank has. What they set off arrives as the bank's own signed events.
 *
 * Every lever throws Refusal `partner_unavailable` where the simulator did not answer as it should, those of a charge
 * also `not_found` (it knows no such charge) and `not_possible_in_state` (the charge does not allow that now).
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
  /** How the simulator behaves. */
  behavior(): Promise<BankBehavior>
  /**
   * Changes the fields given and leaves the others.
   * @returns the whole behaviour that follows
   * @source rules#sandbox.6
   */
  changeBehavior(change: BankBehaviorChange): Promise<BankBehavior>
}

/** What is left out pays exactly what the charge asks, by a payer the simulator makes up. */
export type PaymentOrder = EndpointInput<typeof payCashIn>['body']

/** Makes the levers of the simulator at the other end of a link. */
export function createSimulatorControl(link: PartnerLink): SimulatorControl {
  async function control(call: PartnerCall): Promise<Readonly<Record<string, unknown>>> {
    return answerOf(await link.exchange({ ...call, path: `/control${call.path}` }))
  }
  async function behavior(call: Pick<PartnerCall, 'method' | 'body'>): Promise<BankBehavior> {
    return behaviorIn(await link.exchange({ ...call, path: '/control/behavior' }))
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
    behavior: () => behavior({ method: 'GET' }),
    changeBehavior: (change) => behavior({ method: 'PUT', body: change }),
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

const isBehavior = new Ajv().compile<BankBehavior>(bankBehavior)

/** Another bank than the simulator has no behaviour. */
function behaviorIn(outcome: Outcome): BankBehavior {
  if (outcome.kind === 'answered' && outcome.httpStatus === 200 && isBehavior(outcome.json)) return outcome.json
  throw new Refusal('partner_unavailable')
}

function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null
}
