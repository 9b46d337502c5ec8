import {
  address,
  type Environment,
  fileVariable,
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
import { merchantOf, merchantVariables } from '../bank.ts'
import { readBankTls } from '../certificates.ts'
import { CALLBACK_PATH, SECRET_PARAMETER } from './inbound.ts'
import type { CallForm } from './link.ts'
import { type AddedPart, type Preset, presets, STANDARD_TOKEN } from './presets.ts'

/** Variables of banks that implement the Central Bank's API Pix. */

const SECRET_MIN_LENGTH = 32
const CERTIFICATE_MAX_LENGTH = 32_768

const callbackSecret = {
  shape: headerSecret(),
  productionShape: headerSecret(SECRET_MIN_LENGTH),
  secret: true,
} as const

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
    ...callbackSecret,
    description: 'Stands as `?hmac=` in the address that the bank calls. What comes without it is refused.',
  },
  PIXGATE_BANK_CALLBACK_SECRET_PREVIOUS: {
    ...callbackSecret,
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

const PRESET_NAMES = Object.keys(presets) as (keyof typeof presets)[]

const url = {
  shape: address('https:'),
  isBankAddress: true,
} as const

/** Override the preset's addresses. */
const places = variables({
  PIXGATE_BANK_API_URL: {
    ...url,
    description: "Where the bank's API is, with what goes before `/cob`. Unset: where its preset says.",
  },
  PIXGATE_BANK_TOKEN_URL: { ...url, description: 'Where the bank gives tokens. Unset: where its preset says.' },
})

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

export const standardSettings = {
  address: 'PIXGATE_BANK_API_URL',
  credentials: 'PIXGATE_BANK_CLIENT_SECRET',
  certificate: 'PIXGATE_BANK_CERTIFICATE',
  authorities: 'PIXGATE_BANK_CA',
} as const

export interface ApiPixConfig extends ReturnType<typeof configOf> {
  /** Efí pays QR codes without a given amount. */
  readonly paysQrCodes?: boolean
}

export function apiPixConfig(values: Values<typeof apiPixVariables>): ApiPixConfig {
  const { PIXGATE_BANK_PRESET: name, PIXGATE_BANK_APPLICATION_KEY: key, PIXGATE_BANK_ACCOUNT: account } = values
  return configOf(values, name && presets[name], { 'application key': key, account })
}

export function efiConfig(values: Values<typeof efiVariables>): ApiPixConfig {
  return { ...configOf(values, presets.efi), paysQrCodes: values.PIXGATE_BANK_PAYS_QR_CODES }
}

type CommonValues = Omit<Values<typeof common & typeof places>, 'PIXGATE_BANK_CLIENT_SECRET'> & {
  readonly PIXGATE_BANK_CLIENT_SECRET: string | undefined
}

function configOf(
  values: CommonValues,
  preset: Preset | undefined,
  ours: Pick<CallForm['values'], 'application key' | 'account'> = { 'application key': undefined, account: undefined },
) {
  const { tls, certificates } = readBankTls(values)
  const known = preset?.addresses[values.PIXGATE_BANK_ENVIRONMENT]
  const { PIXGATE_BANK_CLIENT_ID: clientId } = values
  const { PIXGATE_BANK_CALLBACK_SECRET: secret, PIXGATE_BANK_CALLBACK_SECRET_PREVIOUS: previous } = values
  return {
    addresses: {
      api: values.PIXGATE_BANK_API_URL ?? known?.api ?? '',
      token: values.PIXGATE_BANK_TOKEN_URL ?? known?.token ?? '',
      ...(known?.patchPath !== undefined && { patchPath: known.patchPath }),
    },
    tokenForm: preset?.token ?? STANDARD_TOKEN,
    clientId,
    clientSecret: values.PIXGATE_BANK_CLIENT_SECRET,
    calls: { added: preset?.added ?? [], values: { 'client id': clientId, ...ours } },
    hasWholeSeconds: preset?.hasWholeSeconds ?? false,
    registration: registrationOf(preset, values.PIXGATE_BANK_CALLBACKS_BEHIND_MTLS),
    warning:
      preset && `${preset.name}: connected by what its public documents say, and not tried against the bank itself`,
    tls,
    certificates,
    isSandbox: values.PIXGATE_BANK_ENVIRONMENT === 'sandbox',
    callbackUrl: callbackUrlOf(values.PIXGATE_BANK_CALLBACK_URL, secret),
    callbackSecrets: [secret, previous].filter((one) => one !== undefined),
    callbackAddresses: values.PIXGATE_BANK_ADDRESSES,
    merchant: merchantOf(values),
    hasIdempotentOrders: values.PIXGATE_BANK_IDEMPOTENT_ORDERS,
    timeoutMs: values.PIXGATE_BANK_TIMEOUT_MS,
    createBudgetMs: values.PIXGATE_BANK_CREATE_BUDGET_MS,
  }
}

/** Header for banks that demand mTLS callbacks when our address does not require a client certificate. */
function registrationOf(
  { registersWithoutMtlsBy }: Partial<Preset> = {},
  isBehindMtls: boolean,
): Record<string, string> {
  return registersWithoutMtlsBy === undefined || isBehindMtls ? {} : { [registersWithoutMtlsBy]: 'true' }
}

function callbackUrlOf(base: string | undefined, secret: string | undefined): string | undefined {
  if (base === undefined) return undefined
  const query = secret === undefined ? '' : `?${new URLSearchParams({ [SECRET_PARAMETER]: secret })}`
  return base.replace(/\/$/, '') + CALLBACK_PATH + query
}

/**
 * Faults of combinations of variables that are each valid alone.
 * @source rules#api-pix.10, rules#api-pix.12, rules#api-pix.14
 */
export function apiPixFaults(environment: Environment): readonly string[] {
  const name = PRESET_NAMES.find((known) => known === environment.PIXGATE_BANK_PRESET)
  const preset: Preset | undefined = name && presets[name]
  return [...addressFaults(environment, preset), ...contractFaults(environment, preset), ...efiFaults(environment)]
}

function addressFaults(environment: Environment, preset: Preset | undefined): readonly string[] {
  const { PIXGATE_BANK_API_URL: api, PIXGATE_BANK_TOKEN_URL: token, PIXGATE_BANK_ENVIRONMENT: place } = environment
  if (api && token) return []
  if (!preset) return ['PIXGATE_BANK_PRESET is required, or both PIXGATE_BANK_API_URL and PIXGATE_BANK_TOKEN_URL']
  if (place === undefined || place in preset.addresses) return []
  const known = Object.keys(preset.addresses).join(', ')
  return [
    `PIXGATE_BANK_ENVIRONMENT must be ${known} for ${preset.name}, or both PIXGATE_BANK_API_URL and PIXGATE_BANK_TOKEN_URL set: nothing else of it follows the standard`,
  ]
}

/** Variables from the contract with the bank. */
const VARIABLES: Readonly<Partial<Record<AddedPart['value'], string>>> = {
  'application key': 'PIXGATE_BANK_APPLICATION_KEY',
  account: 'PIXGATE_BANK_ACCOUNT',
}

function contractFaults(environment: Environment, preset: Preset | undefined): readonly string[] {
  const needsSecret = preset?.token.credentials !== 'id in body'
  const added: readonly AddedPart[] = preset?.added ?? []
  const needed = [
    ...(needsSecret ? ['PIXGATE_BANK_CLIENT_SECRET'] : []),
    ...added.flatMap(({ value, isOptional }) => (isOptional ? [] : (VARIABLES[value] ?? []))),
  ]
  const missing = needed.filter((name) => !environment[name] && !environment[fileVariable(name)])
  return missing.map((name) => `${name} is required${preset ? ` by ${preset.name}` : ''}`)
}

/** Faults of variables shared by Efí and every other bank. */
export function efiFaults(environment: Environment): readonly string[] {
  return [...readBankTls(environment).faults, ...environmentFaults(environment), ...originFaults(environment)]
}

/** Real money moves in production mode only. */
function environmentFaults({ PIXGATE_MODE, PIXGATE_BANK_ENVIRONMENT }: Environment): readonly string[] {
  return PIXGATE_BANK_ENVIRONMENT === 'production' && PIXGATE_MODE !== 'production'
    ? ['PIXGATE_BANK_ENVIRONMENT must be sandbox, unless PIXGATE_MODE is production']
    : []
}

const PROOFS = ['PIXGATE_BANK_CALLBACK_SECRET', 'PIXGATE_BANK_ADDRESSES'] as const

/** Callbacks are unsigned: without a proof of origin, strangers could trigger queries. */
function originFaults(environment: Environment): readonly string[] {
  const isProven =
    environment.PIXGATE_BANK_CALLBACKS_BEHIND_MTLS === 'true' ||
    PROOFS.some((name) => environment[name] || environment[`${name}_FILE`])
  if (environment.PIXGATE_MODE !== 'production' || isProven) return []
  return [`one of ${PROOFS.join(', ')} and PIXGATE_BANK_CALLBACKS_BEHIND_MTLS is required in production`]
}
