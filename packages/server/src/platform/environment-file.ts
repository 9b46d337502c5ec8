import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { own } from './own.ts'
import { fileErrorReason } from './secrets.ts'
import { ConfigError, type Environment } from './variables.ts'

/** Place of each setting, in words: «.env, line 2». */
export type SettingPlaces = ReadonlyMap<string, string>

export interface EnvironmentWithFile {
  readonly environment: Environment
  /** Names taken from the file; `undefined` without a file. */
  readonly fromFile: readonly string[] | undefined
  /** All names in the file, including those the environment overrides. */
  readonly places: SettingPlaces
}

/**
 * Merges the settings of a file such as `.env` into an environment. The environment wins, even with an empty value.
 * @throws ConfigError where the file cannot be read or a line of it is no setting: each by its number, none repeating a
 * name or a value, as either may be half a secret
 * @source rules#config.6
 */
export function withEnvironmentFile(path: string, environment: Environment): EnvironmentWithFile {
  const text = readText(path)
  if (text === undefined) return { environment, fromFile: undefined, places: new Map() }
  const { settings, lines, faults } = readSettings(text)
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `${path}, ${fault}`))
  return {
    environment: { ...settings, ...environment },
    fromFile: [...lines.keys()].filter((name) => environment[name] === undefined),
    places: new Map([...lines].map(([name, line]) => [name, `${path}, line ${line}`])),
  }
}

/** The number of settings taken from a file, in words. */
export function settingsCount({ length }: readonly string[]): string {
  return length === 1 ? '1 setting' : `${length} settings`
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ConfigError([`${path} cannot be read: ${fileErrorReason(error)}`])
  }
}

interface Settings {
  readonly settings: Readonly<Record<string, string>>
  readonly lines: ReadonlyMap<string, number>
  readonly faults: readonly string[]
}

/**
 * Reads the file line by line. Node's own parser skips unreadable lines, cuts values at `#`, takes the line after an
 * empty value as that value, and keeps non-ASCII blanks in names.
 * @source rules#config.6
 */
export function readSettings(text: string): Settings {
  const settings = new Map<string, string>()
  const lines = new Map<string, number>()
  const faults: string[] = []
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (/^[ \t]*(#|$)/.test(line)) continue
    const setting = readSetting(line)
    const fault = 'fault' in setting ? setting.fault : repetition(lines.get(setting.name))
    if (fault !== undefined) faults.push(`line ${index + 1}: ${fault}`)
    if ('fault' in setting) continue
    lines.set(setting.name, index + 1)
    settings.set(setting.name, setting.value)
  }
  return { settings: Object.fromEntries(settings), lines, faults }
}

const NO_SETTING = { fault: 'is not NAME=value' }

function readSetting(line: string): { readonly name: string; readonly value: string } | { readonly fault: string } {
  const [, name, text] = /^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=(.*)$/.exec(line) ?? []
  if (name === undefined || text === undefined) return NO_SETTING
  const fault = valueFault(text)
  if (fault !== undefined) return { fault }
  const read = parseEnv(line)
  const value = own(read, name)
  return value === undefined || Object.keys(read).length !== 1 ? NO_SETTING : { name, value }
}

const QUOTED = /^(["'`])(?:(?!\1).)*\1[ \t]*(?:#.*)?$/

function valueFault(value: string): string | undefined {
  const text = value.replace(/^[ \t]+/, '')
  if (/^["'`]/.test(text)) return QUOTED.test(text) ? undefined : 'has no closing quote at the end of its line'
  return /^#|^[^#]*[^# \t]#/.test(value) ? 'has a #: put the value in quotes' : undefined
}

function repetition(line: number | undefined): string | undefined {
  return line === undefined ? undefined : `sets what line ${line} sets already`
}
