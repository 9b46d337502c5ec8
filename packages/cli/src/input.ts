import { parseArgs } from 'node:util'
import { type Command, GLOBAL_OPTIONS, type Option } from './command.ts'
import { usageError } from './failure.ts'

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>

/** Arguments and options of a command line. */
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

  /** The value of a required option. @throws Failure used wrongly, if it is absent or empty */
  needed(option: string): string {
    return filled(this.text(option), `--${option}`)
  }

  texts(option: string): readonly string[] {
    const value = this.#values[option]
    return Array.isArray(value) ? value.map(String) : []
  }

  flag(option: string): boolean {
    return this.#values[option] === true
  }

  /** An argument by its place, from 0. @throws Failure used wrongly, if it is absent or empty */
  word(place: number): string {
    return filled(this.#words[place], `argument ${place + 1}`)
  }

  /** As {@link word}, for an argument that may be absent. */
  optionalWord(place: number): string | undefined {
    return this.#words[place] || undefined
  }

  get words(): readonly string[] {
    return this.#words
  }

  /** A whole number above 0. @throws Failure used wrongly */
  number(option: string, fallback: number): number {
    const text = this.text(option)
    if (text === undefined) return fallback
    if (!/^[1-9]\d{0,8}$/.test(text)) throw usageError(`--${option} must be a whole number above 0`)
    return Number(text)
  }

  /** Of a list. @throws Failure used wrongly */
  get limit(): number {
    return this.number('limit', 20)
  }

  /** An amount in reais with both decimals, in centavos. @throws Failure used wrongly @source rules#cli.3 */
  amountCents(option: string): number | undefined {
    const text = this.text(option)
    if (text === undefined) return undefined
    const [, reais = '', centavos = ''] = /^(\d{1,10})[.,](\d{2})$/.exec(text) ?? []
    if (reais === '') throw usageError(`--${option} must be an amount in reais with both decimals`, 'Write 150.00.')
    return Number(reais + centavos)
  }
}

function filled(text: string | undefined, name: string): string {
  if (!text) throw usageError(`${name} is missing`)
  return text
}

/** @throws Failure used wrongly; no value is repeated, as it may be a secret */
export function readInput(command: Command, args: readonly string[]): Input {
  const options = { ...command.options, ...GLOBAL_OPTIONS }
  const { values, positionals } = parsed(options, args)
  if (values.help === true) return new Input(values, positionals)
  const declared = command.arguments ?? []
  const missing = declared.find(({ isOptional }, place) => !isOptional && !positionals[place])
  if (missing) throw usageError(`${missing.name} is missing`, usage(command))
  if (positionals.length > declared.length && !declared.some(({ isRest }) => isRest))
    throw usageError('too many arguments', usage(command))
  for (const [name, { isRequired }] of Object.entries(options))
    if (isRequired && !values[name]) throw usageError(`--${name} is missing`, usage(command))
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
      throw usageError(`unknown option ${option}`, /key|token|secret|password/.test(option) ? SECRETS : undefined)
    if (code !== 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') throw error
    if (options[option.slice(2)]?.kind === 'flag') throw usageError(`${option} takes no value`)
    throw usageError(`${option} needs a value`, 'A value that begins with - is given as --option=-value.')
  }
}

const SECRETS =
  'Command-line options are visible to other users of this machine (`ps`). Give secrets by PIXGATE_API_KEY or PIXGATE_ADMIN_TOKEN, a profile (pixgate login) or --secret-file.'
