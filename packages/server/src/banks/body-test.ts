import { Ajv } from 'ajv'
import { formats } from '../platform/http/formats.ts'

const ajv = new Ajv({ formats })

/**
 * Makes the test whether JSON is a body of a shape. The shape is compiled when it is first asked for: of all the banks that are known
 * here a process speaks to one, and a command often to none.
 */
export function bodyTest<Body>(shape: object): (json: unknown) => json is Body {
  let validate: ((json: unknown) => boolean) | undefined
  return (json): json is Body => {
    validate ??= ajv.compile(shape)
    return validate(json)
  }
}
