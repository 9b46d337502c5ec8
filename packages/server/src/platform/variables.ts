import { type Static, type TSchema, Type } from 'typebox'
import { Check } from 'typebox/schema'
import { areNarrow, isNetwork } from './networks.ts'
import { fileVariable, secretFaults, withSecretFiles } from './secrets.ts'
import { StartupError } from './startup-error.ts'

/** A row of a table of variables. Its shape's description says what is accepted. */
export interface Variable {
  readonly shape: TSchema
  readonly description: string
  /** As text. Where absent and unset, the value is `undefined`. */
  readonly default?: string
  /** In production instead of {@link default}. */
  readonly productionDefault?: string
  /** What production accepts, where that is less. */
  readonly productionShape?: TSchema
  /** Where it must be set, whatever its default. What is required always may be supplied by whoever composes the server. */
  readonly required?: 'always' | 'in production'
  /** The sandbox makes one where it is not set. */
  readonly isMadeBySandbox?: true
  /** Where the choice is explained, told to whoever did not make it: a page of this repository. */
  readonly guide?: string
  /** Never shown, in production no other secret's value, and may stand in a file (rules#config.8). */
  readonly secret?: true
  /** The variable that must be set beside it in production. */
  readonly needs?: string
  /** Where the bank is: nobody reaches one on another machine in a mode that they did not choose. */
  readonly isBankAddress?: true
}

/** Rows by the names of their variables, in the order of the documentation. */
export type Variables = Readonly<Record<string, Variable>>

/** Variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The known name that a wrong one was probably meant to be: capitals, `_` and `-` do not count, and at most a third of the
 * characters are wrong, missing, too many or swapped.
 * @returns `undefined` where none is near
 * @source rules#http.7, rules#config.7
 */
export function nearestName(wrong: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map((name) => ({ name, distance: distanceBetween(plain(wrong), plain(name)) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(plain(name).length / 3)))
    .toSorted((one, other) => one.distance - other.distance)
  return nearest?.name
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}

/** How many characters have to be changed, added, removed or swapped with their neighbour (optimal string alignment). */
function distanceBetween(one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, column) => column)]
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1]
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      line[column] = Math.min(
        at(rows, row - 1, column) + 1,
        (line[column - 1] ?? 0) + 1,
        at(rows, row - 1, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(rows, row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    rows.push(line)
  }
  return at(rows, one.length, other.length)
}

function at(rows: readonly (readonly number[])[], row: number, column: number): number {
  return rows[row]?.[column] ?? Number.POSITIVE_INFINITY
}

/**
 * Variables of the environment as data: a row says what is accepted, and is read, judged and documented from that alone.
 */

export { fileVariable }

/** What the rows were read as, by the names of their variables. */
export type Values<Table extends Variables> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> }

type ValueOf<Row extends Variable> = Row extends { default: string } | { required: 'always' }
  ? Static<Row['shape']>
  : Static<Row['shape']> | undefined

/** What is wrong with the configuration: all of it at once. */
export class ConfigError extends StartupError {
  override readonly name = 'ConfigError'
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(`the configuration is not usable:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`)
    this.faults = faults
  }
}

/** Declares a table and keeps its literal types. */
export function variables<const Table extends Variables>(table: Table): Table {
  return table
}

/** A whole number within bounds, of a unit such as `milliseconds`. */
export function integer(minimum: number, maximum: number, unit?: string) {
  const what = unit === undefined ? 'a whole number' : `a whole number of ${unit}`
  return Type.Integer({ minimum, maximum, description: `${what} from ${minimum} to ${maximum}` })
}

/** A whole number within bounds, of a unit; or `none`, by name. */
export function integerOrNone(minimum: number, maximum: number, unit: string) {
  const description = `a whole number of ${unit} from ${minimum} to ${maximum}, or none`
  return Type.Union([Type.Integer({ minimum, maximum }), Type.Literal('none')], { description })
}

/** One of several words. */
export function oneOf<const Word extends string>(...words: Word[]) {
  return Type.Enum<Word[]>(words, { description: `one of ${words.join(', ')}` })
}

/** `true` or `false`. */
export function flag() {
  return Type.Boolean({ description: 'true or false' })
}

/** Text of at most so many characters. */
export function text(maxLength: number) {
  return Type.String({ maxLength, description: `at most ${maxLength} characters long` })
}

/** Text of at least so many characters; any where it is 1. */
export function secret(minLength = 1) {
  return Type.String({ minLength, ...(minLength > 1 && { description: `at least ${minLength} characters long` }) })
}

/** A secret of at least so many characters that a client sends as a bearer token. */
export function token(minLength = 1) {
  return sendable(minLength, '^[!-~]*$', 'without blanks')
}

/** A secret of at least so many characters that is sent in a header: what else is in it, no header can carry. */
export function headerSecret(minLength = 1) {
  return sendable(minLength, '^(?! )[ -~]*(?<! )$', 'with no blank at its ends')
}

function sendable(minLength: number, pattern: string, blanks: string) {
  const atLeast = minLength > 1 ? `at least ${minLength} characters of ` : ''
  return Type.String({ minLength, pattern, description: `${atLeast}printable ASCII, ${blanks}` })
}

/** An address of one of these protocols, such as `https:`. */
export function address(...protocols: readonly string[]) {
  const description = `an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`
  return Type.Refine(Type.String({ description }), (value) => protocols.includes(URL.parse(value)?.protocol ?? ''))
}

/** Addresses of the Internet Protocol, each alone or with the length of its prefix, separated by commas. */
export function networks() {
  return Type.Array(Type.Refine(Type.String(), isNetwork), {
    description: 'addresses or CIDRs, separated by commas',
  })
}

/** The word for no network at all, where one has to say so. */
export const NONE = 'none'

/** Networks, or the word `none` alone. */
export function networksOrNone() {
  return Type.Refine(
    Type.Array(Type.String(), { description: 'addresses or CIDRs, separated by commas, or none' }),
    (networks) => isNone(networks) || networks.every(isNetwork),
  )
}

/** The same, where what is not set has to be said, and most of the Internet is left out. @source rules#production.3 */
export function narrowNetworks() {
  return Type.Refine(
    Type.Array(Type.String(), {
      minItems: 1,
      description: 'addresses or CIDRs that together are at most one /8 of public IPv4 and one /19 of public IPv6',
    }),
    (networks) => isNone(networks) || areNarrow(networks),
  )
}

function isNone(networks: readonly string[]): boolean {
  return networks.length === 1 && networks[0] === NONE
}

/** How variables are read. */
export interface ReadOptions<Supplied = never> {
  readonly isProduction: boolean
  /**
   * Variables that are required always and need not be set here, except in production: whoever reads makes what is
   * missing.
   */
  readonly supplied?: readonly Supplied[]
  /** What whoever reads has found wrong besides, each beginning with its variable. */
  readonly otherFaults?: readonly string[]
}

/**
 * Reads variables; an empty one is unset.
 * @throws ConfigError every fault at once, each naming its variable and what is accepted, none repeating a value
 * @source rules#config.1
 */
export function readVariables<const Table extends Variables>(
  table: Table,
  given: Environment,
  options: ReadOptions,
): Values<Table>
export function readVariables<const Table extends Variables, Supplied extends keyof Table & string>(
  table: Table,
  given: Environment,
  options: ReadOptions<Supplied>,
): Omit<Values<Table>, Supplied> & Partial<Pick<Values<Table>, Supplied>>
export function readVariables(
  table: Variables,
  given: Environment,
  { isProduction, supplied = [], otherFaults = [] }: ReadOptions<string>,
): Values<Variables> {
  const files = withSecretFiles(table, given)
  const values: Record<string, unknown> = {}
  const faults: string[] = []
  for (const [name, row] of Object.entries(table)) {
    const text = files.environment[name] || undefined
    const fallback = (isProduction ? row.productionDefault : undefined) ?? row.default
    values[name] = valueIn(row.shape, text ?? fallback)
    const fault =
      text === undefined && row.required !== undefined
        ? absenceOf(row, isProduction, supplied.includes(name))
        : faultOf(row, values[name], isProduction)
    const named = files.faults.get(name) ?? (fault && `${name} ${fault}`)
    if (named !== undefined) faults.push(named)
  }
  if (isProduction) faults.push(...secretFaults(table, files.environment), ...companionFaults(table, values))
  faults.push(...otherFaults)
  if (faults.length > 0) throw new ConfigError(faults)
  return values
}

/** A text that is none of its shape stays what it is, and is refused as that. */
function valueIn(shape: TSchema, text: string | undefined): unknown {
  if (text === undefined) return undefined
  if (Type.IsInteger(shape) || Type.IsUnion(shape)) return /^\d{1,15}$/.test(text) ? Number(text) : text
  if (Type.IsBoolean(shape)) return text === 'true' || (text === 'false' ? false : text)
  if (!Type.IsArray(shape)) return text
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** @source rules#config.2, rules#config.4 */
function absenceOf(
  { shape, required, guide, isMadeBySandbox }: Variable,
  isProduction: boolean,
  isSupplied: boolean,
): string | undefined {
  if (isProduction) {
    const accepted = acceptedBy(shape)
    return `is required in production${accepted ? `: ${accepted}` : ''}${guide ? ` (${guide})` : ''}`
  }
  if (required === 'in production' || isSupplied) return undefined
  return isMadeBySandbox ? 'is required; the sandbox, which npm start runs, brings its own' : 'is required'
}

function faultOf({ shape, productionShape }: Variable, value: unknown, isProduction: boolean): string | undefined {
  if (value === undefined) return undefined
  if (!Check(shape, value)) return `must be ${acceptedBy(shape)}`
  if (!isProduction || productionShape === undefined || Check(productionShape, value)) return undefined
  return `must be ${acceptedBy(productionShape)}`
}

/** A variable that is nothing without another one is refused without it. @source rules#production.7 */
function companionFaults(table: Variables, values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(table).flatMap(([name, { needs }]) => {
    if (needs === undefined || values[name] === undefined) return []
    return [values[needs]].flat().some((value) => value !== undefined) ? [] : [`${name} needs ${needs} in production`]
  })
}

/** What a shape accepts, in words; `undefined` where that is any text. */
export function acceptedBy(shape: TSchema): string | undefined {
  const { description }: { readonly description?: string } = shape
  return description
}
