import { type Connector, connector } from './connector.ts'
import { openPixgateBank } from './pixgate/bank.ts'
import { pixgateBankConfig, pixgateBankVariables } from './pixgate/config.ts'
import { readPartnerTls } from './pixgate/tls.ts'

/** Connectors by the name that chooses one of them: the value of `PIXGATE_BANK`. */
export type Connectors = Readonly<Record<string, Connector>>

/** The connector where none is chosen: banks that speak our own protocol, as the simulated one does. */
export const pixgate = connector({
  title: 'A bank that speaks the partner protocol',
  variables: pixgateBankVariables,
  settings: { address: 'PIXGATE_PARTNER_URL', credentials: 'PIXGATE_PARTNER_TOKEN' },
  faults: (environment) => readPartnerTls(environment).faults,
  configOf: pixgateBankConfig,
  open: openPixgateBank,
})

/** Every bank that there is a connector for. */
export const banks = { pixgate } as const satisfies Connectors
