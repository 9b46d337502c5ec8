import assert from 'node:assert/strict'
import test from 'node:test'
import { Draft } from '../../src/engine/draft.ts'
import { reasonFact } from '../../src/engine/follow.ts'
import type { CaseStep, Operation } from '../../src/engine/operation.ts'
import { writeOf } from '../../src/engine/write.ts'
import { planOf, testDatabase } from '../support/database.ts'
import { NO_ALLOWANCES } from '../support/limits.ts'
import { operationAs } from '../support/operation.ts'

const OPERATION = operationAs({ id: '0198c0f0-3f00-7000-8000-1a2b3c4d5e6f' })

const STEP: CaseStep = {
  ...{ id: OPERATION.id, caseId: OPERATION.id, step: 'decided', proposalId: null, operatorId: 'admin' },
  ...{ operatorName: null, content: {}, caseVersion: '1', amountCents: 1n, idempotencyKey: null },
  ...{ bodyHash: Buffer.alloc(32), answer: {} },
}

const NOTHING_LOADED = {
  ...{ operations: new Map(), controls: new Map(), openCases: [], movements: new Map(), debts: new Map() },
  ...NO_ALLOWANCES,
  accounts: new Map([['settlement', { version: 1n, balanceCents: 0n }]] as const),
}

test('[engine.2] a batch that does everything at once is one statement, whose name PostgreSQL does not cut', () => {
  const { id } = OPERATION
  const ids = { uuid: () => id }
  const retold = '0198c0f0-3f00-7000-8000-1a2b3c4d5e71'
  const named = { kind: 'payment_in_suspense', reference: '', rule: 'test.1' } as const
  const openCases = [{ id: '0198c0f0-3f00-7000-8000-1a2b3c4d5e72', ...named, version: 1 }]
  const known = {
    ...NOTHING_LOADED,
    operations: new Map([[retold, { ...OPERATION, id: retold, openCases }]]),
    accounts: new Map([['available', { version: 1n, balanceCents: 0n }]] as const),
    controls: new Map([['cash_out_switch', { version: 1n, value: {} }]] as const),
    openCases: [{ id: '0198c0f0-3f00-7000-8000-1a2b3c4d5e73', ...named, version: 1 }],
  }
  const draft = new Draft(known, 0, ids)
  const posting = { operationId: id, journal: 'cash_in_settled', reference: '', posting: 0, shown: null }
  draft.createdOperations.set('new', OPERATION)
  draft.movedOperations.set(id, OPERATION)
  draft.moves.push({ before: undefined, after: OPERATION, trigger: 'create', facts: {} })
  draft.movements.set('in E1', { direction: 'in', id: 'E1', operationId: id, valueCents: 1n })
  draft.readControls.add('cash_out_switch')
  draft.readCases.set('0198c0f0-3f00-7000-8000-1a2b3c4d5e73', 1)
  draft.changedControls.set('cash_out_switch', { version: 2n, value: {} })
  draft.accountChanges.set('available', {
    entries: [{ ...posting, account: 'available', amountCents: 1n }],
    delta: 1n,
    lowest: 0n,
    exact: false,
  })
  draft.notifications.push({
    operationId: id,
    eventType: 'pix_cash_in',
    status: 'PAID',
    reference: '',
    body: Buffer.alloc(0),
  })
  draft.cases.open({ operationId: id, kind: 'charge_unclear', reference: '', facts: { rule: 'test.1' } })
  draft.cases.open({ operationId: retold, kind: 'payment_in_suspense', reference: '', facts: { rule: 'test.1' } })
  draft.cases.close('0198c0f0-3f00-7000-8000-1a2b3c4d5e70', id)
  draft.allowances.add({ scope: 'all', span: 'hour', bucket: 1, cents: 1n, bound: { since: 0, maxCents: 1n } })
  draft.allowances.add({ scope: 'all', span: 'hour', bucket: 2, cents: -1n })
  draft.recipients.set('joao@example.com', { paidCents: 1n, headroomCents: 0n })
  draft.audits.push({ actor: 'admin', action: 'a', subject: 's', address: '::1', facts: {} })
  draft.caseSteps.push(STEP)
  draft.eventOrders.push({ inboxId: id, ordinal: 0, setAsideAt: 0, attributedTo: null })
  const { statement, values } = writeOf(draft, ids)
  assert.match(statement.name, /^engine\.write\.AOCKcaprcpnew.*en.*caschcauclsstev$/)
  assert.equal(statement.text.match(/INSERT INTO|UPDATE (?:operation|account|control|allowance|"case")/g)?.length, 16)
  assert.equal(Math.max(...[...statement.text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number))), values.length)
})

test('[engine.18] a fact that is null is not written, but where a move takes back what was known', () => {
  const draft = new Draft(NOTHING_LOADED, 0, { uuid: () => OPERATION.id })
  const before: Operation = { ...OPERATION, facts: { ...reasonFact('no_answer'), leaseUntil: null } }
  const facts = { ...reasonFact(null), leaseUntil: null, notFoundAt: null, openRefunds: { a: { transactionId: null } } }
  draft.movedOperations.set(before.id, { ...before, facts })
  draft.moves.push({ before, after: before, trigger: 'work.done', facts })
  const { values } = writeOf(draft, { uuid: () => before.id })
  const written = values.flat().filter((value) => typeof value === 'string' && value.includes('openRefunds'))
  assert.deepEqual(written, [
    '{"openRefunds":{"a":{"transactionId":null}}}',
    '{"doubt":null,"openRefunds":{"a":{"transactionId":null}}}',
  ])
})

/** The statement of a draft that only has what is done to it here. */
function statementOf(change: (draft: Draft) => void) {
  const draft = new Draft(NOTHING_LOADED, 0, { uuid: () => OPERATION.id })
  change(draft)
  return writeOf(draft, { uuid: () => OPERATION.id }).statement
}

const moveOne = (draft: Draft) => {
  draft.readVersions.set(OPERATION.id, 1)
  draft.movedOperations.set(OPERATION.id, OPERATION)
}

test('[engine.2] comparing costs each operation once, not once for each other one of the batch', async (t) => {
  const { url } = await testDatabase(t)
  const plan = await planOf(url, statementOf(moveOne).text)
  assert.match(plan, /Except/)
  assert.doesNotMatch(plan, /Join Filter: .*\blocked_operation\w*\.version/)
})

test('[engine.8] a batch locks the kinds of rows that it has, and each before anything is written', () => {
  const moves = statementOf(moveOne)
  assert.equal(moves.name, 'engine.write.Oup')
  assert.doesNotMatch(moves.text, /FROM (account|control)\b/)
  const change = { entries: [], delta: 1n, lowest: 0n, exact: false }
  const credits = statementOf((draft) => draft.accountChanges.set('settlement', change))
  assert.equal(credits.name, 'engine.write.A')
  // The account has no floor: nothing but the count looks at it.
  assert.match(credits.text, /go AS \(\s+SELECT \(SELECT count\(\*\) FROM locked_account\) = /)
  const both = statementOf((draft) => {
    moveOne(draft)
    draft.accountChanges.set('settlement', change)
  })
  assert.match(
    both.text,
    /FROM operation\s+WHERE id IN \(SELECT id FROM wanted_operation\) AND \(SELECT count\(\*\) FROM locked_account\) >= 0/,
  )
})
