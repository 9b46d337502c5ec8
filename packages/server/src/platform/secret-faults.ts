import { passwordWeaknessOf, weaknessOf } from './secret-strength.ts'
import type { Environment, Variables } from './variable-table.ts'

/**
 * What is wrong with the secrets of a production, each with the name of its variable and never with its value.
 * @source rules#config.2, rules#production.2
 */
export function secretFaults(table: Variables, environment: Environment): string[] {
  const secrets = Object.entries(table).flatMap(([name, { secret }]) => {
    const value = secret && environment[name]
    return value ? [{ name, value }] : []
  })
  return [...sharedSecrets(secrets), ...weakSecrets(secrets)]
}

interface NamedSecret {
  readonly name: string
  readonly value: string
}

/** Of two secrets with one value, whoever may know the one knows the other. */
function sharedSecrets(secrets: readonly NamedSecret[]): string[] {
  const owners = new Map<string, string>()
  return secrets.flatMap(({ name, value }) => {
    const owner = owners.get(value)
    if (owner !== undefined) return [`${name} has the value of ${owner}: every secret needs one of its own`]
    owners.set(value, name)
    return []
  })
}

/** The length that every secret needs is its variable's to judge. */
const LENGTH_MIN = 32

function weakSecrets(secrets: readonly NamedSecret[]): string[] {
  return secrets.flatMap(({ name, value }) => {
    const isAddress = /^[a-z]+:\/\//.test(value)
    const weakness = isAddress ? passwordWeaknessOf(value) : value.length < LENGTH_MIN ? undefined : weaknessOf(value)
    return weakness === undefined ? [] : [`${name} ${weakness}`]
  })
}
