import { type FieldError, patternFaults } from '@pixgate/spec'
import type { ErrorObject } from 'ajv'
import { nearestName } from '../nearest-name.ts'

/** What the properties of a schema are called. */
export type Noun = 'field' | 'parameter'

/** How many faulty fields an answer names, at most. */
const MAX_FIELDS = 20

/** How much of a client's own key an answer repeats. */
const MAX_KEY_LENGTH = 64

/**
 * What Ajv found, as a client reads it: one fault per field, the most basic one, with `field` such as
 * `transaction.value` or `events[0]`.
 * @source rules#http.1
 */
export function fieldErrors(found: readonly ErrorObject[], noun: Noun): readonly FieldError[] {
  const byField = new Map<string, FieldError>()
  for (const error of found) {
    if (isUnionNoise(error)) continue
    const field = fieldOf(error)
    if (byField.size === MAX_FIELDS) break
    if (!byField.has(field)) byField.set(field, { field, ...describe(error, found, field, noun) })
  }
  return [...byField.values()]
}

/** A value that may be null fails twice more: as not null, and as the union of both. */
function isUnionNoise(error: ErrorObject): boolean {
  return error.keyword === 'anyOf' || (error.keyword === 'type' && error.params.type === 'null')
}

function fieldOf({ instancePath, keyword, params }: ErrorObject): string {
  const path = instancePath
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((field, segment) => (/^\d+$/.test(segment) ? `${field}[${segment}]` : join(field, segment)), '')
  if (keyword === 'required') return join(path, params.missingProperty)
  if (keyword === 'additionalProperties') return join(path, params.additionalProperty.slice(0, MAX_KEY_LENGTH))
  return path
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function describe(
  error: ErrorObject,
  found: readonly ErrorObject[],
  field: string,
  noun: Noun,
): Omit<FieldError, 'field'> {
  const { params } = error
  const name = field === '' ? 'the body' : field
  switch (error.keyword) {
    case 'required':
      return { code: 'required', message: `${name} is required` }
    case 'additionalProperties':
      return { code: 'unknown_field', message: `${name} is not a known ${noun}; ${knownNames(error, field)}` }
    case 'type':
      return { code: 'type', message: `${name} must be ${TYPES[params.type] ?? params.type}` }
    case 'minimum':
      return { code: 'out_of_range', message: `${name} must be at least ${params.limit}` }
    case 'maximum':
      return { code: 'out_of_range', message: `${name} must be at most ${params.limit}` }
    case 'minLength':
      return { code: 'too_short', message: `${name} must have at least ${counted(params.limit, 'character')}` }
    case 'maxLength':
      return { code: 'too_long', message: `${name} must have at most ${counted(params.limit, 'character')}` }
    case 'minItems':
      return { code: 'too_short', message: `${name} must have at least ${counted(params.limit, 'item')}` }
    case 'maxItems':
      return { code: 'too_long', message: `${name} must have at most ${counted(params.limit, 'item')}` }
    case 'pattern':
      return {
        code: 'pattern',
        message: `${name} ${patternFaults[params.pattern] ?? 'does not have the required form'}`,
      }
    case 'format':
      return { code: 'format', message: `${name} must be ${FORMATS[params.format] ?? params.format}` }
    case 'enum':
    case 'const':
      return { code: 'enum', message: `${name} must be one of ${allowedValues(error, found).join(', ')}` }
    case 'uniqueItems':
      return { code: 'duplicate', message: `${name} must not have the same item twice` }
    default:
      return { code: 'invalid', message: `${name} is not valid` }
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** The name that was probably meant, or else all that there are. @source rules#http.7 */
function knownNames({ params, parentSchema }: ErrorObject, field: string): string {
  const wrong: string = params.additionalProperty
  const known = Object.keys(parentSchema?.properties ?? {})
  if (known.length === 0) return 'this call takes none'
  const nearest = nearestName(wrong.slice(0, MAX_KEY_LENGTH), known)
  const place = field.slice(0, field.length - Math.min(wrong.length, MAX_KEY_LENGTH))
  return nearest === undefined ? `known are ${known.join(', ')}` : `did you mean ${place}${nearest}?`
}

/** The values of an enum, or those of all the constants that a union offers in this place. */
function allowedValues({ instancePath }: ErrorObject, found: readonly ErrorObject[]): readonly unknown[] {
  return found
    .filter((error) => error.instancePath === instancePath)
    .flatMap(({ params }) => params.allowedValues ?? params.allowedValue ?? [])
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  date: 'a day of the calendar, YYYY-MM-DD',
  'date-time': 'an instant in ISO 8601 with its offset',
}
