/** Scopes of API keys. @source rules#api-keys.8 */
export const apiKeyScopes = ['read', 'charge', 'payout', 'refund', 'webhook'] as const

/** A scope of an API key. */
export type ApiKeyScope = (typeof apiKeyScopes)[number]

/** Roles of operators. @source rules#operators.3 */
export const operatorRoles = ['viewer', 'operator', 'approver', 'admin'] as const

/** A role of an operator. */
export type OperatorRole = (typeof operatorRoles)[number]

/** Approving is separate from ordering and from creating keys: neither role includes the other. */
const INCLUDED: Readonly<Record<OperatorRole, readonly OperatorRole[]>> = {
  viewer: ['viewer'],
  operator: ['viewer', 'operator'],
  approver: ['viewer', 'approver'],
  admin: ['viewer', 'operator', 'admin'],
}

/** Minimum role of an endpoint, or alternatives. */
export type NeededRole = OperatorRole | readonly OperatorRole[]

/** The alternative roles. */
export function neededRoles(needed: NeededRole): readonly OperatorRole[] {
  return typeof needed === 'string' ? [needed] : needed
}

/** Returns whether a role covers the needed one. @source rules#operators.3 */
export function roleIncludes(role: OperatorRole, needed: NeededRole): boolean {
  return neededRoles(needed).some((one) => INCLUDED[role].includes(one))
}
