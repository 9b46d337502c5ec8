import { openApiPixBank } from './api-pix/bank.ts'
import {
  apiPixConfig,
  apiPixFaults,
  apiPixVariables,
  efiConfig,
  efiFaults,
  efiVariables,
  standardSettings,
} from './api-pix/config.ts'
import { type Connector, connector } from './bank.ts'
import { readPartnerTls } from './certificates.ts'
import { openEfiBank } from './efi/bank.ts'
import { openPixgateBank } from './pixgate/bank.ts'
import { pixgateBankConfig, pixgateBankVariables } from './pixgate/config.ts'

/** Connectors by the value of `PIXGATE_BANK`. */
export type Connectors = Readonly<Record<string, Connector>>

/** The default: banks of our own protocol, such as the simulator. */
export const pixgate = connector({
  title: 'A bank that speaks the partner protocol',
  variables: pixgateBankVariables,
  settings: {
    address: 'PIXGATE_PARTNER_URL',
    credentials: 'PIXGATE_PARTNER_TOKEN',
    certificate: 'PIXGATE_PARTNER_CLIENT_CERTIFICATE_FILE',
    authorities: 'PIXGATE_PARTNER_CA_BUNDLE_FILE',
  },
  faults: (environment) => readPartnerTls(environment).faults,
  configOf: pixgateBankConfig,
  open: openPixgateBank,
})

const apiPix = connector({
  title: 'A bank that follows the Central Bank’s API Pix',
  variables: apiPixVariables,
  settings: standardSettings,
  faults: apiPixFaults,
  configOf: apiPixConfig,
  open: openApiPixBank,
})

const efi = connector({
  title: 'Efí',
  variables: efiVariables,
  settings: standardSettings,
  faults: efiFaults,
  configOf: efiConfig,
  open: openEfiBank,
})

export const banks = { pixgate, efi, 'api-pix': apiPix } as const satisfies Connectors
