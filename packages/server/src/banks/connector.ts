import type { Values, Variables } from '../platform/variables.ts'
import type { Bank } from './bank.ts'

/** What the server has to know of how a bank is reached, whichever it is. */
export interface BankConfig {
  /** Time for one call. */
  readonly timeoutMs: number
  /** Time for the bank within the creation of a charge, all tries together. */
  readonly createBudgetMs: number
}

/** A bank whose variables were read: it can be connected. */
export interface ConfiguredBank extends BankConfig {
  open(): Bank
}

/** What connects the banks of one kind. */
export interface Connector<Table extends Variables = Variables> {
  /** Heads its variables in the documentation. */
  readonly title: string
  readonly variables: Table
  /** @param values what its variables were read as */
  configure(values: Values<Table>): ConfiguredBank
}

/**
 * Declares a connector.
 * @param declared `configOf` makes its own configuration of what its variables were read as, `open` connects the bank by that
 */
export function connector<Table extends Variables, Config extends BankConfig>(declared: {
  readonly title: string
  readonly variables: Table
  readonly configOf: (values: Values<Table>) => Config
  readonly open: (config: Config) => Bank
}): Connector<Table> {
  const { title, variables, configOf, open } = declared
  return {
    title,
    variables,
    configure: (values) => {
      const config = configOf(values)
      return { timeoutMs: config.timeoutMs, createBudgetMs: config.createBudgetMs, open: () => open(config) }
    },
  }
}
