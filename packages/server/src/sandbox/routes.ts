import { type endpoints, Refusal } from '@pixgate/spec'
import type { Lever, SimulatorControl } from '../banks/pixgate/simulator-control.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { isUuid } from '../platform/ids.ts'

/** The levers of the simulated bank: of its orders, by the ids of our operations, and of the bank itself. */
export type SandboxHandlers = Handlers<
  Pick<
    typeof endpoints,
    | 'payCashIn'
    | 'failCashIn'
    | 'returnCashIn'
    | 'confirmCashOut'
    | 'failCashOut'
    | 'reverseCashOut'
    | 'confirmRefundIn'
    | 'failRefundIn'
    | 'getBankBehavior'
    | 'changeBankBehavior'
  >
>

/** Operations of one kind. */
interface Operations {
  exists(id: string): Promise<boolean>
}

/**
 * Makes the handlers. Nothing is changed here: the simulator's own webhook does that.
 * @source rules#sandbox.1
 */
export function createSandboxHandlers(
  control: SimulatorControl,
  cashIns: Operations,
  cashOuts: Operations,
  refundIns: Operations,
): SandboxHandlers {
  function lever(name: Lever, operations: Operations) {
    return async ({
      params: { id },
      body,
    }: {
      readonly params: { readonly id: string }
      readonly body?: object | undefined
    }) => {
      if (!isUuid(id) || !(await operations.exists(id))) throw new Refusal('not_found')
      return { status: 202, body: { accepted: true, ...(await control.pull(name, id, body)) } } as const
    }
  }
  return {
    payCashIn: lever('charges/pay', cashIns),
    failCashIn: lever('charges/fail', cashIns),
    returnCashIn: lever('charges/return', cashIns),
    confirmCashOut: lever('payouts/confirm', cashOuts),
    failCashOut: lever('payouts/fail', cashOuts),
    reverseCashOut: lever('payouts/reverse', cashOuts),
    confirmRefundIn: lever('refunds/confirm', refundIns),
    failRefundIn: lever('refunds/fail', refundIns),
    getBankBehavior: async () => ({ status: 200, body: await control.behavior() }),
    changeBankBehavior: async ({ body }) => ({ status: 200, body: await control.changeBehavior(body) }),
  }
}
