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

/** Whether an operator of a role may do what needs this one at least. @source rules#operators.3 */
export function roleIncludes(role: OperatorRole, needed: OperatorRole): boolean {
  return INCLUDED[role].includes(needed)
}
