import assert from 'node:assert/strict'
import test from 'node:test'
import type { CaseStep } from '../../src/engine/operation.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { caseStepsOf, testDatabase } from '../support/database.ts'
import { testEngine } from '../support/engine.ts'

const CASE = '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f'
const PROPOSAL = '0198c0f3-3f00-7000-8000-8b9c0d1e2f3a'

function step(id: string, given: Partial<CaseStep> = {}): CaseStep {
  const by = { operatorId: 'admin', operatorName: null }
  const what = { content: { decision: 'close' }, caseVersion: '3', amountCents: 7n, answer: {}, bodyHash: sha256(id) }
  return { id, caseId: CASE, step: 'approved', proposalId: PROPOSAL, idempotencyKey: null, ...by, ...what, ...given }
}

test('[cases.38] a step is written with what it decides, a refusal leaves none, and a proposal ends once', async (t) => {
  const { url, database } = await testDatabase(t)
  const { engine, ids } = testEngine(t, url)
  const decide = (reference: string, made: CaseStep) =>
    engine.execute({
      reads: [],
      decide: () => ({
        cases: [{ operationId: null, kind: 'event_set_aside', reference, facts: { rule: 'test.1' } }],
        caseSteps: [made],
        outcome: reference,
      }),
    })
  const [first, second, third] = [ids.uuid(), ids.uuid(), ids.uuid()]
  assert.equal(await decide('one', step(first)), 'one')
  await assert.rejects(decide('two', step(second)), { code: 'overloaded' })
  assert.equal(await decide('three', step(third, { step: 'decided', proposalId: null })), 'three')
  assert.deepEqual(await caseStepsOf(database), {
    steps: [
      { id: first, step: 'approved', amount_cents: 7n },
      { id: third, step: 'decided', amount_cents: 7n },
    ],
    cases: ['one', 'three'],
  })
})
