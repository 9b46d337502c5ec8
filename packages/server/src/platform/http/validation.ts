import { type FieldError, Refusal } from '@pixgate/spec'
import { Ajv } from 'ajv'
import { type TSchema, Type } from 'typebox'
import { fieldErrors, type Noun } from './field-errors.ts'
import { formats } from './formats.ts'

/** Judges a value; no faults means that it is valid. */
export type Validator = (value: unknown) => readonly FieldError[]

/**
 * Nothing is coerced, removed or filled in: what a client did not write is not there. All faults are looked for, which
 * is safe because {@link jsonFault} bounds the size of what gets here.
 * A text that is too long is matched all the same.
 * @source rules#http.7, rules#http.18
 */
const ajv = new Ajv({
  strict: true,
  allErrors: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  // So that an unknown name can be told the known ones.
  verbose: true,
  formats,
})

/** What an endpoint takes that declares nothing. @source rules#http.7 */
export const NOTHING: TSchema = Type.Object({}, { additionalProperties: false })

/**
 * Compiles a schema once.
 * @param noun what its properties are called
 * @throws Error where the schema itself is at fault
 */
export function compileValidator(schema: TSchema, noun: Noun = 'field'): Validator {
  const validate = ajv.compile(schema)
  return (value) => (validate(value) ? [] : fieldErrors(validate.errors ?? [], noun))
}

/** @throws Refusal `validation_error` where there are faults; it tells the first one, and lists all */
export function refuseFaults(fields: readonly FieldError[]): void {
  const [first] = fields
  if (first) throw new Refusal('validation_error', { message: first.message, fields })
}

/** The refusal of one field. */
export function invalidField(field: string, code: string, message: string): Refusal {
  return new Refusal('validation_error', { message, fields: [{ field, code, message }] })
}
