import type { RequestContext } from '../platform/http/handler.ts'

/** Who asks, and from where: for the audit trail. */
export interface Operator {
  readonly actor: string
  readonly address: string
}

/** The operator whose request it is. */
export function operatorOf({ caller, remoteAddress }: RequestContext): Operator {
  return { actor: caller.id, address: remoteAddress }
}
