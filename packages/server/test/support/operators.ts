import assert from 'node:assert/strict'
import { type Endpoint, neededRoles, type OperatorRole, roleIncludes } from '@pixgate/spec'
import { ADMIN_TOKEN, type World } from './world.ts'

const approvers = new WeakMap<World, Promise<string>>()

/** The token of whoever may call an endpoint of operators; an approver is made when the first is needed. */
export function operatorToken(pix: World, { role }: Endpoint): Promise<string> {
  if (role === undefined || roleIncludes('admin', role)) return Promise.resolve(ADMIN_TOKEN)
  const known = approvers.get(pix) ?? makeOperator(pix, neededRoles(role)[0] ?? 'viewer')
  approvers.set(pix, known)
  return known
}

/** Makes an operator; two people need two names. @returns the token */
export async function makeOperator(pix: World, role: OperatorRole, name: string = role): Promise<string> {
  const authorization = `Bearer ${ADMIN_TOKEN}`
  const { status, body } = await pix.call('POST', '/operator/operators', { name, role }, { authorization })
  assert.equal(status, 201, JSON.stringify(body))
  return body.token
}
