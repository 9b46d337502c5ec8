import { type Static, type TSchema, Type } from 'typebox'
import { Check } from 'typebox/schema'
import { haveFewPublicAddresses, isNetwork } from './networks.ts'
import { fileVariable, secretFaults, withSecretFiles } from './secrets.ts'
import { StartupError } from './startup-error.ts'

/** A row of a table of variables. The shape's description says what is accepted. */
export interface Variable {
  readonly shape: TSchema
  readonly description: string
  /** Default as text. Without one, an unset value is `undefined`. */
  readonly default?: string
  /** Default in production, instead of {@link default}. */
  readonly productionDefault?: string
  /** The fault of a value in words, where a shape would not say which part is wrong. Shows no secret. */
  readonly faultOf?: (value: string) => string | undefined
  readonly productionShape?: TSchema
  /**
   * Where the variable must be set, whatever its default. One that is always required may be supplied by the caller
   * that composes the server.
   */
  readonly required?: 'always' | 'in production'
  /** The sandbox generates a missing one. */
  readonly isMadeBySandbox?: true
  readonly guide?: string
  /** Never shown; unique among the secrets in production; may be read from a file (rules#config.8). */
  readonly secret?: true
  readonly needs?: string
  /** Address of the bank. A bank on another machine requires an explicit mode. */
  readonly isBankAddress?: true
}

/** Rows by variable name, in the order of the documentation. */
export type Variables = Readonly<Record<string, Variable>>

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The known name most similar to a wrong one: ignores case, `_` and `-`, and allows a third of the characters to be
 * wrong, missing, extra or swapped.
 * @returns `undefined` if none is similar
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

/** Edit distance with changed, added, removed and swapped characters (optimal string alignment). */
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

/** Variables of the environment as data: a row defines how a variable is read, checked and documented. */

export { fileVariable }

export type Values<Table extends Variables> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> }

type ValueOf<Row extends Variable> = Row extends { default: string } | { required: 'always' }
  ? Static<Row['shape']>
  : Static<Row['shape']> | undefined

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

export function integer(minimum: number, maximum: number, unit?: string) {
  const what = unit === undefined ? 'a whole number' : `a whole number of ${unit}`
  return Type.Integer({ minimum, maximum, description: `${what} from ${minimum} to ${maximum}` })
}

export function integerOrNone(minimum: number, maximum: number, unit: string) {
  const description = `a whole number of ${unit} from ${minimum} to ${maximum}, or none`
  return Type.Union([Type.Integer({ minimum, maximum }), Type.Literal('none')], { description })
}

export function oneOf<const Word extends string>(...words: Word[]) {
  return Type.Enum<Word[]>(words, { description: `one of ${words.join(', ')}` })
}

export function flag() {
  return Type.Boolean({ description: 'true or false' })
}

export function text(maxLength: number) {
  return Type.String({ maxLength, description: `at most ${maxLength} characters long` })
}

/** Text of a minimum length; any text for 1. */
export function secret(minLength = 1) {
  return Type.String({ minLength, ...(minLength > 1 && { description: `at least ${minLength} characters long` }) })
}

/** A secret sent as a bearer token. */
export function token(minLength = 1) {
  return sendable(minLength, '^[!-~]*$', 'without blanks')
}

/** A secret sent in a header, limited to the characters a header can carry. */
export function headerSecret(minLength = 1) {
  return sendable(minLength, '^(?! )[ -~]*(?<! )$', 'with no blank at its ends')
}

function sendable(minLength: number, pattern: string, blanks: string) {
  const atLeast = minLength > 1 ? `at least ${minLength} characters of ` : ''
  return Type.String({ minLength, pattern, description: `${atLeast}printable ASCII, ${blanks}` })
}

export function address(...protocols: readonly string[]) {
  const description = `an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`
  return Type.Refine(Type.String({ description }), (value) => protocols.includes(URL.parse(value)?.protocol ?? ''))
}

export function hostNames() {
  return Type.Array(Type.String({ pattern: '^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$' }), {
    description: 'host names in lower case without a port, separated by commas',
  })
}

export function networks() {
  return Type.Array(Type.Refine(Type.String(), isNetwork), {
    description: 'addresses or CIDRs, separated by commas',
  })
}

/** Explicit word for no network. */
export const NONE = 'none'

export function networksOrNone() {
  return Type.Refine(
    Type.Array(Type.String(), { description: 'addresses or CIDRs, separated by commas, or none' }),
    (networks) => isNone(networks) || networks.every(isNetwork),
  )
}

/** Like {@link networksOrNone}, but not empty and without most of the Internet. @source rules#production.3 */
export function narrowNetworks() {
  return Type.Refine(
    Type.Array(Type.String(), {
      minItems: 1,
      description: 'addresses or CIDRs that together are at most one /8 of public IPv4 and one /19 of public IPv6',
    }),
    (networks) => isNone(networks) || haveFewPublicAddresses(networks),
  )
}

function isNone(networks: readonly string[]): boolean {
  return networks.length === 1 && networks[0] === NONE
}

export interface ReadOptions<Supplied = never> {
  readonly isProduction: boolean
  /** Always-required variables that may be unset except in production: the caller supplies missing ones. */
  readonly supplied?: readonly Supplied[]
  /** Further faults found by the caller, each starting with its variable. */
  readonly otherFaults?: readonly string[]
}

/**
 * Reads variables; an empty one is unset.
 * @throws ConfigError with all faults at once: each names its variable and what is accepted, and none repeats a value
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

/** Text that does not fit the shape is passed on unchanged and refused by the shape. */
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
  return isMadeBySandbox
    ? 'is required; the sandbox, which npm start runs in a checkout, brings its own'
    : 'is required'
}

function faultOf(row: Variable, value: unknown, isProduction: boolean): string | undefined {
  const { shape, productionShape } = row
  if (value === undefined) return undefined
  const fault = typeof value === 'string' ? row.faultOf?.(value) : undefined
  if (fault !== undefined) return fault
  if (!Check(shape, value)) return `must be ${acceptedBy(shape)}`
  if (!isProduction || productionShape === undefined || Check(productionShape, value)) return undefined
  return `must be ${acceptedBy(productionShape)}`
}

/** Refuses a variable whose companion is missing. @source rules#production.7 */
function companionFaults(table: Variables, values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(table).flatMap(([name, { needs }]) => {
    if (needs === undefined || values[name] === undefined) return []
    return [values[needs]].flat().some((value) => value !== undefined) ? [] : [`${name} needs ${needs} in production`]
  })
}

/** The accepted values in words; `undefined` if any text is. */
export function acceptedBy(shape: TSchema): string | undefined {
  const { description }: { readonly description?: string } = shape
  return description
}
