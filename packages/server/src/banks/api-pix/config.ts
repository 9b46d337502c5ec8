import {
  address,
  flag,
  headerSecret,
  integer,
  narrowNetworks,
  networks,
  oneOf,
  secret,
  text,
  type Values,
  variables,
} from '../../platform/variables.ts'
import type { BankCertificate } from '../certificate.ts'
import type { PartnerTls } from '../client-tls.ts'
import { merchantOf, merchantVariables } from '../merchant.ts'
import type { ChargeRequest } from '../port.ts'
import type { AddedValues, CallForm } from './additions.ts'
import { readBankTls } from './certificate.ts'
import { CALLBACK_PATH, SECRET_PARAMETER } from './inbound.ts'
import { type BankAddresses, type Preset, presets, STANDARD_TOKEN, type TokenForm } from './presets.ts'

/** How a bank that follows the Central Bank's API Pix is reached. */

const SECRET_MIN_LENGTH = 32
/** PKCS#12 in Base64. */
const CERTIFICATE_MAX_LENGTH = 32_768

/** What any of them has to be told. */
const common = variables({
  PIXGATE_BANK_ENVIRONMENT: {
    shape: oneOf('sandbox', 'production'),
    required: 'always',
    description: "Which of the bank's two places: production moves real money.",
  },
  PIXGATE_BANK_CLIENT_ID: {
    shape: headerSecret(),
    required: 'always',
    description: 'Client id that the bank gave out for this application.',
  },
  PIXGATE_BANK_CLIENT_SECRET: {
    shape: headerSecret(),
    required: 'always',
    secret: true,
    description: 'Client secret that the bank gave out with it.',
  },
  PIXGATE_BANK_CERTIFICATE: {
    shape: text(CERTIFICATE_MAX_LENGTH),
    required: 'always',
    secret: true,
    description:
      'The certificate that the bank gave out, PKCS#12 or PEM: the path of the file, or its bytes in Base64.',
  },
  PIXGATE_BANK_CERTIFICATE_KEY: {
    shape: text(CERTIFICATE_MAX_LENGTH),
    secret: true,
    description: 'Where the certificate is PEM without its key: the key in PEM, given in the same way.',
  },
  PIXGATE_BANK_CERTIFICATE_PASSPHRASE: {
    shape: secret(),
    secret: true,
    description: 'Opens the PKCS#12 or the key. Unset: it has none.',
  },
  PIXGATE_BANK_CA: {
    shape: text(CERTIFICATE_MAX_LENGTH),
    description:
      "The authorities, in PEM, that alone are trusted for the bank: the path of the file, or its bytes in Base64. Unset: Node.js's own and those of NODE_EXTRA_CA_CERTS.",
  },
  PIXGATE_BANK_CALLBACK_URL: {
    shape: address('http:', 'https:'),
    productionShape: address('https:'),
    description: 'Where the bank reaches this service from outside: `bank-check` tells it to the bank.',
  },
  PIXGATE_BANK_CALLBACK_SECRET: {
    shape: headerSecret(),
    productionShape: headerSecret(SECRET_MIN_LENGTH),
    secret: true,
    description: 'Stands as `?hmac=` in the address that the bank calls. What comes without it is refused.',
  },
  PIXGATE_BANK_CALLBACK_SECRET_PREVIOUS: {
    shape: headerSecret(),
    productionShape: headerSecret(SECRET_MIN_LENGTH),
    secret: true,
    description: 'The one before it; accepted too, until the bank has been told the new address.',
  },
  PIXGATE_BANK_ADDRESSES: {
    shape: networks(),
    productionShape: narrowNetworks(),
    description: 'Where the bank calls from. What comes from elsewhere is refused. Unset: from anywhere.',
  },
  PIXGATE_BANK_CALLBACKS_BEHIND_MTLS: {
    shape: flag(),
    default: 'false',
    description: "Whether the proxy in front lets callbacks through only with the bank's own certificate.",
  },
  PIXGATE_BANK_IDEMPOTENT_ORDERS: {
    shape: flag(),
    default: 'true',
    description:
      'Whether the bank carries a payout or a refund out once, however often it gets it under one id, as the standard says. If not, none whose answer was lost is ever sent again.',
  },
  PIXGATE_BANK_TIMEOUT_MS: {
    shape: integer(100, 10_000, 'milliseconds'),
    default: '5000',
    description: 'Time for one call to the bank.',
  },
  PIXGATE_BANK_CREATE_BUDGET_MS: {
    shape: integer(100, 14_000, 'milliseconds'),
    default: '10000',
    description: 'Time for the bank within the creation of a charge, all tries together.',
  },
  ...merchantVariables,
})

/** What `PIXGATE_BANK_PRESET` may be. */
export const PRESET_NAMES = Object.keys(presets) as (keyof typeof presets)[]

const url = {
  shape: address('https:'),
  isBankAddress: true,
} as const

/** Where it is, if not where the preset says. */
const places = variables({
  PIXGATE_BANK_API_URL: {
    ...url,
    description: "Where the bank's API is, with what goes before `/cob`. Unset: where its preset says.",
  },
  PIXGATE_BANK_TOKEN_URL: { ...url, description: 'Where the bank gives tokens. Unset: where its preset says.' },
})

const commonVariables = { ...common, ...places }

/** What is told of any bank that follows the standard. */
export const apiPixVariables = variables({
  PIXGATE_BANK_PRESET: {
    shape: oneOf(...PRESET_NAMES),
    guide: 'docs/guides/banks.md#another-psp',
    description: 'Which bank it is, where that is known. Unset: both addresses are needed.',
  },
  ...common,
  PIXGATE_BANK_CLIENT_SECRET: {
    shape: headerSecret(),
    secret: true,
    description: 'Client secret that the bank gave out with it. Sicoob gives none.',
  },
  PIXGATE_BANK_APPLICATION_KEY: {
    shape: headerSecret(),
    secret: true,
    description: 'Key of the application that the bank gave out besides: `gw-dev-app-key` of Banco do Brasil.',
  },
  PIXGATE_BANK_ACCOUNT: {
    shape: headerSecret(),
    description: 'Number of the account, digits alone, where the application has several: `x-conta-corrente` of Inter.',
  },
  ...places,
})

/** What is told of Efí. */
export const efiVariables = variables({
  ...common,
  PIXGATE_BANK_PAYS_QR_CODES: {
    shape: flag(),
    default: 'false',
    description:
      'Whether payouts by QR code are taken. The bank is not told an amount: it pays what the code asks for at that moment. The code is read again right before, and not paid where it has changed; in the moment between its owner may still raise it, limits and approvals notwithstanding.',
  },
  ...places,
})

/** The same, read. */
export interface ApiPixConfig {
  readonly addresses: BankAddresses
  readonly tokenForm: TokenForm
  readonly clientId: string
  /** `undefined`: the bank gives out none. */
  readonly clientSecret: string | undefined
  /** How its calls differ from the standard's. */
  readonly calls: Pick<CallForm, 'added' | 'values'>
  readonly hasWholeSeconds: boolean
  /** What the registration of an address carries besides. */
  readonly registration: Readonly<Record<string, string>>
  /** What whoever starts the service should know. */
  readonly warning: string | undefined
  readonly tls: PartnerTls
  readonly certificates: readonly BankCertificate[]
  readonly isSandbox: boolean
  /** What the bank is told to call, with the secret of now; `undefined`: nobody said. */
  readonly callbackUrl: string | undefined
  /** The one of now first. */
  readonly callbackSecrets: readonly string[]
  /** From where the bank calls; `undefined`: from anywhere. */
  readonly callbackAddresses: readonly string[] | undefined
  readonly merchant: ChargeRequest['merchant']
  readonly hasIdempotentOrders: boolean
  /** Of Efí; its payouts by QR code are bound to no amount. */
  readonly paysQrCodes?: boolean
  readonly timeoutMs: number
  readonly createBudgetMs: number
}

/** Makes it of the values of its variables, and of the files that they name, which were found to be good. */
export function apiPixConfig(values: Values<typeof apiPixVariables>): ApiPixConfig {
  const {
    PIXGATE_BANK_PRESET: name,
    PIXGATE_BANK_APPLICATION_KEY: applicationKey,
    PIXGATE_BANK_ACCOUNT: account,
  } = values
  return configOf(values, name === undefined ? undefined : presets[name], { applicationKey, account })
}

/** The same, of Efí. */
export function efiConfig(values: Values<typeof efiVariables>): ApiPixConfig {
  return { ...configOf(values, presets.efi), paysQrCodes: values.PIXGATE_BANK_PAYS_QR_CODES }
}

/** What every bank of the standard is told; the secret only where there is one. */
type CommonValues = Omit<Values<typeof commonVariables>, 'PIXGATE_BANK_CLIENT_SECRET'> & {
  readonly PIXGATE_BANK_CLIENT_SECRET: string | undefined
}

const NOTHING_ADDED = { applicationKey: undefined, account: undefined }

function configOf(
  values: CommonValues,
  preset: Preset | undefined,
  ours: Omit<AddedValues, 'clientId'> = NOTHING_ADDED,
): ApiPixConfig {
  const { tls, certificates } = readBankTls(values)
  const known = preset?.addresses[values.PIXGATE_BANK_ENVIRONMENT]
  const { PIXGATE_BANK_API_URL: api, PIXGATE_BANK_TOKEN_URL: token, PIXGATE_BANK_CLIENT_ID: clientId } = values
  const { PIXGATE_BANK_CALLBACK_SECRET: secret, PIXGATE_BANK_CALLBACK_SECRET_PREVIOUS: before } = values
  return {
    addresses: {
      api: api ?? known?.api ?? '',
      token: token ?? known?.token ?? '',
      ...(known?.patchPath !== undefined && { patchPath: known.patchPath }),
    },
    tokenForm: preset?.token ?? STANDARD_TOKEN,
    clientId,
    clientSecret: values.PIXGATE_BANK_CLIENT_SECRET,
    calls: { added: preset?.added ?? [], values: { clientId, ...ours } },
    hasWholeSeconds: preset?.hasWholeSeconds ?? false,
    registration: registrationOf(preset, values.PIXGATE_BANK_CALLBACKS_BEHIND_MTLS),
    warning:
      preset && `${preset.name}: connected by what its public documents say, and not tried against the bank itself`,
    tls,
    certificates,
    isSandbox: values.PIXGATE_BANK_ENVIRONMENT === 'sandbox',
    callbackUrl: callbackUrlOf(values.PIXGATE_BANK_CALLBACK_URL, secret),
    callbackSecrets: [secret, before].filter((one) => one !== undefined),
    callbackAddresses: values.PIXGATE_BANK_ADDRESSES,
    merchant: merchantOf(values),
    hasIdempotentOrders: values.PIXGATE_BANK_IDEMPOTENT_ORDERS,
    timeoutMs: values.PIXGATE_BANK_TIMEOUT_MS,
    createBudgetMs: values.PIXGATE_BANK_CREATE_BUDGET_MS,
  }
}

/** A bank that wants to see that its certificate is asked for is told where nobody does. */
function registrationOf({ registersWithoutMtlsBy }: Partial<Preset> = {}, isBehindMtls: boolean) {
  return registersWithoutMtlsBy === undefined || isBehindMtls ? {} : { [registersWithoutMtlsBy]: 'true' }
}

function callbackUrlOf(base: string | undefined, secret: string | undefined): string | undefined {
  if (base === undefined) return undefined
  const query = secret === undefined ? '' : `?${new URLSearchParams({ [SECRET_PARAMETER]: secret })}`
  return base.replace(/\/$/, '') + CALLBACK_PATH + query
}
