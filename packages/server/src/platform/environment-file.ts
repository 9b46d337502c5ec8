import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { fileErrorReason } from './secret-files.ts'
import { ConfigError, type Environment } from './variables.ts'

/** An environment, with what a file adds. */
export interface EnvironmentWithFile {
  readonly environment: Environment
  /** What was taken from the file, by name; `undefined` where there is no file. */
  readonly fromFile: readonly string[] | undefined
}

/**
 * Adds the settings of a file such as `.env` to an environment. What the environment sets counts, also where it sets it
 * empty.
 * @throws ConfigError where the file cannot be read or a line of it is no setting: each by its number, none repeating a value
 * @source rules#config.6
 */
export function withEnvironmentFile(path: string, environment: Environment): EnvironmentWithFile {
  const text = readText(path)
  if (text === undefined) return { environment, fromFile: undefined }
  const faults = lineFaults(text)
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `${path}, ${fault}`))
  const settings = parseEnv(text)
  const fromFile = Object.keys(settings).filter((name) => environment[name] === undefined)
  return { environment: { ...settings, ...environment }, fromFile }
}

/** How many settings were taken from a file, in words. */
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

/** Node reads such a file, but passes over what it cannot read, and cuts a value at a `#`. */
function lineFaults(text: string): string[] {
  const lines = new Map<string, number>()
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (/^\s*(#|$)/.test(line)) return []
    const at = index + 1
    const [, name, value] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined) return [`line ${at}: is not NAME=value`]
    const fault = valueFault(value) ?? repetition(lines.get(name))
    lines.set(name, at)
    return fault === undefined ? [] : [`line ${at}: ${name} ${fault}`]
  })
}

const QUOTED = /^(["'`])(?:(?!\1).)*\1\s*(?:#.*)?$/

function valueFault(value: string): string | undefined {
  const text = value.trimStart()
  if (/^["'`]/.test(text)) return QUOTED.test(text) ? undefined : 'has no closing quote at the end of its line'
  return /^#|^[^#]*[^#\s]#/.test(value) ? 'has a #: put the value in quotes' : undefined
}

function repetition(line: number | undefined): string | undefined {
  return line === undefined ? undefined : `was set in line ${line} already`
}
