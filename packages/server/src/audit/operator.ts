import type { RequestContext } from '../platform/http/handler.ts'

/** Who asks, and from where: for the audit trail. */
export interface Operator {
  readonly actor: string
  readonly address: string
}

/** The operator whose request it is; a named one by id and name. @source rules#operators.7 */
export function operatorOf({ caller: { id, name }, remoteAddress }: RequestContext): Operator {
  return { actor: name === undefined ? id : `${id} ${name}`, address: remoteAddress }
}
