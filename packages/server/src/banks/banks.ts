import { openPixgateBank } from './pixgate/bank.ts'

/** Every bank that there is a connector for, by its name: what opens it, of its own slice of the configuration. */
export const banks = {
  pixgate: openPixgateBank,
} as const
