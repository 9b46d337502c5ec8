import { type FieldError, Refusal } from '@pixgate/spec'
import { Ajv } from 'ajv'
import { type TSchema, Type } from 'typebox'
import { fieldErrors } from './field-errors.ts'
import { formats } from './formats.ts'

/** Judges a value; no faults means that it is valid. */
export type Validator = (value: unknown) => readonly FieldError[]

/**
 * Nothing is coerced, removed or filled in: what a client did not write is not there. All faults are looked for, which
 * is safe because {@link jsonFault} bounds the size of what gets here.
 * @source rules#http.7
 */
const ajv = new Ajv({
  strict: true,
  allErrors: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  formats,
})

/** What an endpoint takes that declares nothing. @source rules#http.7 */
export const NOTHING: TSchema = Type.Object({}, { additionalProperties: false })

/** Compiles a schema once. @throws Error where the schema itself is at fault */
export function compileValidator(schema: TSchema): Validator {
  const validate = ajv.compile(schema)
  return (value) => (validate(value) ? [] : fieldErrors(validate.errors ?? []))
}

/** @throws Refusal `validation_error` where there are faults */
export function refuseFaults(fields: readonly FieldError[]): void {
  if (fields.length > 0) throw new Refusal('validation_error', { fields })
}
