import { createClient } from '../examples/demo/client.ts'
import { Started } from '../examples/demo/processes.ts'
import { controlsOf, registerCallbacks, settingsOf, startStandardBank } from '../examples/demo/standard-bank.ts'
import { probePort } from '../packages/server/src/platform/ports.ts'
import type { After } from './benchmark.ts'

/** A bank that the service is connected to. */
export interface BenchBank {
  /** What the service is told of it. */
  readonly settings: Readonly<Record<string, string>>
  /** Tells it where the service is, once it is there. */
  register(url: string): Promise<unknown>
  /** Lets somebody pay a charge. @param id by which the bank knows it */
  payCharge(id: string): Promise<unknown>
}

/** Starts what there must be before the service. */
export type OpenBank = (after: After) => Promise<BenchBank>

const TOKEN = 'token-of-the-benchmarks'

/** The simulated bank by our own protocol: the sandbox starts it. */
export const simulatedBank: OpenBank = async () => {
  const port = String(await probePort(0))
  const controls = createClient(`http://127.0.0.1:${port}`, TOKEN)
  return {
    settings: { PIXGATE_SIMULATOR_PORT: port, PIXGATE_PARTNER_TOKEN: TOKEN },
    register: async () => undefined,
    payCharge: (id) => controls.post(`/control/charges/${id}/pay`),
  }
}

/** The same bank by the Central Bank's standard, over mTLS, with tokens and callbacks. */
export function standardBank(name: 'api-pix' | 'efi'): OpenBank {
  return async (after) => {
    const started = new Started()
    after(() => started.stop())
    const bank = await startStandardBank(started)
    const settings = settingsOf(name, bank)
    const controls = controlsOf(bank)
    return {
      settings,
      register: (url) => registerCallbacks({ ...settings, PIXGATE_BANK_CALLBACK_URL: url }),
      payCharge: (id) => controls.post(`/control/charges/${id.replaceAll('-', '')}/pay`),
    }
  }
}
