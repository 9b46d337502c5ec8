import { type endpoints, Refusal } from '@pixgate/spec'
import type { SimulatorControl } from '../../partner/simulator-control.ts'
import type { Handlers } from '../../platform/http/handler.ts'
import { isUuid } from '../../platform/ids.ts'
import type { CashInModule } from '../cash-in/index.ts'

/** The levers of the simulated bank: of its charges, by the ids of our operations, and of the bank itself. */
export type SandboxHandlers = Handlers<
  Pick<typeof endpoints, 'payCashIn' | 'failCashIn' | 'getBankBehavior' | 'changeBankBehavior'>
>

/**
 * Makes the handlers. Nothing is changed here: the simulator's own webhook does that.
 * @source rules#sandbox.1
 */
export function createSandboxHandlers(
  control: SimulatorControl,
  cashIns: Pick<CashInModule, 'exists'>,
): SandboxHandlers {
  async function assertExists(id: string): Promise<void> {
    if (!isUuid(id) || !(await cashIns.exists(id))) throw new Refusal('not_found')
  }
  return {
    payCashIn: async ({ params, body }) => {
      await assertExists(params.id)
      const { endToEndId } = await control.pay(params.id, body)
      return { status: 202, body: { accepted: true, endToEndId } }
    },
    failCashIn: async ({ params }) => {
      await assertExists(params.id)
      await control.fail(params.id)
      return { status: 202, body: { accepted: true } }
    },
    getBankBehavior: async () => ({ status: 200, body: await control.behavior() }),
    changeBankBehavior: async ({ body }) => ({ status: 200, body: await control.changeBehavior(body) }),
  }
}
