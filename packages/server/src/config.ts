import { isIP } from 'node:net'
import { type Caps, limits, normaliseDocument } from '@pixgate/spec'
import { Type } from 'typebox'
import {
  type AlertSettings,
  alertWebhooksFault,
  alertWebhooksOf,
  EMAIL_PATTERN,
  smtpUrlFault,
} from './alerts/settings.ts'
import { alertLanguages } from './alerts/words.ts'
import { type ConfiguredBank, type Connector, merchantOf, merchantVariables } from './banks/bank.ts'
import { banks, type Connectors, pixgate } from './banks/banks.ts'
import { logoFault } from './payment-page/look.ts'
import type { EnvironmentWithFile, SettingPlaces } from './platform/environment-file.ts'
import {
  type AllowedNetwork,
  allowedNetworksFault,
  allowedNetworksOf,
} from './platform/http-client/allowed-networks.ts'
import { isPrivateAddress } from './platform/networks.ts'
import type { EncryptionKeys } from './platform/sealing.ts'
import { fileVariable } from './platform/secrets.ts'
import {
  address,
  type Environment,
  flag,
  hostNames,
  integer,
  integerOrNone,
  NONE,
  narrowNetworks,
  nearestName,
  networksOrNone,
  oneOf,
  readVariables,
  secret,
  text,
  token,
  type Values,
  type Variables,
  variables,
} from './platform/variables.ts'

/** Exports for packages that compose the server with a simulated bank. */
export type { ConfiguredBank } from './banks/bank.ts'
export { pixgate } from './banks/banks.ts'
export { pixgateBankConfig } from './banks/pixgate/config.ts'
export type { SettingPlaces } from './platform/environment-file.ts'
export { allowedNetworksOf } from './platform/http-client/allowed-networks.ts'

/** Configuration: tables of variables, read once into a frozen object. Nothing else reads the environment. */

/** `sandbox` with a simulated bank, or `production`. */
export type Mode = 'sandbox' | 'production'

const VALUE_MAX_CENTS = Number(limits.valueMaxCents)
const FEE_MAX_CENTS = 10_000_000
const BASIS_POINTS_MAX = 10_000
const SECRET_MIN_LENGTH = 32
/** A hundred years, to keep something permanently. */
const KEEP_MAX_DAYS = 36_500

/** A cap in centavos, or `none`. @source rules#limits.10 */
const cap = integerOrNone(1, VALUE_MAX_CENTS, 'centavos')
const CAPS_GUIDE = 'docs/guides/operator.md#limits'

const ALERTS_GUIDE = 'docs/guides/operator.md#alerts'

const DEFAULT_BANK = 'pixgate'

export const serviceVariables = variables({
  HOST: { shape: text(4_096), default: '127.0.0.1', description: 'Address the API listens on.' },
  PORT: {
    shape: integer(0, 65_535),
    default: '8080',
    description: 'Port the API listens on; 0 takes any free one.',
  },
  PIXGATE_WORKER_PORT: {
    shape: integer(0, 65_535),
    description:
      'Port at HOST where a process that only works (`worker`) answers `/healthz`, `/readyz` and `/metrics`; 0 takes any free one. Unset: it opens none.',
  },
  PIXGATE_DRAIN_DELAY_MS: {
    shape: integer(0, 10_000, 'milliseconds'),
    default: '0',
    description:
      'Time between turning unready and refusing connections at a stop, for a balancer that looks at `/readyz` every few seconds.',
  },
  PIXGATE_OPERATOR_PORT: {
    shape: integer(0, 65_535),
    description:
      "Port at HOST where the operator's endpoints are answered, and there alone; 0 takes any free one. Unset: they are at PORT, with all others.",
  },
  PIXGATE_CONSOLE: {
    shape: flag(),
    default: 'true',
    productionDefault: 'false',
    description:
      'Whether the web console is served, at `/console` of the operator’s port. In production it needs `PIXGATE_OPERATOR_PORT`.',
  },
  PIXGATE_CONSOLE_HOSTS: {
    shape: hostNames(),
    default: '',
    description:
      'Host names under which the console answers besides loopback, such as `pix.internal.example`; in production behind a proxy that ends TLS.',
  },
  PIXGATE_PAYMENT_PAGE: {
    shape: flag(),
    default: 'false',
    description:
      'Whether charges have a payment page, at `/pay` of the API’s port, and a `paymentUrl` in their 201. In production it needs `PIXGATE_PAYMENT_PAGE_URL`.',
  },
  PIXGATE_PAYMENT_PAGE_URL: {
    shape: address('http:', 'https:'),
    faultOf: pageUrlFault,
    productionShape: address('https:'),
    description:
      'Address in front of `/pay` by which payers reach the API’s port, such as `https://pagar.loja.example`. Unset in the sandbox: this machine.',
  },
  PIXGATE_PAYMENT_PAGE_COLOR: {
    shape: Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description: 'a color such as #0d5c56' }),
    default: '#0d5c56',
    description: 'Color of the payment page’s button; its text is white or black, whichever is easier to read.',
  },
  PIXGATE_PAYMENT_PAGE_LOGO: {
    shape: text(4_096),
    faultOf: logoFault,
    description: 'File of the payment page’s logo, read at the start: PNG, JPEG or SVG of at most 32 KiB.',
  },
  DATABASE_URL: {
    shape: databaseAddress(),
    faultOf: databaseUrlFault,
    productionShape: safeDatabase(),
    required: 'always',
    isMadeBySandbox: true,
    secret: true,
    description:
      'A PostgreSQL 15 or newer. In production with a login that is a member of `pixgate_app` and nothing else.',
  },
  PIXGATE_MIGRATION_URL: {
    shape: databaseAddress(),
    faultOf: databaseUrlFault,
    productionShape: safeDatabase(),
    secret: true,
    description:
      'The same PostgreSQL with the login of its owner, for `migrate` alone; a server refuses it in production. Unset in the sandbox: `DATABASE_URL`.',
  },
  PIXGATE_MODE: {
    shape: oneOf('sandbox', 'production'),
    default: 'sandbox',
    description: '`sandbox` is for trying out; `production` refuses insecure settings.',
  },
  PIXGATE_BANK: {
    shape: oneOf(...Object.keys(banks)),
    default: DEFAULT_BANK,
    description: 'The connector of the bank; each has variables of its own.',
  },
  PIXGATE_ADMIN_TOKEN: {
    shape: token(SECRET_MIN_LENGTH),
    required: 'always',
    isMadeBySandbox: true,
    secret: true,
    description: 'Lets the operator in: API keys, the switch of payouts, adjustments.',
  },
  PIXGATE_ADMIN_TOKEN_PREVIOUS: {
    shape: token(SECRET_MIN_LENGTH),
    secret: true,
    description: 'The previous administrative token; accepted as well, while its users change to the new one.',
  },
  PIXGATE_METRICS_TOKEN: {
    shape: token(SECRET_MIN_LENGTH),
    secret: true,
    description: 'A token that reads `/metrics` and nothing else. Unset: only the administrative token reads it.',
  },
  PIXGATE_METRICS_TOKEN_PREVIOUS: {
    shape: token(SECRET_MIN_LENGTH),
    secret: true,
    description: 'The previous metrics token; accepted as well, while its users change to the new one.',
  },
  PIXGATE_ENCRYPTION_KEY: {
    shape: secret(SECRET_MIN_LENGTH),
    required: 'always',
    isMadeBySandbox: true,
    secret: true,
    description: 'Seals secrets at rest.',
  },
  PIXGATE_ENCRYPTION_KEY_PREVIOUS: {
    shape: secret(SECRET_MIN_LENGTH),
    secret: true,
    description: 'The encryption key before it: opens what that one sealed, until `rewrap-keys` has sealed it anew.',
  },
  ...merchantVariables,
  PIXGATE_MERCHANT_DOCUMENT: {
    shape: Type.Refine(Type.String({ description: 'a CPF or CNPJ' }), (text) => normaliseDocument(text) !== null),
    description: 'CPF or CNPJ of the merchant, for receipts. Unset: the Pix key, if that is one.',
  },
  PIXGATE_FEE_CASH_IN_CENTS: {
    shape: integer(0, FEE_MAX_CENTS, 'centavos'),
    default: '0',
    description: 'Fixed fee of a cash-in.',
  },
  PIXGATE_FEE_CASH_IN_BPS: {
    shape: integer(0, BASIS_POINTS_MAX, 'basis points'),
    default: '0',
    description: 'Fee of a cash-in relative to its value.',
  },
  PIXGATE_FEE_CASH_OUT_CENTS: {
    shape: integer(0, FEE_MAX_CENTS, 'centavos'),
    default: '0',
    description: 'Fixed fee of a cash-out.',
  },
  PIXGATE_FEE_CASH_OUT_BPS: {
    shape: integer(0, BASIS_POINTS_MAX, 'basis points'),
    default: '0',
    description: 'Fee of a cash-out relative to its value.',
  },
  PIXGATE_PAYMENT_MAX_CENTS: {
    shape: cap,
    default: 'none',
    required: 'in production',
    guide: CAPS_GUIDE,
    description: 'The most that one payout or refund may be.',
  },
  PIXGATE_HOUR_MAX_CENTS: {
    shape: cap,
    default: 'none',
    required: 'in production',
    guide: CAPS_GUIDE,
    description: 'The most that may leave by payouts and refunds within any 60 minutes.',
  },
  PIXGATE_DAY_MAX_CENTS: {
    shape: cap,
    default: 'none',
    required: 'in production',
    guide: CAPS_GUIDE,
    description: 'The same within any 24 hours.',
  },
  PIXGATE_NIGHT_MAX_CENTS: {
    shape: cap,
    default: 'none',
    required: 'in production',
    guide: CAPS_GUIDE,
    description: 'The same within one night, 20:00 to 06:00 in São Paulo.',
  },
  PIXGATE_NEW_RECIPIENT_MAX_CENTS: {
    shape: cap,
    default: 'none',
    description: 'The most that may be paid in all to a Pix key that was not paid before.',
  },
  PIXGATE_APPROVAL_FROM_CENTS: {
    shape: cap,
    default: 'none',
    description:
      'A payout of at least this waits, reserved, until an operator who did not make the API key approves it.',
  },
  PIXGATE_DESK_APPROVAL_FROM_CENTS: {
    shape: integer(0, VALUE_MAX_CENTS, 'centavos'),
    default: '0',
    description:
      'A decision about a case that moves or leaves at least this, and an adjustment of at least this, wait until another person approves them. 0: each one.',
  },
  PIXGATE_NEW_RECIPIENT_HOURS: {
    shape: integer(0, 8_760, 'hours'),
    default: '24',
    description: 'A Pix key was paid before where a payout to it is confirmed that was accepted this long ago.',
  },
  PIXGATE_VERIFY_CREDITS_FROM_CENTS: {
    shape: integer(0, VALUE_MAX_CENTS, 'centavos'),
    productionShape: Type.Literal(0, { description: '0: in production every payment is queried' }),
    default: '100000',
    productionDefault: '0',
    description:
      'In the sandbox a payment below this is booked on the word of a signed event; from this on, and always in production, the bank is queried before a payment is booked. 0: every one.',
  },
  PIXGATE_BANK_ACCOUNT_SHARED: {
    shape: flag(),
    default: 'false',
    description:
      'Whether others pay from the account at the bank too. If so, debits that the service does not know are cases and do not suspend payouts and refunds.',
  },
  PIXGATE_OFX_ACCOUNT: {
    shape: Type.String({
      pattern: '^[0-9]{3,9}(?:/[0-9A-Za-z-]{1,22}){1,2}$',
      description: 'bank/account or bank/branch/account, such as 341/0001/12345-6',
    }),
    description:
      'Bank, branch and account that OFX files name, as the accounting software knows them. Unset: the bank `PIXGATE`, and an account id of the ledger.',
  },
  PIXGATE_MAX_VALUE_CENTS: {
    shape: integer(1, VALUE_MAX_CENTS, 'centavos'),
    default: String(VALUE_MAX_CENTS),
    description: 'Highest value of one operation.',
  },
  PIXGATE_RATE_LIMIT_PER_MINUTE: {
    shape: integer(0, 1_000_000, 'requests'),
    productionShape: integer(1, 1_000_000, 'requests'),
    default: '600',
    description:
      'Requests of one API key a minute, a sixth of them at once. 0: no limit. Each process counts for itself.',
  },
  PIXGATE_WEBHOOK_ALLOW_PRIVATE: {
    shape: flag(),
    productionShape: Type.Literal(false, { description: 'false: webhooks could reach private addresses' }),
    default: 'true',
    productionDefault: 'false',
    description: 'Whether endpoints may be http, on any port, at private addresses.',
  },
  PIXGATE_WEBHOOK_ALLOWED_NETWORKS: {
    shape: Type.String({
      description: 'private networks or addresses, each with a port: 10.20.0.0/16:8443, [fd12:3456::/48]:443',
    }),
    faultOf: allowedNetworksFault,
    description:
      'Private networks, each with one port, in which an admin may register endpoints. Unset: endpoints are public. Never a cloud’s metadata addresses, nor a port of this service.',
  },
  PIXGATE_ALERT_EMAIL_TO: {
    shape: Type.Array(Type.String({ pattern: EMAIL_PATTERN }), {
      description: 'e-mail addresses without names, separated by commas',
    }),
    default: '',
    guide: ALERTS_GUIDE,
    description: 'Recipients of alerts by e-mail. Needs `PIXGATE_ALERT_SMTP_URL`.',
  },
  PIXGATE_ALERT_EMAIL_FROM: {
    shape: Type.String({ pattern: EMAIL_PATTERN, description: 'an e-mail address without a name' }),
    description: 'Sender of the alerts.',
  },
  PIXGATE_ALERT_SMTP_URL: {
    shape: Type.String({ description: 'an address such as smtps://user:password@smtp.example:465' }),
    faultOf: smtpUrlFault,
    secret: true,
    description:
      'Server that takes these e-mails. `smtps:` begins with TLS; `smtp:` changes to it, in production always unless the server is on this machine.',
  },
  PIXGATE_ALERT_WEBHOOK_URLS: {
    shape: Type.String({
      description:
        'addresses of incoming webhooks, separated by commas; with the prefix slack:, discord: or teams: where the host is not of Slack, Discord or Microsoft',
    }),
    faultOf: alertWebhooksFault,
    productionShape: Type.Refine(
      Type.String({ description: 'addresses that begin with https://, or slack:https:// and so on' }),
      (text) => alertWebhooksOf(text).every(({ url }) => url.startsWith('https:')),
    ),
    secret: true,
    description:
      'Chats that receive alerts: incoming webhooks of Slack, Discord and Teams, or of services with the same format.',
  },
  PIXGATE_ALERT_LANGUAGE: {
    shape: oneOf(...alertLanguages),
    default: 'pt-BR',
    description: 'Language of the alerts.',
  },
  PIXGATE_TRUST_PROXY: {
    shape: networksOrNone(),
    productionShape: narrowNetworks(),
    required: 'in production',
    guide: 'docs/guides/operator.md#sandbox-and-production',
    default: '',
    description:
      'Proxies that end TLS in front of the service, and whose X-Forwarded-For is trusted. `none`: there is no proxy, and the header is ignored.',
  },
  PIXGATE_KEEP_NOTIFICATIONS_DAYS: {
    shape: integer(90, KEEP_MAX_DAYS, 'days'),
    default: '90',
    description:
      'How long what receivers were sent is kept, once every delivery of it ended; and so how far back the feed of events can be read.',
  },
  PIXGATE_KEEP_PERSONAL_DATA_DAYS: {
    shape: integer(120, KEEP_MAX_DAYS, 'days'),
    default: '180',
    description:
      'How long raw bodies of the bank’s events, ended deliveries, and persons, keys and texts of operations that ended without money are kept. Facts about money are never erased.',
  },
  PIXGATE_LOG_LEVEL: {
    shape: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    productionShape: oneOf('error', 'warn', 'info', 'debug', 'trace'),
    default: 'info',
    description: 'Lowest level that is logged.',
  },
})

export type ServiceValues = Values<typeof serviceVariables>

export interface Config {
  readonly host: string
  readonly port: number
  /** `undefined`: a worker does not listen. */
  readonly workerPort: number | undefined
  /** `undefined`: the operator's endpoints share the API's port. */
  readonly operatorPort: number | undefined
  readonly drainDelayMs: number
  readonly isConsoleServed: boolean
  /** Host names of the console besides loopback. */
  readonly consoleHosts: readonly string[]
  /** `undefined`: charges have none. */
  readonly paymentPage: PaymentPage | undefined
  readonly databaseUrl: string
  /** Login for migrations; `undefined`: {@link databaseUrl}, and in production no migration here. */
  readonly migrationUrl: string | undefined
  readonly mode: Mode
  readonly adminToken: string
  /** `undefined`: only {@link adminToken} reads the metrics. */
  readonly metricsToken: string | undefined
  /** Also accepted, if set. */
  readonly adminTokenPrevious: string | undefined
  readonly metricsTokenPrevious: string | undefined
  readonly encryptionKeys: EncryptionKeys
  readonly bank: ConfiguredBank
  readonly merchant: { readonly pixKey: string; readonly name: string; readonly city: string }
  /** `undefined`: known only if the Pix key is one. */
  readonly merchantDocument: string | undefined
  readonly feeCashIn: { readonly cents: bigint; readonly basisPoints: bigint }
  readonly feeCashOut: { readonly cents: bigint; readonly basisPoints: bigint }
  readonly limits: { readonly caps: Caps; readonly newRecipientMs: number }
  /** Payouts from this amount on need an operator's approval; `null`: none do. */
  readonly approvalFromCents: bigint | null
  /** Decisions from this amount on need a second person. */
  readonly caseApprovalFromCents: number
  readonly maxValueCents: bigint
  /** Payments from this amount on are booked only after a query of the bank. */
  readonly credits: { readonly verifyFromCents: bigint }
  /** Others also pay from the account at the bank. @source rules#trip-wire.2 */
  readonly isBankAccountShared: boolean
  /** Bank and account that OFX files name: `341/12345-6` or `341/0001/12345-6`. */
  readonly ofxAccount: string | undefined
  /** 0: unlimited. */
  readonly rateLimitPerMinute: number
  readonly webhookAllowPrivate: boolean
  /** Private networks that endpoints of an admin may be in. */
  readonly webhookAllowedNetworks: readonly AllowedNetwork[]
  readonly alerts: AlertSettings
  readonly trustProxy: readonly string[]
  /** Retention in days. */
  readonly keptDays: Readonly<Record<'callbacks' | 'notifications' | 'deliveries' | 'ended_operations', number>>
  readonly logLevel: string
  /** Settings for people; a secret has no value. */
  readonly settings: readonly Setting[]
}

export interface PaymentPage {
  /** `undefined`: the address of the API on this machine. */
  readonly url: string | undefined
  readonly color: string
  /** Path of a file. */
  readonly logo: string | undefined
}

export interface Setting {
  readonly name: string
  /** `null`: a secret. */
  readonly value: string | null
  /** Another value than the default. */
  readonly isSet: boolean
}

const NO_PLACES: SettingPlaces = new Map()

/**
 * Reads the configuration of a standalone server: its own variables and those of the chosen bank.
 * @param places of settings in files
 * @param connectors to choose from
 * @throws ConfigError with all faults at once: each names its variable, and none repeats a secret
 * @source rules#config.1, rules#config.2, rules#config.5, rules#production.1
 */
export function readConfig(
  environment: Environment,
  places: SettingPlaces = NO_PLACES,
  connectors: Connectors = banks,
): Config {
  const PIXGATE_BANK = { ...serviceVariables.PIXGATE_BANK, shape: oneOf(...Object.keys(connectors)) }
  const chosen = chosenConnector(environment, connectors)
  const table = { ...serviceVariables, PIXGATE_BANK, ...chosen.variables }
  const otherFaults = [
    ...environmentFaults({ environment, places }, table, connectors),
    ...migrationUrlFaults(environment),
    ...chosen.faults(environment),
  ]
  const values = readVariables(table, environment, { isProduction: isProduction(environment), otherFaults })
  return configOf(values, chosen.configure(values))
}

/**
 * The connector chosen by `PIXGATE_BANK`. An unknown name, which reading the variable refuses, yields the default.
 * @source rules#config.5
 */
export function chosenConnector({ PIXGATE_BANK }: Environment, connectors: Connectors = banks): Connector {
  return connectors[PIXGATE_BANK || DEFAULT_BANK] ?? pixgate
}

export function isProduction({ PIXGATE_MODE }: Environment): boolean {
  return PIXGATE_MODE === 'production'
}

/** Address of the console for links: its name behind a proxy that ends TLS, else this machine. `undefined`: not served. */
export function consoleUrlOf(config: Pick<Config, 'isConsoleServed' | 'consoleHosts' | 'operatorPort' | 'port'>) {
  const { isConsoleServed, consoleHosts, operatorPort, port } = config
  const [host] = consoleHosts
  const ownPort = operatorPort ?? port
  if (!isConsoleServed || (host === undefined && ownPort === 0)) return undefined
  return `${host === undefined ? `http://127.0.0.1:${ownPort}` : `https://${host}`}/console`
}

/**
 * Refuses the owner's login in a production server, where it would be in the memory of a process exposed to strangers.
 * @source rules#database.11
 */
export function migrationUrlFaults(environment: Environment): readonly string[] {
  const names = ['PIXGATE_MIGRATION_URL', fileVariable('PIXGATE_MIGRATION_URL')]
  if (!isProduction(environment)) return []
  return names
    .filter((name) => environment[name])
    .map((name) => `${name} must not be set where the server runs: the login of the owner is for pixgate migrate alone`)
}

/**
 * Faults of an environment as a whole, apart from the values of its variables.
 * @param table of variables that are read
 * @param connectors whose variables are known, chosen or not
 */
export function environmentFaults(
  { environment, places }: Pick<EnvironmentWithFile, 'environment' | 'places'>,
  table: Variables,
  connectors: Connectors = banks,
): readonly string[] {
  const tables = [table, ...Object.values(connectors).map(({ variables }) => variables)]
  const known = knownNames(tables)
  return [
    ...unknownNames(environment, places, known),
    ...unreadLines(places, known),
    ...unchosenMode(environment, table),
    ...ownPorts(environment),
    ...incompleteEmail(environment),
    ...(isProduction(environment)
      ? [...plainHttp(environment), ...sharedConsole(environment), ...pageWithoutUrl(environment)]
      : []),
  ]
}

const READ_ELSEWHERE = [
  'PIXGATE_DATA_DIR',
  'PIXGATE_SIMULATOR_PORT',
  'PIXGATE_SIMULATOR_DATA_DIR',
  'PIXGATE_SIMULATOR_EVENTS_URL',
  'PIXGATE_SIMULATOR_EXIT_WITH_PARENT',
  'PIXGATE_URL',
  'PIXGATE_OPERATOR_URL',
]

/** `PIXGATE_TEST_` belongs to the tests. */
const REFUSED = /^PIXGATE_(?!TEST_)/i
const OURS = /^PIXGATE_/i

function knownNames(tables: readonly Variables[]): string[] {
  const rows = tables.flatMap((table) => Object.entries(table))
  return [...rows.flatMap(([name, { secret }]) => (secret ? [name, fileVariable(name)] : [name])), ...READ_ELSEWHERE]
}

/** A mistyped cap would otherwise be ignored. @source rules#config.7 */
function unknownNames(environment: Environment, places: SettingPlaces, known: readonly string[]): string[] {
  return Object.keys(environment)
    .filter((name) => REFUSED.test(name) && (environment[name] || places.has(name)) && !known.includes(name))
    .map((name) => `${name} is unknown${suggestion(name, known)}`)
}

/** An unknown name may be the second half of a secret and is not repeated. @source rules#config.7 */
function unreadLines(places: SettingPlaces, known: readonly string[]): string[] {
  return [...places]
    .filter(([name]) => !OURS.test(name) && !known.includes(name))
    .map(([name, place]) => `${place}: unknown setting${suggestion(name, known)}`)
}

function suggestion(name: string, known: readonly string[]): string {
  const meant = nearestName(name, known)
  return meant === undefined ? '' : `; did you mean ${meant}?`
}

/** A real bank requires an explicit mode. @source rules#config.9 */
function unchosenMode(environment: Environment, table: Variables): string[] {
  if (environment.PIXGATE_MODE) return []
  return Object.entries(table).flatMap(([name, { isBankAddress }]) => {
    const url = isBankAddress ? URL.parse(environment[name] ?? '') : null
    if (url === null || isThisMachine(url.hostname)) return []
    return [`PIXGATE_MODE must be set, to production or to sandbox, where ${name} is on another machine`]
  })
}

/**
 * Refuses networks at a port of the service, on whichever machine: its other processes have the same settings.
 * @source rules#webhooks.26
 */
function ownPorts(environment: Environment): string[] {
  const allowed = allowedNetworksOf(environment.PIXGATE_WEBHOOK_ALLOWED_NETWORKS ?? '')
  const ports = {
    PORT: environment.PORT || serviceVariables.PORT.default,
    PIXGATE_OPERATOR_PORT: environment.PIXGATE_OPERATOR_PORT,
    PIXGATE_WORKER_PORT: environment.PIXGATE_WORKER_PORT,
  }
  return Object.entries(ports)
    .filter(([, own]) => own && allowed.some(({ port }) => port === Number(own)))
    .map(([name]) => `PIXGATE_WEBHOOK_ALLOWED_NETWORKS must not have the port of ${name}`)
}

/** Alerts by e-mail need all three settings. @source rules#alerts.7 */
function incompleteEmail(environment: Environment): string[] {
  const isSet = (name: string) => Boolean(environment[name] || environment[fileVariable(name)])
  const [missing, set] = [EMAIL.filter((name) => !isSet(name)), EMAIL.filter(isSet)]
  return set.length === 0 ? [] : missing.map((name) => `${name} must be set, as ${set.join(' and ')} is`)
}

const EMAIL = ['PIXGATE_ALERT_EMAIL_TO', 'PIXGATE_ALERT_EMAIL_FROM', 'PIXGATE_ALERT_SMTP_URL']

/** Refuses to serve others in clear text. @source rules#production.4 */
function plainHttp({ HOST, PIXGATE_TRUST_PROXY }: Environment): string[] {
  const host = HOST || serviceVariables.HOST.default
  const isReached = !isThisMachine(host) && !isPrivateAddress(host)
  if (!isReached || PIXGATE_TRUST_PROXY?.trim() !== NONE) return []
  return [PLAIN_HTTP]
}

/** The console is never on the port of the merchant's API. @source rules#console.17 */
function sharedConsole({ PIXGATE_CONSOLE, PIXGATE_OPERATOR_PORT }: Environment): string[] {
  if (PIXGATE_CONSOLE !== 'true' || PIXGATE_OPERATOR_PORT) return []
  return ['PIXGATE_CONSOLE=true needs PIXGATE_OPERATOR_PORT in production: the console has a port of its own']
}

/** @source rules#payment-page.2 */
function pageWithoutUrl({ PIXGATE_PAYMENT_PAGE, PIXGATE_PAYMENT_PAGE_URL }: Environment): string[] {
  if (PIXGATE_PAYMENT_PAGE !== 'true' || PIXGATE_PAYMENT_PAGE_URL) return []
  return ['PIXGATE_PAYMENT_PAGE=true needs PIXGATE_PAYMENT_PAGE_URL in production: the address that payers open']
}

/** An address to which a path is added. */
function pageUrlFault(text: string): string | undefined {
  const url = URL.parse(text)
  const isPlain = url !== null && url.search === '' && url.hash === '' && url.username === '' && url.password === ''
  return url === null || isPlain ? undefined : 'must be an address without a login, a query and a fragment'
}

const PLAIN_HTTP = 'HOST may be reached by others, in plain HTTP: name the proxy that ends TLS in PIXGATE_TRUST_PROXY'

/** @source rules#cash-in.credits.2 */
export function configOf(values: ServiceValues, bank: ConfiguredBank): Config {
  return Object.freeze({
    host: values.HOST,
    port: values.PORT,
    workerPort: values.PIXGATE_WORKER_PORT,
    operatorPort: values.PIXGATE_OPERATOR_PORT,
    drainDelayMs: values.PIXGATE_DRAIN_DELAY_MS,
    isConsoleServed: values.PIXGATE_CONSOLE,
    consoleHosts: values.PIXGATE_CONSOLE_HOSTS,
    paymentPage: values.PIXGATE_PAYMENT_PAGE
      ? {
          // The look-behind keeps the time in proportion to the length.
          url: values.PIXGATE_PAYMENT_PAGE_URL?.replace(/(?<!\/)\/+$/, ''),
          color: values.PIXGATE_PAYMENT_PAGE_COLOR,
          logo: values.PIXGATE_PAYMENT_PAGE_LOGO,
        }
      : undefined,
    databaseUrl: values.DATABASE_URL,
    migrationUrl: values.PIXGATE_MIGRATION_URL,
    mode: values.PIXGATE_MODE,
    adminToken: values.PIXGATE_ADMIN_TOKEN,
    metricsToken: values.PIXGATE_METRICS_TOKEN,
    adminTokenPrevious: values.PIXGATE_ADMIN_TOKEN_PREVIOUS,
    metricsTokenPrevious: values.PIXGATE_METRICS_TOKEN_PREVIOUS,
    encryptionKeys: { current: values.PIXGATE_ENCRYPTION_KEY, previous: values.PIXGATE_ENCRYPTION_KEY_PREVIOUS },
    bank,
    merchant: merchantOf(values),
    merchantDocument: values.PIXGATE_MERCHANT_DOCUMENT,
    feeCashIn: {
      cents: BigInt(values.PIXGATE_FEE_CASH_IN_CENTS),
      basisPoints: BigInt(values.PIXGATE_FEE_CASH_IN_BPS),
    },
    feeCashOut: {
      cents: BigInt(values.PIXGATE_FEE_CASH_OUT_CENTS),
      basisPoints: BigInt(values.PIXGATE_FEE_CASH_OUT_BPS),
    },
    limits: limitsOf(values),
    approvalFromCents: capOf(values.PIXGATE_APPROVAL_FROM_CENTS),
    caseApprovalFromCents: values.PIXGATE_DESK_APPROVAL_FROM_CENTS,
    maxValueCents: BigInt(values.PIXGATE_MAX_VALUE_CENTS),
    credits: { verifyFromCents: BigInt(values.PIXGATE_VERIFY_CREDITS_FROM_CENTS) },
    isBankAccountShared: values.PIXGATE_BANK_ACCOUNT_SHARED,
    ofxAccount: values.PIXGATE_OFX_ACCOUNT,
    rateLimitPerMinute: values.PIXGATE_RATE_LIMIT_PER_MINUTE,
    webhookAllowPrivate: values.PIXGATE_WEBHOOK_ALLOW_PRIVATE,
    webhookAllowedNetworks: allowedNetworksOf(values.PIXGATE_WEBHOOK_ALLOWED_NETWORKS ?? ''),
    alerts: alertsOf(values),
    trustProxy: values.PIXGATE_TRUST_PROXY.filter((network) => network !== NONE),
    keptDays: {
      callbacks: values.PIXGATE_KEEP_PERSONAL_DATA_DAYS,
      notifications: values.PIXGATE_KEEP_NOTIFICATIONS_DAYS,
      deliveries: values.PIXGATE_KEEP_PERSONAL_DATA_DAYS,
      ended_operations: values.PIXGATE_KEEP_PERSONAL_DATA_DAYS,
    },
    logLevel: values.PIXGATE_LOG_LEVEL,
    settings: settingsOf(values),
  })
}

/**
 * Variables of the service and of the chosen bank. A secret says only whether it is set; an address loses its user and
 * password.
 * @source rules#console.13
 */
function settingsOf(values: ServiceValues): Setting[] {
  const table: Variables = { ...serviceVariables, ...chosenConnector({ PIXGATE_BANK: values.PIXGATE_BANK }).variables }
  const given: Readonly<Record<string, unknown>> = values
  return Object.entries(table).map(([name, row]) => {
    const value = given[name]
    const text = value === undefined ? undefined : String(value)
    if (row.secret) return { name, value: null, isSet: text !== undefined }
    const byDefault = (values.PIXGATE_MODE === 'production' ? row.productionDefault : undefined) ?? row.default
    return {
      name,
      value: text === undefined ? null : withoutLogin(text),
      isSet: text !== undefined && text !== byDefault,
    }
  })
}

function withoutLogin(text: string): string {
  const url = URL.parse(text)
  if (!url || (url.username === '' && url.password === '')) return text
  url.username = ''
  url.password = ''
  return url.href
}

function alertsOf(values: ServiceValues): AlertSettings {
  const { PIXGATE_ALERT_EMAIL_TO: to, PIXGATE_ALERT_EMAIL_FROM: from, PIXGATE_ALERT_SMTP_URL: smtpUrl } = values
  return {
    email: from === undefined || smtpUrl === undefined ? undefined : { from, to, smtpUrl },
    webhooks: alertWebhooksOf(values.PIXGATE_ALERT_WEBHOOK_URLS ?? ''),
    language: values.PIXGATE_ALERT_LANGUAGE,
  }
}

function limitsOf(values: ServiceValues): Config['limits'] {
  return {
    caps: {
      paymentCents: capOf(values.PIXGATE_PAYMENT_MAX_CENTS),
      hourCents: capOf(values.PIXGATE_HOUR_MAX_CENTS),
      dayCents: capOf(values.PIXGATE_DAY_MAX_CENTS),
      nightCents: capOf(values.PIXGATE_NIGHT_MAX_CENTS),
      newRecipientCents: capOf(values.PIXGATE_NEW_RECIPIENT_MAX_CENTS),
    },
    newRecipientMs: values.PIXGATE_NEW_RECIPIENT_HOURS * 60 * 60 * 1_000,
  }
}

function capOf(value: number | 'none'): bigint | null {
  return value === 'none' ? null : BigInt(value)
}

/** Characters of a user or password that end it in an address, and percent signs that encode nothing. */
const UNENCODED = /[/?#[\]@\s]|%(?![0-9a-f]{2})/i

/**
 * Names the part of a PostgreSQL address that cannot be used. Shows nothing of the address: it has a password.
 * @source rules#config.11
 */
export function databaseUrlFault(address: string): string | undefined {
  const [, rest] = /^postgres(?:ql)?:\/\/(.*)$/s.exec(address) ?? []
  if (rest === undefined) return 'must be an address that begins with postgres:// or postgresql://'
  const end = rest.lastIndexOf('@')
  if (UNENCODED.test(rest.slice(0, Math.max(end, 0)))) return ENCODE_PASSWORD
  const [place = ''] = rest.slice(end + 1).split(/[/?#]/)
  if (place.includes(',')) return ONE_HOST
  const url = URL.parse(address)
  if (url === null) return /:[^\]]*$/.test(place) ? PORT_FAULT : 'has a host that is not valid'
  if (url.hash !== '') return ENCODE_PASSWORD
  if (url.searchParams.has('target_session_attrs')) return IGNORED
  if (url.searchParams.get('host')?.includes(',')) return ONE_HOST
  return undefined
}

const ENCODE_PASSWORD =
  'has a character in its user or password that must be percent-encoded, such as / as %2F; openssl rand -hex 32 makes a password that needs no encoding'

const ONE_HOST_ADVICE = 'name one address that follows the primary, such as HAProxy, PgBouncer or a virtual address'

const PORT_FAULT = 'has a port that is not a number from 1 to 65535'

const IGNORED = `has target_session_attrs, which would be ignored; ${ONE_HOST_ADVICE}`

const ONE_HOST = `names several hosts; ${ONE_HOST_ADVICE}`

function databaseAddress() {
  return Type.String({ description: 'an address that begins with postgres:// or postgresql://' })
}

function safeDatabase() {
  const description = 'an address with sslmode=verify-full, or one on this machine'
  return Type.Refine(Type.String({ description }), isSafeDatabase)
}

/**
 * Whether the connection to the database is safe against eavesdropping and impersonation. Only `verify-full` guarantees
 * that: node-postgres currently treats `require` the same, but has announced to change it.
 */
function isSafeDatabase(url: string): boolean {
  const { hostname = '', searchParams } = URL.parse(url) ?? {}
  // Follows node-postgres: the last of several parameters counts, and `host` takes precedence over the address.
  const { host, sslmode } = Object.fromEntries(searchParams ?? [])
  return sslmode === 'verify-full' || isThisMachine(host || hostname.replace(/^%2f/i, '/'))
}

/** The loopback interface, or the directory of a socket. Without a host, `PGHOST` would decide: not safe. */
function isThisMachine(host: string): boolean {
  const name = host.replace(/^\[(.+)\]$/, '$1').toLowerCase()
  return name.startsWith('/') || ['localhost', '::1'].includes(name) || (isIP(name) === 4 && name.startsWith('127.'))
}
