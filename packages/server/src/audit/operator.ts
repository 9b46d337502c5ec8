import type { RequestContext } from '../platform/http/handler.ts'

/** Who asks, and from where: for the audit trail. */
export interface Operator {
  readonly actor: string
  /** What the actor is called, where that is known. */
  readonly actorName?: string
  readonly address: string
}

/** Whose request it is; of a named operator id and name. @source rules#operators.7 */
export function operatorOf({ caller, remoteAddress }: Pick<RequestContext, 'caller' | 'remoteAddress'>): Operator {
  const { id, name } = caller
  return { actor: id, ...(name !== undefined && { actorName: name }), address: remoteAddress }
}
