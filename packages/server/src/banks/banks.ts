import { openPixgateBank } from './pixgate/bank.ts'
import { pixgateBankConfig, pixgateBankVariables } from './pixgate/config.ts'

/** Every bank that there is a connector for: the variables that it reads, what they make, and what opens it of that. */
export const banks = {
  pixgate: { variables: pixgateBankVariables, configOf: pixgateBankConfig, open: openPixgateBank },
} as const
