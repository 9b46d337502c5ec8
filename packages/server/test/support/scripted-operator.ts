import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type CaseDecision, decisionNames } from '@pixgate/spec'
import { verifyAudit } from '../../src/audit/chain.ts'
import { inbox } from './evidence.ts'
import { makeOperator } from './operators.ts'
import { until } from './until.ts'
import { type Answer, type World, type WorldOptions, world } from './world.ts'
import { assertWritten, everyTable, writing } from './written.ts'

/** An operator who reads a case, makes a decision that is true at the bank, and looks at the books afterwards. */

/** What an operator has from the bank, or knows. */
export interface Proof {
  readonly evidence?: { readonly endToEndId?: string; readonly returnId?: string }
  readonly operationId?: string
  readonly amountCents?: number
}

/** What becomes true at the bank before a decision, and what the operator then knows of it. */
export type Truth = (pix: World, id: string) => Promise<Proof>

/** How a kind of case comes to be, and each decision that it then offers. */
export interface Scenario {
  readonly kind: string
  /** The rule that opens it. */
  readonly rule: string
  readonly environment?: Readonly<Record<string, string>>
  readonly bank?: WorldOptions['bank']
  /** Brings the case about. @returns the id of the operation */
  readonly arrange: (pix: World) => Promise<string>
  readonly decisions: Partial<Readonly<Record<CaseDecision, Truth>>>
  /** What is offered and would not be true at this bank. */
  readonly untrue?: readonly CaseDecision[]
}

/** Nothing has to be true. */
export const asItIs: Truth = async () => ({})

const HOUR = 3_600_000

/** A world with the case, and whoever decides it. */
async function casework(t: TestContext, { kind, environment, bank, arrange }: Scenario) {
  const pix = await world(t, { ...environment }, { isStepped: true, ...(bank && { bank }) })
  const headers = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const operationId = await arrange(pix)
  const read = async (path: string): Promise<Answer['body']> => {
    const { status, body } = await pix.call('GET', `/operator/cases${path}`, undefined, headers)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  const find = async () => (await read(`?operation_id=${operationId}&kind=${kind}`)).data[0]
  for (let tries = 0; (await find()) === undefined; tries++) {
    assert.ok(tries < 100, `${kind} does not come about: ${JSON.stringify((await read('')).data)}`)
    await pix.work()
  }
  // An event is marked as done after its effects.
  await until(async () => (await inbox(pix.database)).every(({ state }) => state !== 'NEW'))
  const { id } = await find()
  return { pix, headers, operationId, read, id }
}

/** Makes a decision in a world of its own, where the case offers just those that are expected. */
export async function decideAs(t: TestContext, scenario: Scenario, decision: CaseDecision): Promise<void> {
  const { pix, headers, operationId, read, id } = await casework(t, scenario)
  const { options, facts } = await read(`/${id}`)
  assert.equal(facts.rule, scenario.rule)
  const { decisions, untrue = [] } = scenario
  assert.deepEqual(
    options.filter(({ isOffered }: { isOffered: boolean }) => isOffered).map(nameOf),
    decisionNames.filter((name) => name in decisions || untrue.includes(name)),
    `what is offered: ${JSON.stringify(options)}`,
  )
  const known = await decisions[decision]?.(pix, operationId)
  const { version } = await read(`/${id}`)
  const body = { decision, reason: 'as the bank says', version, ...known }
  const path = `/operator/cases/${id}/decisions`
  const stored = await everyTable(pix.database)
  const tried = await pix.call('POST', path, { ...body, dryRun: true }, headers)
  assert.equal(tried.status, 200, JSON.stringify(tried.body))
  assert.deepEqual(await everyTable(pix.database), stored, 'a dry run leaves nothing')
  const approver = { authorization: `Bearer ${await makeOperator(pix, 'approver', 'Bia')}` }
  const { answer: made, written } = await writing(pix.database, async () => {
    const answer = await pix.call('POST', path, body, headers)
    if (answer.body.outcome !== 'proposed') return answer
    const { proposalId } = answer.body
    const approval = { approved: true, reason: 'as the bank says' }
    return pix.call('PUT', `/operator/cases/${id}/proposals/${proposalId}`, approval, approver)
  })
  assert.equal(made.status, 200, JSON.stringify(made.body))
  assert.deepEqual(withoutNew(made.body.effects), withoutNew(tried.body.effects), 'what was tried is done')
  assertWritten(made.body.effects, written)
  assert.equal((await read(`/${id}`)).state, made.body.effects.closes.includes(id) ? 'closed' : 'open')
  // All that the bank still has to say comes in.
  for (const wait of [1_000, 60_000, HOUR, HOUR, 24 * HOUR]) await pix.later(wait)
  await pix.assertBooksAgree()
  assert.deepEqual((await verifyAudit(pix.database, { keys: [] })).faults, [])
}

function nameOf({ decision }: { readonly decision: string }): string {
  return decision
}

/** What is created gets another id when it is done. */
function withoutNew(effects: {
  readonly operations: readonly { readonly id: string; readonly statusBefore: string | null }[]
}) {
  const operations = effects.operations.map((one) => (one.statusBefore === null ? { ...one, id: 'new' } : one))
  return { ...effects, operations }
}
