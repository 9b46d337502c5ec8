import { type Clock, createDatabaseClock } from '../platform/clock.ts'
import type { Environment, Values, Variables } from '../platform/variables.ts'
import type { Bank } from './bank.ts'

/** What the server has to know of how a bank is reached, whichever it is. */
export interface BankConfig {
  /** Time for one call. */
  readonly timeoutMs: number
  /** Time for the bank within the creation of a charge, all tries together. */
  readonly createBudgetMs: number
  /** What whoever starts the service with it should know; absent: nothing. */
  readonly warning?: string | undefined
}

/** The names of variables that somebody has to look at when the bank cannot be reached, or does not take our calls. */
export interface BankSettings {
  readonly address: string
  readonly credentials: string
  /** Of the certificate that we show the bank. */
  readonly certificate?: string
  /** Of the authorities that are trusted for it. */
  readonly authorities?: string
}

/** A bank whose variables were read: it can be connected. */
export interface ConfiguredBank extends BankConfig {
  readonly settings: BankSettings
  /** Of its address, where that is a URL. */
  readonly host: string | undefined
  /** @param clock ours, against which the bank's time is held; absent: the machine's */
  open(clock?: Clock): Bank
}

/** What connects the banks of one kind. */
export interface Connector<Table extends Variables = Variables> {
  /** Heads its variables in the documentation. */
  readonly title: string
  readonly variables: Table
  /** What is wrong with the files that its variables name, each beginning with its variable. */
  faults(environment: Environment): readonly string[]
  /** @param values what its variables were read as */
  configure(values: Values<Table>): ConfiguredBank
}

/**
 * Declares a connector.
 * @param declared `settings` are of its `variables`, `configOf` makes its own configuration of what its variables were read as, `open` connects the bank by that
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
      return {
        timeoutMs,
        createBudgetMs,
        warning,
        settings,
        host,
        open: (clock = createDatabaseClock()) => open(config, clock),
      }
    },
  }
}
