import { type Environment, fileVariable } from '../../platform/variables.ts'
import type { AddedPart, AddedValue } from './additions.ts'
import { readBankTls } from './certificate.ts'
import { PRESET_NAMES } from './config.ts'
import { type BankEnvironment, type Preset, presets } from './presets.ts'

/** What is wrong with the variables of a bank of the standard together, each being right by itself. */

/** Of any bank of the standard. @source rules#api-pix.10, rules#api-pix.12, rules#api-pix.14 */
export function apiPixFaults(environment: Environment): readonly string[] {
  const name = PRESET_NAMES.find((known) => known === environment.PIXGATE_BANK_PRESET)
  const preset: Preset | undefined = name && presets[name]
  return [...addressFaults(environment, preset), ...contractFaults(environment, preset), ...efiFaults(environment)]
}

function addressFaults(environment: Environment, preset: Preset | undefined): readonly string[] {
  const { PIXGATE_BANK_API_URL: api, PIXGATE_BANK_TOKEN_URL: token, PIXGATE_BANK_ENVIRONMENT: place } = environment
  if (api && token) return []
  if (!preset) return ['PIXGATE_BANK_PRESET is required, or both PIXGATE_BANK_API_URL and PIXGATE_BANK_TOKEN_URL']
  if (place === undefined || place in preset.addresses) return []
  const known = Object.keys(preset.addresses).join(', ')
  return [
    `PIXGATE_BANK_ENVIRONMENT must be ${known} for ${preset.name}, or both PIXGATE_BANK_API_URL and PIXGATE_BANK_TOKEN_URL set: nothing else of it follows the standard`,
  ]
}

/** By which variable a part of our contract with the bank is told. */
const VARIABLES: Readonly<Partial<Record<AddedValue, string>>> = {
  'application key': 'PIXGATE_BANK_APPLICATION_KEY',
  account: 'PIXGATE_BANK_ACCOUNT',
}

/** What a bank wants to be told that others do not. */
function contractFaults(environment: Environment, preset: Preset | undefined): readonly string[] {
  const needsSecret = preset?.token.credentials !== 'id in body'
  const added: readonly AddedPart[] = preset?.added ?? []
  const needed = [
    ...(needsSecret ? ['PIXGATE_BANK_CLIENT_SECRET'] : []),
    ...added.flatMap(({ value, isOptional }) => (isOptional ? [] : (VARIABLES[value] ?? []))),
  ]
  const missing = needed.filter((name) => !environment[name] && !environment[fileVariable(name)])
  return missing.map((name) => `${name} is required${preset ? ` by ${preset.name}` : ''}`)
}

/** The same, of Efí. */
export function efiFaults(environment: Environment): readonly string[] {
  return [...readBankTls(environment).faults, ...environmentFaults(environment), ...originFaults(environment)]
}

/** Nobody moves real money because they forgot to say so. */
function environmentFaults({ PIXGATE_MODE, PIXGATE_BANK_ENVIRONMENT }: Environment): readonly string[] {
  const isReal = (PIXGATE_BANK_ENVIRONMENT as BankEnvironment | undefined) === 'production'
  return isReal && PIXGATE_MODE !== 'production'
    ? ['PIXGATE_BANK_ENVIRONMENT must be sandbox, unless PIXGATE_MODE is production']
    : []
}

const PROOFS = ['PIXGATE_BANK_CALLBACK_SECRET', 'PIXGATE_BANK_ADDRESSES'] as const

/** The standard has no signature: without any proof anybody could make us ask. */
function originFaults(environment: Environment): readonly string[] {
  const isProven =
    environment.PIXGATE_BANK_CALLBACKS_BEHIND_MTLS === 'true' ||
    PROOFS.some((name) => environment[name] || environment[`${name}_FILE`])
  if (environment.PIXGATE_MODE !== 'production' || isProven) return []
  return [`one of ${PROOFS.join(', ')} and PIXGATE_BANK_CALLBACKS_BEHIND_MTLS is required in production`]
}
