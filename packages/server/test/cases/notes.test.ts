import assert from 'node:assert/strict'
import test from 'node:test'
import { audit } from '../support/evidence.ts'
import { caseWorld } from './fixture.ts'

test('[cases.62] a note stays in the history of a case, and voids no proposal', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' })
  const { id } = await pix.paidTwice('100.00')
  const { body: proposed } = await pix.decide(id, 'write_off')
  assert.equal(proposed.outcome, 'proposed')
  const { version } = await pix.read(`/${id}`)
  const text = 'The bank looks for the payment, ticket 815'
  const noted = await pix.call('POST', `/operator/cases/${id}/notes`, { text }, pix.ana)
  assert.equal(noted.status, 201, JSON.stringify(noted.body))
  const after = await pix.read(`/${id}`)
  assert.equal(after.version, version)
  assert.deepEqual(
    after.steps.map(({ step, order, isOpen }: Record<string, unknown>) => [step, order, isOpen]).at(-1),
    ['noted', { text }, false],
  )
  assert.equal((await pix.say(id, proposed.proposalId, true)).body.outcome, 'approved')
  assert.ok((await audit(pix.database)).some(({ action, subject }) => action === 'case.noted' && subject === id))
  const nobody = await pix.call('POST', '/operator/cases/0198c0f2-3f00-7000-8000-7a8b9c0d1e2f/notes', { text }, pix.ana)
  assert.deepEqual([nobody.status, nobody.body.code], [404, 'not_found'])
})
