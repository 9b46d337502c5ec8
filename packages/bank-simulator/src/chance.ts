import { randomBytes, randomInt, randomUUID } from 'node:crypto'

/** Where identifiers and chance come from; injected, so that tests can repeat them. */
export interface Chance {
  uuid(): string
  /** 32 hexadecimal digits, as long as a txid. */
  transactionId(): string
  /** Eleven of `[0-9A-Za-z]`, as an end-to-end id ends. */
  endToEndSuffix(): string
  /** An integer from 0 to `limit` − 1. */
  below(limit: number): number
}

const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The operating system's randomness. */
export const systemChance: Chance = {
  uuid: () => randomUUID(),
  transactionId: () => randomBytes(16).toString('hex'),
  endToEndSuffix: () => Array.from({ length: 11 }, () => ALPHANUMERIC[randomInt(ALPHANUMERIC.length)]).join(''),
  below: (limit) => randomInt(limit),
}
