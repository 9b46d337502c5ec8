import type { Outcome, PartnerLink } from '@pixgate/server'
import {
  type BankBehavior,
  type BankBehaviorChange,
  type BankBook,
  bankBehavior,
  bankBook,
  Refusal,
} from '@pixgate/spec'
import { Ajv } from 'ajv'

/**
 * Controls of the simulated bank that no real bank has. Their effects arrive as the bank's signed events. All methods
 * throw Refusal `partner_unavailable` if the simulator does not respond as expected.
 * @source rules#sandbox.1
 */
export interface SimulatorControl {
  /**
   * Performs an action on an order.
   * @param id the order id, by which the simulator knows the order
   * @param params parameters of the action
   * @throws Refusal `not_possible_in_state` (unknown to the bank yet, or not possible now) · `validation_error`
   */
  act(action: OrderAction, id: string, params?: object): Promise<ActionResult>
  /** The simulator's current behaviour. */
  behavior(): Promise<BankBehavior>
  /**
   * Changes only the given fields.
   * @returns the complete new behaviour
   * @source rules#sandbox.6
   */
  changeBehavior(change: BankBehaviorChange): Promise<BankBehavior>
  /** Balance and newest movements at the bank. @source rules#sandbox.23 */
  book(): Promise<BankBook>
}

/** Actions on an order, by its kind. */
export type OrderAction =
  | `charges/${'pay' | 'fail' | 'return'}`
  | `payouts/${'confirm' | 'fail' | 'reverse'}`
  | `refunds/${'confirm' | 'fail'}`

/** Result of an action: the EndToEndId of the payment that was made or returned. */
export interface ActionResult {
  readonly endToEndId?: string
}

/** Creates the controls of the simulator at the other end of a link. */
export function createSimulatorControl(link: PartnerLink): SimulatorControl {
  /** A read can be retried, and a keep-alive connection may close while it is used. */
  async function read(path: `/${string}`): Promise<Outcome> {
    const first = await link.exchange({ method: 'GET', path })
    return first.kind === 'answered' ? first : link.exchange({ method: 'GET', path })
  }
  return {
    act: async (action, id, params) => {
      const [orders, verb] = action.split('/')
      const path = `/control/${orders}/${encodeURIComponent(id)}/${verb}`
      return resultOf(await link.exchange({ method: 'POST', path, ...(params && { body: params }) }))
    },
    behavior: async () => answerIn(await read('/control/behavior'), isBehavior),
    changeBehavior: async (body) =>
      answerIn(await link.exchange({ method: 'PUT', path: '/control/behavior', body }), isBehavior),
    book: async () => answerIn(await read('/control/account'), isBook),
  }
}

function resultOf(outcome: Outcome): ActionResult {
  if (outcome.kind !== 'answered') throw new Refusal('partner_unavailable')
  const { httpStatus, json } = outcome
  if (httpStatus === 400) throw new Refusal('validation_error')
  // The operation exists, so 404 means that the bank has not received its order yet.
  if (httpStatus === 404) {
    throw new Refusal('not_possible_in_state', { message: 'the simulated bank does not know this order yet' })
  }
  if (httpStatus === 409) {
    throw new Refusal('not_possible_in_state', { message: 'this order is settled at the bank, or less is left of it' })
  }
  if (httpStatus !== 202 || !isAccepted(json)) throw new Refusal('partner_unavailable')
  const { endToEndId } = json
  return endToEndId === undefined ? {} : { endToEndId }
}

const ajv = new Ajv({ formats: { int64: true, 'date-time': true } })

const isAccepted = ajv.compile<ActionResult>({ type: 'object', properties: { endToEndId: { type: 'string' } } })

const isBehavior = ajv.compile<BankBehavior>(bankBehavior)

const isBook = ajv.compile<BankBook>(bankBook)

/** Validates an answer that only the simulator has. */
function answerIn<Answer>(outcome: Outcome, isAnswer: (json: unknown) => json is Answer): Answer {
  if (outcome.kind === 'answered' && outcome.httpStatus === 200 && isAnswer(outcome.json)) return outcome.json
  throw new Refusal('partner_unavailable')
}
