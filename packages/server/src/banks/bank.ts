import { limits } from '@pixgate/spec'
import { type Clock, createDatabaseClock } from '../platform/clock.ts'
import type { Finding } from '../platform/finding.ts'
import { type Environment, text, type Values, type Variables, variables } from '../platform/variables.ts'
import type { BankCertificate } from './certificates.ts'
import type { Inbound } from './inbound.ts'
import type { BankCall, ChargeRequest, NotSent, Partner, StatementDelay } from './port.ts'

/** The parts of a connector. */

export interface Bank extends Partner {
  readonly inbound: Inbound
  /** The `Date` of the bank's last answer in epoch milliseconds, if known. */
  latestDate?(): number | undefined
  certificates?(): readonly BankCertificate[]
  /** Checks the connection step by step; absent if one call covers it. */
  examine?(options: ExaminationOptions): Promise<readonly Finding[]>
  close(): Promise<void>
}

export interface ExaminationOptions {
  readonly registers: boolean
  /** Creates the id of a charge to be created and cancelled in the bank's sandbox; absent: no charge is created. */
  readonly newId?: () => string
}

/** Names of variables, for advice when the bank is unreachable or refuses our calls. */
export interface BankSettings {
  readonly address: string
  readonly credentials: string
  readonly certificate?: string
  readonly authorities?: string
}

export interface ConfiguredBank {
  readonly timeoutMs: number
  /** Time for the bank within the creation of a charge, including retries. */
  readonly createBudgetMs: number
  readonly warning?: string | undefined
  readonly settings: BankSettings
  readonly host: string | undefined
  /** @param clock our clock, compared with the bank's; by default the machine's */
  open(clock?: Clock): Bank
}

export interface Connector<Table extends Variables = Variables> {
  /** Heading of its variables in the documentation. */
  readonly title: string
  readonly variables: Table
  /** Faults of files named by its variables, each starting with the variable. */
  faults(environment: Environment): readonly string[]
  configure(values: Values<Table>): ConfiguredBank
}

type BankConfig = Pick<ConfiguredBank, 'timeoutMs' | 'createBudgetMs' | 'warning'>

/**
 * Declares a connector.
 * @param declared `settings` are names of `variables`; `configOf` turns their values into the configuration for `open`
 */
export function connector<Table extends Variables, Config extends BankConfig>(declared: {
  readonly title: string
  readonly variables: Table
  readonly settings: { readonly [Setting in keyof BankSettings]: keyof Table & string }
  readonly faults?: (environment: Environment) => readonly string[]
  readonly configOf: (values: Values<Table>) => Config
  readonly open: (config: Config, clock: Clock) => Bank
}): Connector<Table> {
  const { title, variables, settings, faults = () => [], configOf, open } = declared
  return {
    title,
    variables,
    faults,
    configure: (values) => {
      const config = configOf(values)
      const { timeoutMs, createBudgetMs, warning } = config
      const host = URL.parse(String(values[settings.address]))?.hostname
      const openAt = (clock: Clock = createDatabaseClock()) => open(config, clock)
      return { timeoutMs, createBudgetMs, warning, settings, host, open: openAt }
    },
  }
}

export const NOT_SUPPORTED: NotSent = { kind: 'NOT_SENT', reason: 'the bank does not do this' }

async function notSupported(): Promise<NotSent> {
  return NOT_SUPPORTED
}

export function statementDelay(ms: number): StatementDelay {
  return { PAYMENT_RECEIVED: ms, PAYMENT_TAKEN_BACK: ms, REFUND_SENT: ms, PAYOUT_SENT: ms, PAYOUT_RETURNED: ms }
}

/** A bank without any capability. Connectors spread it and override their calls. */
export const lacking: Pick<Partner, BankCall | 'statementDelayMs'> = {
  statementDelayMs: statementDelay(300_000),
  createCharge: notSupported,
  getCharge: notSupported,
  cancelCharge: notSupported,
  sendPayout: notSupported,
  getPayout: notSupported,
  decodeQrCode: notSupported,
  sendRefund: notSupported,
  getRefund: notSupported,
  readStatement: notSupported,
  readBalance: notSupported,
}

/**
 * Production queries every payment before it is booked.
 * @returns the reason why production does not start with this bank, if any
 * @source rules#cash-in.credits.2
 */
export function faultInProduction({ capabilities }: Pick<Partner, 'capabilities'>): string | undefined {
  if (capabilities.has('query-charge')) return undefined
  return 'PIXGATE_BANK: charges cannot be queried at this bank, which production needs; choose another connector'
}

/** The account that receives payments, for our BR Codes and the charges of some banks. */
export const merchantVariables = variables({
  PIXGATE_MERCHANT_PIX_KEY: {
    shape: text(limits.pixKeyMaxLength),
    default: 'financeiro@loja.example',
    required: 'in production',
    description: 'The Pix key that receives.',
  },
  PIXGATE_MERCHANT_NAME: {
    shape: text(25),
    default: 'Loja Exemplo',
    required: 'in production',
    description: 'Name in the BR Code.',
  },
  PIXGATE_MERCHANT_CITY: {
    shape: text(15),
    default: 'Sao Paulo',
    required: 'in production',
    description: 'City in the BR Code.',
  },
})

export function merchantOf(values: Values<typeof merchantVariables>): ChargeRequest['merchant'] {
  return {
    pixKey: values.PIXGATE_MERCHANT_PIX_KEY,
    name: values.PIXGATE_MERCHANT_NAME,
    city: values.PIXGATE_MERCHANT_CITY,
  }
}
