import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { OperatorRole } from '@pixgate/spec'
import { audit } from '../support/evidence.ts'
import { makeOperator } from '../support/operators.ts'
import { type Answer, type WorldOptions, world } from '../support/world.ts'

/** A stepped world with operators: Ana orders, Bia approves. */
export async function caseWorld(
  t: TestContext,
  environment: Readonly<Record<string, string>> = {},
  options: WorldOptions = {},
) {
  const pix = await world(t, environment, { ...options, isStepped: true })
  const make = async (role: OperatorRole, name: string) => ({
    authorization: `Bearer ${await makeOperator(pix, role, name)}`,
  })
  const [ana, bia] = [await make('operator', 'Ana'), await make('approver', 'Bia')]
  const read = async (path: string): Promise<Answer['body']> => {
    const { status, body } = await pix.call('GET', `/operator/cases${path}`, undefined, ana)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  /** Decides a case as it stands, unless another version is given. */
  const decide = async (id: string, decision: string, given: object = {}, headers: Record<string, string> = ana) => {
    const { version } = await read(`/${id}`)
    const body = { decision, reason: 'the tests', version, ...given }
    return pix.call('POST', `/operator/cases/${id}/decisions`, body, headers)
  }
  const say = (id: string, proposalId: string, approved: boolean, headers: Record<string, string> = bia) =>
    pix.call('PUT', `/operator/cases/${id}/proposals/${proposalId}`, { approved, reason: 'looked at it' }, headers)
  const withdraw = (id: string, proposalId: string, headers: Record<string, string> = ana) =>
    pix.call('PUT', `/operator/cases/${id}/proposals/${proposalId}`, { approved: false, reason: 'a mistake' }, headers)
  /** The open case of a charge that was paid twice. */
  const paidTwice = async (value: string): Promise<{ readonly id: string; readonly chargeId: string }> => {
    const charge = await pix.paid(value)
    pix.clock.advance(1_000)
    await pix.bankAction(`charges/${charge.id}/pay`)
    for (;;) {
      const { data } = await read(`?operation_id=${charge.id}`)
      if (data.length > 0) return { id: data[0].id, chargeId: charge.id }
      await pix.work()
    }
  }
  /** What the audit trail has of a case. */
  const audited = async (id: string) =>
    (await audit(pix.database))
      .filter(({ subject }) => subject === id)
      .map(({ action, actorName, facts }) => [action, actorName, facts])
  return { ...pix, ana, bia, make, read, decide, say, withdraw, paidTwice, audited }
}
