import assert from 'node:assert/strict'
import { ConfigError, type Environment } from '../../src/platform/variables.ts'

/** A secret that is long enough and hard to guess, and that must never be seen. */
export const CANARY = 'canary-7Jq2VxN9sKd4RmTz8wBhYc3GpL5e'

/** What production needs, and nothing more. */
export const PRODUCTION: Environment = {
  PIXGATE_MODE: 'production',
  DATABASE_URL: `postgres://pixgate:${CANARY}@db.example/pixgate?sslmode=verify-full`,
  PIXGATE_ADMIN_TOKEN: `${CANARY}-admin`,
  PIXGATE_ENCRYPTION_KEY: `${CANARY}-encryption`,
  PIXGATE_PARTNER_URL: 'https://bank.example/pix',
  PIXGATE_PARTNER_TOKEN: `${CANARY}-token`,
  PIXGATE_PARTNER_SECRET: `${CANARY}-partner`,
  PIXGATE_TRUST_PROXY: 'none',
  PIXGATE_MERCHANT_PIX_KEY: 'loja@example.com',
  PIXGATE_MERCHANT_NAME: 'Loja',
  PIXGATE_MERCHANT_CITY: 'Sao Paulo',
  PIXGATE_PAYMENT_MAX_CENTS: '500000',
  PIXGATE_HOUR_MAX_CENTS: '2000000',
  PIXGATE_DAY_MAX_CENTS: '10000000',
  PIXGATE_NIGHT_MAX_CENTS: 'none',
}

/** What a reader of the environment refuses, each fault beginning with its variable; no secret is shown. */
export function configFaults(read: (environment: Environment) => unknown, environment: Environment): readonly string[] {
  try {
    read(environment)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    for (const fault of error.faults) assert.ok(error.message.includes(fault))
    assert.ok(!error.message.includes(CANARY), 'no secret is shown')
    return error.faults
  }
}

/** The variables at fault, in the order they are told. */
export function faultyVariables(read: (environment: Environment) => unknown, environment: Environment): string[] {
  return configFaults(read, environment).map((fault) => fault.split(' ', 1).join())
}
