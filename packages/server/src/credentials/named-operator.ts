import type { Caller } from '../platform/http/handler.ts'

/** The id of the named operator who calls; `null`: it is the administrative token. @source rules#operators.7 */
export function namedOperatorOf({ id, name }: Caller): string | null {
  return name === undefined ? null : id
}
