import { randomBytes, randomInt, randomUUID } from 'node:crypto'

/** Source of identifiers and random values. Injected so that tests are reproducible. */
export interface Chance {
  uuid(): string
  /** 32 hexadecimal digits, which is a valid txid. */
  transactionId(): string
  /** Eleven characters of `[0-9A-Za-z]`: the suffix of an EndToEndId. */
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
