/** What an API key may be for. @source rules#api-keys.8 */
export const apiKeyScopes = ['read', 'charge', 'payout', 'refund', 'webhook'] as const

/** One of {@link apiKeyScopes}. */
export type ApiKeyScope = (typeof apiKeyScopes)[number]

/** What an operator may be. @source rules#operators.3 */
export const operatorRoles = ['viewer', 'operator', 'approver', 'admin'] as const

/** One of {@link operatorRoles}. */
export type OperatorRole = (typeof operatorRoles)[number]

/** Who approves stands beside who orders and who makes keys: neither includes the other. */
const INCLUDED: Readonly<Record<OperatorRole, readonly OperatorRole[]>> = {
  viewer: ['viewer'],
  operator: ['viewer', 'operator'],
  approver: ['viewer', 'approver'],
  admin: ['viewer', 'operator', 'admin'],
}

/** The role that an endpoint needs at least, or several of which each is enough. */
export type NeededRole = OperatorRole | readonly OperatorRole[]

/** The roles of which each is enough. */
export function neededRoles(needed: NeededRole): readonly OperatorRole[] {
  return typeof needed === 'string' ? [needed] : needed
}

/** Whether an operator of a role may do what needs this one at least. @source rules#operators.3 */
export function roleIncludes(role: OperatorRole, needed: NeededRole): boolean {
  return neededRoles(needed).some((one) => INCLUDED[role].includes(one))
}
