import { Ajv, type ValidateFunction } from 'ajv'
import { formats } from '../platform/http/formats.ts'
import { isInstant, isReais } from './values.ts'

const ajv = new Ajv({
  formats: { ...formats, 'bank-instant': isInstant, 'bank-reais': { type: 'number', validate: isReais } },
})

/** Tells whether JSON is a body of a shape. */
export interface BodyTest<Body> {
  (json: unknown): json is Body
  /** The member that is missing or wrong, as a JSON pointer (RFC 6901), where it is none. */
  fault(json: unknown): string
}

/**
 * Makes the test whether JSON is a body of a shape. The shape is compiled when it is first asked for: of all the banks that are known
 * here a process speaks to one, and a command often to none.
 */
export function bodyTest<Body>(shape: object): BodyTest<Body> {
  let compiled: ValidateFunction | undefined
  const validate = (json: unknown) => {
    compiled ??= ajv.compile(shape)
    return compiled(json)
  }
  const isBody = (json: unknown): json is Body => validate(json)
  const fault = (json: unknown) => {
    validate(json)
    const { instancePath = '', params } = compiled?.errors?.[0] ?? {}
    return params?.missingProperty === undefined ? instancePath : `${instancePath}/${params.missingProperty}`
  }
  return Object.assign(isBody, { fault })
}
