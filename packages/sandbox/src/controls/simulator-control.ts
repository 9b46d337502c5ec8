import type { Outcome, PartnerCall, PartnerLink } from '@pixgate/server'
import { type BankBehavior, type BankBehaviorChange, bankBehavior, Refusal } from '@pixgate/spec'
import { Ajv } from 'ajv'

/**
 * What can be done at the simulated bank and at no real one. What it sets off arrives as the bank's own signed events.
 * All throw Refusal `partner_unavailable` where the simulator did not answer as it should.
 * @source rules#sandbox.1
 */
export interface SimulatorControl {
  /**
   * Acts on one order.
   * @param id the order id, by which the simulator knows the order
   * @param params what the action may be told besides
   * @throws Refusal `not_possible_in_state` the order is not there yet, or does not allow that now · `validation_error`
   */
  act(action: OrderAction, id: string, params?: object): Promise<ActionResult>
  /** How the simulator behaves. */
  behavior(): Promise<BankBehavior>
  /**
   * Changes the fields given and leaves the others.
   * @returns the whole behaviour that follows
   * @source rules#sandbox.6
   */
  changeBehavior(change: BankBehaviorChange): Promise<BankBehavior>
}

/** What can be done to an order, by its kind. */
export type OrderAction =
  | `charges/${'pay' | 'fail' | 'return'}`
  | `payouts/${'confirm' | 'fail' | 'reverse'}`
  | `refunds/${'confirm' | 'fail'}`

/** What came of it: the end-to-end id of the payment that was made, or that was taken back. */
export interface ActionResult {
  readonly endToEndId?: string
}

/** Controls the simulator at the other end of a link. */
export function createSimulatorControl(link: PartnerLink): SimulatorControl {
  function behavior(call: Pick<PartnerCall, 'method' | 'body'>): Promise<Outcome> {
    return link.exchange({ ...call, path: '/control/behavior' })
  }
  return {
    act: async (action, id, params) => {
      const [orders, verb] = action.split('/')
      const path = `/control/${orders}/${encodeURIComponent(id)}/${verb}`
      return resultOf(await link.exchange({ method: 'POST', path, ...(params && { body: params }) }))
    },
    behavior: async () => {
      const first = await behavior({ method: 'GET' })
      // Reading is harmless, and a kept connection may end as it is used.
      return behaviorIn(first.kind === 'answered' ? first : await behavior({ method: 'GET' }))
    },
    changeBehavior: async (change) => behaviorIn(await behavior({ method: 'PUT', body: change })),
  }
}

function resultOf(outcome: Outcome): ActionResult {
  if (outcome.kind !== 'answered') throw new Refusal('partner_unavailable')
  const { httpStatus, json } = outcome
  if (httpStatus === 400) throw new Refusal('validation_error')
  // That the operation exists is known here; the bank has not got its order yet.
  if (httpStatus === 404 || httpStatus === 409) throw new Refusal('not_possible_in_state')
  if (httpStatus !== 202 || !isAccepted(json)) throw new Refusal('partner_unavailable')
  const { endToEndId } = json
  return endToEndId === undefined ? {} : { endToEndId }
}

const ajv = new Ajv()

const isAccepted = ajv.compile<ActionResult>({ type: 'object', properties: { endToEndId: { type: 'string' } } })

const isBehavior = ajv.compile<BankBehavior>(bankBehavior)

/** Another bank than the simulator has no behaviour. */
function behaviorIn(outcome: Outcome): BankBehavior {
  if (outcome.kind === 'answered' && outcome.httpStatus === 200 && isBehavior(outcome.json)) return outcome.json
  throw new Refusal('partner_unavailable')
}
