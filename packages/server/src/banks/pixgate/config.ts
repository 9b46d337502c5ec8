import {
  address,
  flag,
  headerSecret,
  integer,
  narrowNetworks,
  networks,
  secret,
  text,
  type Values,
  variables,
} from '../../platform/variables.ts'
import { readPartnerTls } from '../certificates.ts'

const SECRET_MIN_LENGTH = 32
const PATH_MAX_LENGTH = 4_096

const hmacSecret = { shape: secret(), productionShape: secret(SECRET_MIN_LENGTH), secret: true } as const
const headerKey = { shape: headerSecret(), productionShape: headerSecret(SECRET_MIN_LENGTH), secret: true } as const

export const pixgateBankVariables = variables({
  PIXGATE_PARTNER_URL: {
    shape: address('http:', 'https:'),
    productionShape: address('https:'),
    required: 'always',
    isMadeBySandbox: true,
    isBankAddress: true,
    description: 'Address of the bank.',
  },
  PIXGATE_PARTNER_TOKEN: {
    ...headerKey,
    required: 'always',
    isMadeBySandbox: true,
    description: 'Bearer token we send to the bank.',
  },
  PIXGATE_PARTNER_SECRET: {
    ...hmacSecret,
    required: 'always',
    isMadeBySandbox: true,
    description: "HMAC secret of the bank's events.",
  },
  PIXGATE_PARTNER_SECRET_PREVIOUS: {
    ...hmacSecret,
    description: 'The HMAC secret before it; accepted too, while the bank changes over.',
  },
  PIXGATE_PARTNER_INBOUND_API_KEY: {
    ...headerKey,
    needs: 'PIXGATE_PARTNER_ADDRESSES',
    description: 'A static key accepted in X-Partner-Api-Key instead of a signature. Unset: never.',
  },
  PIXGATE_PARTNER_INBOUND_API_KEY_PREVIOUS: {
    ...headerKey,
    needs: 'PIXGATE_PARTNER_ADDRESSES',
    description: 'The static key before it; accepted too, while the bank changes over.',
  },
  PIXGATE_PARTNER_ADDRESSES: {
    shape: networks(),
    productionShape: narrowNetworks(),
    description:
      'Where the bank calls from with PIXGATE_PARTNER_INBOUND_API_KEY, which counts from nowhere else and in production needs this. Unset: from anywhere.',
  },
  PIXGATE_PARTNER_CLIENT_CERTIFICATE_FILE: {
    shape: text(PATH_MAX_LENGTH),
    description:
      'File of the certificate that we show to the bank, in PEM, with those between it and its authority behind it. Unset: none.',
  },
  PIXGATE_PARTNER_CLIENT_KEY_FILE: {
    shape: text(PATH_MAX_LENGTH),
    description: 'File of the private key of that certificate, in PEM without a passphrase.',
  },
  PIXGATE_PARTNER_CA_BUNDLE_FILE: {
    shape: text(PATH_MAX_LENGTH),
    description:
      "File of the authorities, in PEM, that alone are trusted for the bank. Unset: Node.js's own and those of NODE_EXTRA_CA_CERTS.",
  },
  PIXGATE_PARTNER_TIMEOUT_MS: {
    shape: integer(100, 10_000, 'milliseconds'),
    default: '3000',
    description: 'Time for one call to the bank.',
  },
  PIXGATE_PARTNER_CREATE_BUDGET_MS: {
    shape: integer(100, 14_000, 'milliseconds'),
    default: '8000',
    description: 'Time for the bank within the creation of a charge, all tries together.',
  },
  PIXGATE_PARTNER_IDEMPOTENT_ORDERS: {
    shape: flag(),
    default: 'true',
    description:
      'Whether the bank carries a payout or a refund out once, however often it gets it under one id. If not, none whose answer was lost is ever sent again.',
  },
})

export type PixgateBankConfig = ReturnType<typeof pixgateBankConfig>

export function pixgateBankConfig(values: Values<typeof pixgateBankVariables>) {
  const { tls, certificates } = readPartnerTls(values)
  return {
    url: values.PIXGATE_PARTNER_URL,
    token: values.PIXGATE_PARTNER_TOKEN,
    secret: values.PIXGATE_PARTNER_SECRET,
    secretPrevious: values.PIXGATE_PARTNER_SECRET_PREVIOUS,
    inboundApiKey: values.PIXGATE_PARTNER_INBOUND_API_KEY,
    inboundApiKeyPrevious: values.PIXGATE_PARTNER_INBOUND_API_KEY_PREVIOUS,
    addresses: values.PIXGATE_PARTNER_ADDRESSES,
    tls,
    certificates,
    timeoutMs: values.PIXGATE_PARTNER_TIMEOUT_MS,
    createBudgetMs: values.PIXGATE_PARTNER_CREATE_BUDGET_MS,
    hasIdempotentOrders: values.PIXGATE_PARTNER_IDEMPOTENT_ORDERS,
  }
}
