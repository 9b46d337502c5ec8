import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { limits } from '@pixgate/spec'

/**
 * Configuration: one table of variables, one frozen object. Nothing else reads the environment.
 */

/** How the service runs: `sandbox` with a simulated bank, or `production`. */
export type Mode = 'sandbox' | 'production'

/** One variable. */
export interface Variable {
  readonly name: string
  readonly description: string
  /** As text; where absent, what the description says. */
  readonly default?: string
  /** Bounds and unit, for the documentation. */
  readonly range?: string
  readonly secret?: true
  /** Production does not start without it. */
  readonly requiredInProduction?: true
}

/** Every variable the service knows, in the order of the documentation. */
export const configTable = [
  { name: 'HOST', description: 'Address the API listens on.', default: '127.0.0.1' },
  { name: 'PORT', description: 'Port the API listens on; 0 takes any free one.', default: '8080', range: '0…65535' },
  {
    name: 'DATABASE_URL',
    description: 'A PostgreSQL 15 or newer. Unset: the service starts its own, in the data directory.',
    range: 'in production with `sslmode=verify-full`, or on this machine',
    secret: true,
    requiredInProduction: true,
  },
  {
    name: 'PIXGATE_DATA_DIR',
    description: 'Where the embedded database, the simulated bank and the sandbox secrets are kept.',
    default: '.pixgate',
  },
  {
    name: 'PIXGATE_MODE',
    description: '`sandbox` simulates the bank; `production` refuses insecure settings.',
    default: 'sandbox',
    range: 'sandbox, production',
  },
  {
    name: 'PIXGATE_ADMIN_TOKEN',
    description:
      'Lets the operator in: API keys, the switch of payouts, adjustments. In the sandbox made once and kept in the data directory.',
    range: 'at least 32 characters',
    secret: true,
    requiredInProduction: true,
  },
  {
    name: 'PIXGATE_ENCRYPTION_KEY',
    description: 'Seals secrets at rest. In the sandbox made once and kept in the data directory.',
    range: 'at least 32 characters',
    secret: true,
    requiredInProduction: true,
  },
  {
    name: 'PIXGATE_PARTNER_URL',
    description: 'Address of the bank. In the sandbox the simulator that is started.',
    requiredInProduction: true,
  },
  {
    name: 'PIXGATE_PARTNER_TOKEN',
    description: 'Bearer token we send to the bank.',
    range: 'at least 32 characters in production',
    secret: true,
    requiredInProduction: true,
  },
  {
    name: 'PIXGATE_PARTNER_SECRET',
    description: "HMAC secret of the bank's events.",
    range: 'at least 32 characters in production',
    secret: true,
    requiredInProduction: true,
  },
  {
    name: 'PIXGATE_PARTNER_SECRET_PREVIOUS',
    description: 'The HMAC secret before it; accepted too, while the bank changes over.',
    range: 'at least 32 characters in production',
    secret: true,
  },
  {
    name: 'PIXGATE_PARTNER_INBOUND_API_KEY',
    description: 'A static key accepted in X-Partner-Api-Key instead of a signature. Unset: never.',
    range: 'at least 32 characters in production',
    secret: true,
  },
  {
    name: 'PIXGATE_PARTNER_TIMEOUT_MS',
    description: 'Time for one call to the bank.',
    default: '3000',
    range: '100…10000 milliseconds',
  },
  {
    name: 'PIXGATE_PARTNER_CREATE_BUDGET_MS',
    description: 'Time for the bank within the creation of a charge, all tries together.',
    default: '8000',
    range: '100…14000 milliseconds',
  },
  {
    name: 'PIXGATE_PARTNER_IDEMPOTENT_ORDERS',
    description:
      'Whether the bank carries a payout or a refund out once, however often it gets it under one id. If not, none whose answer was lost is ever sent again.',
    default: 'true',
    range: 'true, false',
  },
  {
    name: 'PIXGATE_MERCHANT_PIX_KEY',
    description: 'The Pix key that receives.',
    default: 'financeiro@loja.example',
    range: 'at most 77 characters',
    requiredInProduction: true,
  },
  {
    name: 'PIXGATE_MERCHANT_NAME',
    description: 'Name in the BR Code.',
    default: 'Loja Exemplo',
    range: 'at most 25 characters',
    requiredInProduction: true,
  },
  {
    name: 'PIXGATE_MERCHANT_CITY',
    description: 'City in the BR Code.',
    default: 'Sao Paulo',
    range: 'at most 15 characters',
    requiredInProduction: true,
  },
  {
    name: 'PIXGATE_FEE_CASH_IN_CENTS',
    description: 'Fixed fee of a cash-in.',
    default: '0',
    range: '0…10000000 centavos',
  },
  {
    name: 'PIXGATE_FEE_CASH_IN_BPS',
    description: 'Fee of a cash-in relative to its value.',
    default: '0',
    range: '0…10000 basis points',
  },
  {
    name: 'PIXGATE_FEE_CASH_OUT_CENTS',
    description: 'Fixed fee of a cash-out.',
    default: '0',
    range: '0…10000000 centavos',
  },
  {
    name: 'PIXGATE_FEE_CASH_OUT_BPS',
    description: 'Fee of a cash-out relative to its value.',
    default: '0',
    range: '0…10000 basis points',
  },
  {
    name: 'PIXGATE_CASH_OUT_MAX_CENTS',
    description: 'Highest value of one cash-out. Unset: no cap of its own.',
    range: `1…${limits.valueMaxCents} centavos`,
  },
  {
    name: 'PIXGATE_CASH_OUT_DAILY_MAX_CENTS',
    description: 'Highest value of all cash-outs of a day in São Paulo. Unset: no cap.',
    range: `1…${limits.valueMaxCents} centavos`,
  },
  {
    name: 'PIXGATE_VERIFY_CREDITS_FROM_CENTS',
    description:
      'A payment of at least this that an event of the bank tells is verified with the bank before it is booked. 0: every one.',
    default: '100000',
    range: `0…${limits.valueMaxCents} centavos`,
  },
  {
    name: 'PIXGATE_UNVERIFIED_CREDITS_MAX_CENTS',
    description:
      "What may be booked on the word of events alone since the bank's statement was last matched; beyond it every payment is verified. Unset: ten times the variable before.",
    range: `0…${limits.valueMaxCents} centavos`,
  },
  {
    name: 'PIXGATE_MAX_VALUE_CENTS',
    description: 'Highest value of one operation.',
    default: String(limits.valueMaxCents),
    range: `1…${limits.valueMaxCents} centavos`,
  },
  {
    name: 'PIXGATE_RATE_LIMIT_PER_MINUTE',
    description:
      'Requests of one API key a minute, a sixth of them at once. 0: no limit. Each process counts for itself.',
    default: '600',
    range: '0…1000000 requests',
  },
  {
    name: 'PIXGATE_SIMULATOR_PORT',
    description: 'Port of the simulated bank. Unset and taken: the next free one.',
    default: '8081',
    range: '0…65535',
  },
  {
    name: 'PIXGATE_WEBHOOK_ALLOW_PRIVATE',
    description: 'Whether receivers may be http, on any port, at private addresses. Production refuses true.',
    default: 'true in the sandbox, false in production',
    range: 'true, false',
  },
  {
    name: 'PIXGATE_TRUST_PROXY',
    description: 'Proxies whose X-Forwarded-For is believed. Unset: none.',
    range: 'addresses or CIDRs, separated by commas; in production not everybody',
  },
  {
    name: 'PIXGATE_LOG_LEVEL',
    description: 'Lowest level that is logged.',
    default: 'info',
    range: 'fatal, error, warn, info, debug, trace, silent',
  },
] as const satisfies readonly Variable[]

/** A name in the table. */
export type VariableName = (typeof configTable)[number]['name']

/** What is wrong with the configuration: all of it at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(`the configuration is not usable:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`)
    this.faults = faults
  }
}

/** The configuration. Secrets that the sandbox makes for itself are `undefined` here. */
export interface Config {
  readonly host: string
  readonly port: number
  readonly databaseUrl: string | undefined
  /** Absolute. */
  readonly dataDirectory: string
  readonly mode: Mode
  readonly adminToken: string | undefined
  readonly encryptionKey: string | undefined
  readonly partner: {
    readonly url: string | undefined
    readonly token: string | undefined
    readonly secret: string | undefined
    readonly secretPrevious: string | undefined
    readonly inboundApiKey: string | undefined
    readonly timeoutMs: number
    readonly createBudgetMs: number
    readonly hasIdempotentOrders: boolean
  }
  readonly merchant: { readonly pixKey: string; readonly name: string; readonly city: string }
  readonly feeCashIn: { readonly cents: bigint; readonly basisPoints: bigint }
  readonly feeCashOut: { readonly cents: bigint; readonly basisPoints: bigint }
  /** `null`: none. */
  readonly cashOutMaxCents: bigint | null
  /** `null`: none. */
  readonly cashOutDailyMaxCents: bigint | null
  readonly maxValueCents: bigint
  /** From when on credits that events tell are verified. */
  readonly credits: { readonly verifyFromCents: bigint; readonly unverifiedMaxCents: bigint }
  /** 0: none. */
  readonly rateLimitPerMinute: number
  /** `undefined`: 8081 or the next free one. */
  readonly simulatorPort: number | undefined
  readonly webhookAllowPrivate: boolean
  readonly trustProxy: readonly string[]
  readonly logLevel: string
}

/** Variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

const SECRET_MIN_LENGTH = 32

/**
 * Reads the configuration.
 * @throws ConfigError every fault at once, each naming its variable, none repeating a secret
 * @source rules#config.1
 */
export function readConfig(environment: Environment): Config {
  const reader = new Reader(environment)
  const mode = reader.oneOf('PIXGATE_MODE', ['sandbox', 'production'])
  const isProduction = mode === 'production'
  const partnerSecretMinLength = isProduction ? SECRET_MIN_LENGTH : 1
  const config: Config = {
    host: reader.text('HOST'),
    port: reader.integer('PORT', 0, 65_535),
    databaseUrl: reader.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    dataDirectory: resolve(reader.text('PIXGATE_DATA_DIR')),
    mode,
    adminToken: reader.secret('PIXGATE_ADMIN_TOKEN', SECRET_MIN_LENGTH),
    encryptionKey: reader.secret('PIXGATE_ENCRYPTION_KEY', SECRET_MIN_LENGTH),
    partner: {
      url: reader.url('PIXGATE_PARTNER_URL', isProduction ? ['https:'] : ['http:', 'https:']),
      token: reader.secret('PIXGATE_PARTNER_TOKEN', partnerSecretMinLength),
      secret: reader.secret('PIXGATE_PARTNER_SECRET', partnerSecretMinLength),
      secretPrevious: reader.secret('PIXGATE_PARTNER_SECRET_PREVIOUS', partnerSecretMinLength),
      inboundApiKey: reader.secret('PIXGATE_PARTNER_INBOUND_API_KEY', partnerSecretMinLength),
      timeoutMs: reader.integer('PIXGATE_PARTNER_TIMEOUT_MS', 100, 10_000),
      createBudgetMs: reader.integer('PIXGATE_PARTNER_CREATE_BUDGET_MS', 100, 14_000),
      hasIdempotentOrders: reader.boolean('PIXGATE_PARTNER_IDEMPOTENT_ORDERS', true),
    },
    merchant: {
      pixKey: reader.text('PIXGATE_MERCHANT_PIX_KEY', limits.pixKeyMaxLength),
      name: reader.text('PIXGATE_MERCHANT_NAME', 25),
      city: reader.text('PIXGATE_MERCHANT_CITY', 15),
    },
    feeCashIn: {
      cents: BigInt(reader.integer('PIXGATE_FEE_CASH_IN_CENTS', 0, 10_000_000)),
      basisPoints: BigInt(reader.integer('PIXGATE_FEE_CASH_IN_BPS', 0, 10_000)),
    },
    feeCashOut: {
      cents: BigInt(reader.integer('PIXGATE_FEE_CASH_OUT_CENTS', 0, 10_000_000)),
      basisPoints: BigInt(reader.integer('PIXGATE_FEE_CASH_OUT_BPS', 0, 10_000)),
    },
    cashOutMaxCents: reader.cap('PIXGATE_CASH_OUT_MAX_CENTS'),
    cashOutDailyMaxCents: reader.cap('PIXGATE_CASH_OUT_DAILY_MAX_CENTS'),
    maxValueCents: BigInt(reader.integer('PIXGATE_MAX_VALUE_CENTS', 1, Number(limits.valueMaxCents))),
    credits: reader.credits(),
    rateLimitPerMinute: reader.integer('PIXGATE_RATE_LIMIT_PER_MINUTE', 0, 1_000_000),
    simulatorPort: environment.PIXGATE_SIMULATOR_PORT ? reader.integer('PIXGATE_SIMULATOR_PORT', 0, 65_535) : undefined,
    webhookAllowPrivate: reader.boolean('PIXGATE_WEBHOOK_ALLOW_PRIVATE', !isProduction),
    trustProxy: reader.list('PIXGATE_TRUST_PROXY'),
    logLevel: reader.oneOf('PIXGATE_LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  }
  if (isProduction) reader.assertSecure(config)
  if (reader.faults.length > 0) throw new ConfigError(reader.faults)
  return Object.freeze(config)
}

/** Reads variables and collects what is wrong with them. */
class Reader {
  readonly faults: string[] = []
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  optional(name: VariableName): string | undefined {
    return this.#environment[name] || undefined
  }

  text(name: VariableName, maxLength = 4_096): string {
    const value = this.optional(name) ?? defaultOf(name)
    if (value.length > maxLength) this.faults.push(`${name} is longer than ${maxLength} characters`)
    return value
  }

  integer(name: VariableName, min: number, max: number): number {
    const text = this.text(name)
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= min && value <= max)) this.faults.push(`${name} must be a whole number from ${min} to ${max}`)
    return Number.isNaN(value) ? min : value
  }

  /** Centavos; `null` where unset. */
  cap(name: VariableName): bigint | null {
    return this.optional(name) === undefined ? null : BigInt(this.integer(name, 1, Number(limits.valueMaxCents)))
  }

  /** @source rules#cash-in.credits.2, rules#cash-in.credits.3 */
  credits(): Config['credits'] {
    const most = Number(limits.valueMaxCents)
    const from = BigInt(this.integer('PIXGATE_VERIFY_CREDITS_FROM_CENTS', 0, most))
    const isSet = this.optional('PIXGATE_UNVERIFIED_CREDITS_MAX_CENTS') !== undefined
    const max = isSet ? BigInt(this.integer('PIXGATE_UNVERIFIED_CREDITS_MAX_CENTS', 0, most)) : from * 10n
    return { verifyFromCents: from, unverifiedMaxCents: max }
  }

  oneOf<const Value extends string>(name: VariableName, values: readonly [Value, ...Value[]]): Value {
    const text = this.text(name)
    const value = values.find((candidate) => candidate === text)
    if (value === undefined) this.faults.push(`${name} must be one of ${values.join(', ')}`)
    return value ?? values[0]
  }

  boolean(name: VariableName, otherwise: boolean): boolean {
    const text = this.optional(name)
    if (text === undefined) return otherwise
    if (text !== 'true' && text !== 'false') this.faults.push(`${name} must be true or false`)
    return text === 'true'
  }

  secret(name: VariableName, minLength: number): string | undefined {
    const value = this.optional(name)
    if (value !== undefined && value.length < minLength) {
      this.faults.push(`${name} is too short: it needs at least ${minLength} characters`)
    }
    return value
  }

  url(name: VariableName, protocols: readonly string[]): string | undefined {
    const value = this.optional(name)
    if (value !== undefined && !protocols.includes(URL.parse(value)?.protocol ?? '')) {
      this.faults.push(`${name} must be an address that begins with ${protocols.map((it) => `${it}//`).join(' or ')}`)
    }
    return value
  }

  list(name: VariableName): string[] {
    const values = (this.optional(name) ?? '').split(',').map((value) => value.trim())
    const given = values.filter((value) => value !== '')
    for (const value of given) {
      if (!isNetwork(value)) this.faults.push(`${name} must hold addresses or CIDRs`)
    }
    return given
  }

  /** Production refuses what is insecure, by name. @source rules#config.2 */
  assertSecure(config: Config): void {
    for (const variable of configTable) {
      if ('requiredInProduction' in variable && this.optional(variable.name) === undefined) {
        this.faults.push(`${variable.name} is required in production`)
      }
    }
    this.#assertOwnValues()
    if (config.databaseUrl !== undefined && !isSafeDatabase(config.databaseUrl)) {
      this.faults.push('DATABASE_URL must have sslmode=verify-full where the database is not on this machine')
    }
    if (config.trustProxy.some((network) => /\/0+$/.test(network))) {
      this.faults.push('PIXGATE_TRUST_PROXY must not trust everybody: a prefix of length 0 takes any address')
    }
    if (config.webhookAllowPrivate) {
      this.faults.push('PIXGATE_WEBHOOK_ALLOW_PRIVATE = true would let webhooks reach private addresses')
    }
  }

  /** Of two secrets with one value, whoever may know the one knows the other. */
  #assertOwnValues(): void {
    const owners = new Map<string, VariableName>()
    for (const variable of configTable) {
      const value = 'secret' in variable ? this.optional(variable.name) : undefined
      if (value === undefined) continue
      const owner = owners.get(value)
      if (owner) this.faults.push(`${variable.name} has the value of ${owner}: every secret needs one of its own`)
      else owners.set(value, variable.name)
    }
  }
}

/**
 * Whether nobody between us and the database can read along or pretend to be it. Of the modes of TLS only `verify-full`
 * says so for good: node-postgres takes `require` for the same today, and announces that it will not.
 */
function isSafeDatabase(url: string): boolean {
  const { hostname = '', searchParams } = URL.parse(url) ?? {}
  // As node-postgres reads it: the last of several counts, and `host` counts more than the address.
  const { host, sslmode } = Object.fromEntries(searchParams ?? [])
  return sslmode === 'verify-full' || isThisMachine(host || hostname.replace(/^%2f/i, '/'))
}

/** The loopback interface, or the directory of a socket. No host is none of both: `PGHOST` would decide. */
function isThisMachine(host: string): boolean {
  const name = host.replace(/^\[(.+)\]$/, '$1').toLowerCase()
  return name.startsWith('/') || ['localhost', '::1'].includes(name) || (isIP(name) === 4 && name.startsWith('127.'))
}

/** An address, or one with the length of its prefix. */
function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return bits > 0 && more.length === 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
}

function defaultOf(name: VariableName): string {
  const variable: Variable | undefined = configTable.find((candidate) => candidate.name === name)
  return variable?.default ?? ''
}

/** The configuration as it may be shown: every secret that is set is `***`. */
export function describeConfig(environment: Environment): Record<string, string> {
  const shown = configTable.map((variable: Variable) => {
    const value = environment[variable.name]
    return [variable.name, value ? (variable.secret ? '***' : value) : (variable.default ?? '')] as const
  })
  return Object.fromEntries(shown)
}
