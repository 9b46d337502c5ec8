import { parseArgs } from 'node:util'
import { type Command, GLOBAL_OPTIONS, type Option } from './command.ts'
import { usedWrongly } from './failure.ts'

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>

/** What a command was given. */
export class Input {
  readonly #values: Values
  readonly #words: readonly string[]

  constructor(values: Values, words: readonly string[]) {
    this.#values = values
    this.#words = words
  }

  text(option: string): string | undefined {
    const value = this.#values[option]
    return typeof value === 'string' ? value : undefined
  }

  /** Of an option that the table requires. */
  needed(option: string): string {
    return this.text(option) ?? ''
  }

  texts(option: string): readonly string[] {
    const value = this.#values[option]
    return Array.isArray(value) ? value.map(String) : []
  }

  flag(option: string): boolean {
    return this.#values[option] === true
  }

  /** By its place, from 0. */
  word(place: number): string {
    return this.#words[place] ?? ''
  }

  get words(): readonly string[] {
    return this.#words
  }

  /** @throws Failure used wrongly */
  number(option: string, byDefault: number): number {
    const text = this.text(option)
    if (text === undefined) return byDefault
    if (!/^[1-9]\d{0,8}$/.test(text)) throw usedWrongly(`--${option} must be a whole number above 0`)
    return Number(text)
  }

  /** An amount in reais with both decimals, in centavos. @throws Failure used wrongly @source rules#cli.3 */
  cents(option: string): number | undefined {
    const text = this.text(option)
    if (text === undefined) return undefined
    const [, reais = '', centavos = ''] = /^(\d{1,10})[.,](\d{2})$/.exec(text) ?? []
    if (reais === '') throw usedWrongly(`--${option} must be an amount in reais with both decimals`, 'Write 150.00.')
    return Number(reais + centavos)
  }
}

/** @throws Failure used wrongly; no value is repeated, as it may be a secret */
export function readInput(command: Command, args: readonly string[]): Input {
  const options = { ...command.options, ...GLOBAL_OPTIONS }
  const { values, positionals } = parsed(options, args)
  const isAsked = values.help === true
  const given = command.arguments ?? []
  const takesAll = given.some(({ isRest }) => isRest)
  if (!isAsked) {
    const lacking = given.find(({ isOptional }, place) => !isOptional && positionals[place] === undefined)
    if (lacking) throw usedWrongly(`${lacking.name} is missing`, usage(command))
    if (positionals.length > given.length && !takesAll)
      throw usedWrongly('there is an argument too many', usage(command))
    for (const [name, { isRequired }] of Object.entries(options))
      if (isRequired && values[name] === undefined) throw usedWrongly(`--${name} is missing`, usage(command))
  }
  return new Input(values, positionals)
}

function usage({ name }: Command): string {
  return `See: pixgate ${name} --help`
}

function parsed(
  options: Readonly<Record<string, Option>>,
  args: readonly string[],
): { readonly values: Values; readonly positionals: readonly string[] } {
  const known = Object.entries(options).map(([name, { kind }]) => [
    name,
    { type: kind === 'flag' ? 'boolean' : 'string', multiple: kind === 'texts' } as const,
  ])
  try {
    return parseArgs({ args: [...args], options: Object.fromEntries(known), allowPositionals: true, strict: true })
  } catch (error) {
    const { code, message } = error as Error & { readonly code?: string }
    const [, option = ''] = /'(?:-\w, )?(--?[\w-]+)/.exec(message) ?? []
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
      throw usedWrongly(`there is no option ${option}`, /key|token|secret|password/.test(option) ? SECRETS : undefined)
    if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE')
      throw usedWrongly(`${option} is given wrongly`, 'A value that begins with - is given as --option=-value.')
    throw error
  }
}

const SECRETS =
  'Others on this machine can read the options of a program. Give secrets by PIXGATE_API_KEY or PIXGATE_ADMIN_TOKEN, a profile (pixgate login) or --secret-file.'
