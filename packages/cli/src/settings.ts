import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Surroundings } from './command.ts'
import { Failure, usageError } from './failure.ts'

/** Address of Pixgate, and its secrets. */
export interface Settings {
  readonly url?: string | undefined
  readonly operatorUrl?: string | undefined
  readonly apiKey?: string | undefined
  readonly adminToken?: string | undefined
}

/** `pixgate dev` writes this one; others are named. */
export const DEFAULT_PROFILE = 'dev'

const VARIABLES = {
  url: 'PIXGATE_URL',
  operatorUrl: 'PIXGATE_OPERATOR_URL',
  apiKey: 'PIXGATE_API_KEY',
  adminToken: 'PIXGATE_ADMIN_TOKEN',
} as const satisfies Record<keyof Settings, string>

/**
 * Settings of a named profile, else of the environment, else of the profile `dev`. Never of two of them: the key of one
 * installation is not sent to another.
 * @throws Failure used wrongly
 * @source rules#cli.5
 */
export function readSettings(surroundings: Surroundings, profile: string | undefined): Settings {
  const { env } = surroundings
  const name = profile ?? env.PIXGATE_PROFILE
  if (name !== undefined) {
    const found = readProfiles(surroundings)[name]
    if (!found) throw usageError('there is no such profile', `Make it: pixgate login --profile NAME --url URL`)
    return found
  }
  const given = Object.entries(VARIABLES).flatMap(([key, variable]) => (env[variable] ? [[key, env[variable]]] : []))
  return given.length > 0 ? Object.fromEntries(given) : (readProfiles(surroundings)[DEFAULT_PROFILE] ?? {})
}

/** Folder of profiles and of the state of `listen`. */
export function configurationFolder({ env }: Surroundings): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'pixgate')
}

type Profiles = Readonly<Record<string, Settings>>

function profilesIn(surroundings: Surroundings): string {
  return join(configurationFolder(surroundings), 'profiles.json')
}

/** @throws Failure if others can read the file */
export function readProfiles(surroundings: Surroundings): Profiles {
  const path = profilesIn(surroundings)
  const text = readPrivate(path)
  if (text === undefined) return {}
  try {
    return JSON.parse(text)
  } catch {
    throw usageError(`${path} is not JSON`, 'Correct it, or remove it and log in again.')
  }
}

/** @returns the path of the file */
export function saveProfile(surroundings: Surroundings, name: string, settings: Settings): string {
  const path = profilesIn(surroundings)
  const profiles = readProfiles(surroundings)
  writePrivate(path, { ...profiles, [name]: { ...profiles[name], ...settings } })
  return path
}

/** Replaces a file that only its owner can read, all of it or nothing. */
export function writePrivate(path: string, value: object): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true })
  renameSync(unfinished, path)
}

/** @returns `undefined` where there is no file @throws Failure if others can read it */
export function readPrivate(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) return undefined
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    throw usageError(`${path} has secrets, and others can read it`, `Run: chmod 600 ${path}`)
  return readFileSync(path, 'utf8')
}

/** A secret alone in a file. @throws Failure used wrongly */
export function readSecretFile(path: string): string {
  const text = statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, 'utf8').trim() : undefined
  if (text === undefined) throw usageError('--secret-file names no file')
  if (!/^[!-~]+$/.test(text)) throw usageError('--secret-file must have the secret alone, in one line')
  return text
}

/** Keys and tokens of a sandbox say so; anything else is taken for real money. @source rules#cli.6 */
export function isOfSandbox(secret: string): boolean {
  return /^pix_(?:op_)?test_/.test(secret)
}

export function refuseLive(): Failure {
  return new Failure('this moves real money', {
    exit: 'notAllowed',
    code: 'live_not_allowed',
    fix: 'Look at it again, then repeat it with --live.',
  })
}
