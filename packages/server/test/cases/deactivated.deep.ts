import assert from 'node:assert/strict'
import test from 'node:test'
import { auditInOrder } from '../support/evidence.ts'
import { openHolder } from '../support/waiting-backends.ts'
import { ADMIN_TOKEN } from '../support/world.ts'
import { caseWorld } from './fixture.ts'

/** What operators do while they are deactivated: done before it, or not at all. */

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` }

for (const what of ['decided', 'proposed', 'withdrawn', 'approved', 'refused'] as const) {
  test(`[cases.45] nothing is ${what} by an operator who was deactivated before`, async (t) => {
    const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: what === 'decided' ? '2000' : '1000' })
    const { id } = await pix.paidTwice('10.00')
    const isApprover = what === 'approved' || what === 'refused'
    const eva = await pix.make(isApprover ? 'approver' : 'operator', 'Eva')
    const { data } = (await pix.call('GET', '/operator/operators', undefined, ADMIN)).body
    const { id: evaId } = data.find(({ name }: { name: string }) => name === 'Eva')
    const isNew = what === 'decided' || what === 'proposed'
    const proposalId = isNew ? '' : (await pix.decide(id, 'write_off')).body.proposalId
    const { version } = await pix.read(`/${id}`)

    const holder = await openHolder(pix.databaseUrl)
    await holder.hold('LOCK TABLE case_step IN SHARE ROW EXCLUSIVE MODE')
    const doing = isNew
      ? pix.decide(id, 'write_off', { version }, eva)
      : what === 'withdrawn'
        ? pix.withdraw(id, proposalId, eva)
        : pix.say(id, proposalId, what === 'approved', eva)
    await holder.waiting(1)
    const leaving = pix.call('DELETE', `/operator/operators/${evaId}`, undefined, ADMIN)
    await Promise.race([leaving, holder.waiting(2)])
    await holder.release()
    const [done, gone] = await Promise.all([doing, leaving])
    assert.equal(gone.status, 204)
    const trail = await auditInOrder(pix.database)
    const left = trail.findIndex(({ action, subject }) => action === 'operator.deactivated' && subject === evaId)
    const last = trail.findLastIndex(({ action, actor }) => action.startsWith('case.') && actor === evaId)
    assert.ok(last < left, JSON.stringify(trail))
    assert.equal(last >= 0, done.status < 300, JSON.stringify(done.body))
    if (done.status >= 300) assert.ok([401, 403].includes(done.status), JSON.stringify(done.body))
  })
}
