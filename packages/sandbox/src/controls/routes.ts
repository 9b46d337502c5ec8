import {
  type AddEndpoints,
  type BoundEndpoint,
  bindEndpoints,
  type Handlers,
  isUuid,
  type KnownOperations,
  type PartnerLink,
} from '@pixgate/server'
import { forOperators, Refusal, sandboxEndpoints } from '@pixgate/spec'
import { createSimulatorControl, type OrderAction, type SimulatorControl } from './simulator-control.ts'

/**
 * Endpoints that the sandbox adds to the service to control the simulated bank: actions on orders, by the ids of our
 * operations, the bank's behaviour, and the daily close. The link connects to the bank.
 * @source rules#sandbox.1
 */
export function sandboxControls(link: PartnerLink): AddEndpoints {
  return (operations) => {
    const controls = bindEndpoints(sandboxEndpoints, createHandlers(createSimulatorControl(link), operations))
    return [...controls, ...controls.map(ofConsole)]
  }
}

/** The same control for the console: `POST /operator/sandbox/…`. @source rules#console.15 */
function ofConsole({ endpoint, handle }: BoundEndpoint): BoundEndpoint {
  const role = endpoint.method === 'GET' ? 'viewer' : 'operator'
  return { endpoint: forOperators(endpoint, `${endpoint.id}InConsole`, `/operator${endpoint.path}`, role), handle }
}

/** The handlers change no operation of the service; the simulator's events do. */
function createHandlers(
  control: SimulatorControl,
  { cashIns, cashOuts, refunds, closes }: KnownOperations,
): Handlers<typeof sandboxEndpoints> {
  function act(action: OrderAction, operations: KnownOperations['cashIns']) {
    return async ({
      params: { id },
      body,
    }: {
      readonly params: { readonly id: string }
      readonly body?: object | undefined
    }) => {
      const orderId = isUuid(id) ? (await operations.get(id))?.orderId : undefined
      if (orderId === undefined) throw new Refusal('not_found')
      return { status: 202, body: { accepted: true, ...(await control.act(action, orderId, body)) } } as const
    }
  }
  return {
    payCashIn: act('charges/pay', cashIns),
    failCashIn: act('charges/fail', cashIns),
    returnCashIn: act('charges/return', cashIns),
    confirmCashOut: act('payouts/confirm', cashOuts),
    failCashOut: act('payouts/fail', cashOuts),
    reverseCashOut: act('payouts/reverse', cashOuts),
    confirmRefundIn: act('refunds/confirm', refunds),
    failRefundIn: act('refunds/fail', refunds),
    closeToday: async () => ({ status: 201, body: await closes.closeToday() }),
    getBankBehavior: async () => ({ status: 200, body: await control.behavior() }),
    changeBankBehavior: async ({ body }) => ({ status: 200, body: await control.changeBehavior(body) }),
    getBankBook: async () => ({ status: 200, body: await control.book() }),
  }
}
