import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { CaseDecision, CaseWithoutOperation } from '@pixgate/spec'
import { verifyAudit } from '../../src/audit/chain.ts'
import type { Bank } from '../../src/banks/bank.ts'
import type { StatementPage } from '../../src/banks/port.ts'
import { type CloseWorld, closeWorld } from '../closes/fixture.ts'
import { assertBooks, balances } from './books.ts'
import { makeOperator } from './operators.ts'
import type { Answer } from './world.ts'
import { assertWritten, everyTable, writing } from './written.ts'

/** An operator who decides cases of no operation, and looks at the books afterwards. */

/** A world whose bank may tell its statement otherwise than it is. */
export interface LooseWorld extends CloseWorld {
  /** What the bank tells of its statement: `tell` of what it has. */
  readonly statement: { tell: (page: StatementPage) => StatementPage }
  minutes(count: number): Promise<void>
  /** The one open case of a kind. */
  find(kind: CaseWithoutOperation): Promise<Answer['body']>
  /** Decides it as it stands, tried before: what was tried is done. */
  decide(kind: CaseWithoutOperation, decision: CaseDecision, given?: object): Promise<Answer['body']>
}

/** What an operator names with a decision, and what is true afterwards. */
export interface Circumstances {
  readonly given?: object
  /** What becomes true at the bank before it. */
  readonly before?: (pix: LooseWorld) => Promise<unknown>
  /** What the bank holds, by what it told last, more than its real book, centavos. */
  readonly moreCents?: bigint
}

/** How a kind of case comes to be, and decisions that it then offers. */
export interface LooseScenario {
  readonly kind: CaseWithoutOperation
  /** The rule that opens it, where several do. */
  readonly rule?: string
  /** What the bank cannot be asked. */
  readonly lacking?: readonly string[]
  /** Brings the case about. @returns what decisions may name */
  readonly arrange: (pix: LooseWorld) => Promise<string | undefined>
  /** By the id that `arrange` returned. */
  readonly decisions: Partial<Readonly<Record<CaseDecision, (id: string) => Circumstances>>>
}

async function looseWorld(t: TestContext, lacking: readonly string[]): Promise<LooseWorld> {
  const statement: LooseWorld['statement'] = { tell: (page) => page }
  const bank = (simulated: Bank): Bank => ({
    ...simulated,
    capabilities: new Set([...simulated.capabilities].filter((capability) => !lacking.includes(capability))),
    readStatement: async (query) => {
      const answer = await simulated.readStatement(query)
      return answer.kind === 'READ' ? { ...answer, page: statement.tell(answer.page) } : answer
    },
  })
  const pix = await closeWorld(t, { bank })
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const bia = { authorization: `Bearer ${await makeOperator(pix, 'approver', 'Bia')}` }
  const call = async (method: string, path: string, body?: unknown, headers = ana) => {
    const { status, body: answer } = await pix.call(method, `/operator/cases${path}`, body, headers)
    assert.equal(status, answer.outcome === 'proposed' ? 202 : 200, JSON.stringify(answer))
    return answer
  }
  const find: LooseWorld['find'] = async (kind) => {
    const { data } = await call('GET', `?kind=${kind}`)
    const open = JSON.stringify((await call('GET', '')).data.map((one: { kind: string }) => one.kind))
    assert.equal(data.length, 1, `${kind} is open once: ${open}`)
    return call('GET', `/${data[0].id}`)
  }
  return {
    ...pix,
    statement,
    find,
    minutes: async (count) => {
      for (let minute = 0; minute < count; minute += 1) await pix.later(60_000)
    },
    decide: async (kind, decision, given = {}) => {
      const { id, version, options } = await find(kind)
      const offered = options.filter(({ isOffered }: { isOffered: boolean }) => isOffered)
      assert.ok(
        offered.some((one: { decision: string }) => one.decision === decision),
        `${decision} is not offered: ${JSON.stringify(options)}`,
      )
      const order = { decision, version, reason: 'as the bank says', ...given }
      const stored = await everyTable(pix.database)
      const tried = await call('POST', `/${id}/decisions`, { ...order, dryRun: true })
      assert.deepEqual(await everyTable(pix.database), stored, 'a dry run leaves nothing')
      const made = await writing(pix.database, () => call('POST', `/${id}/decisions`, order))
      const { outcome, effects, proposalId } = made.answer
      assert.deepEqual(
        [effects.accounts, effects.amountCents],
        [tried.effects.accounts, tried.effects.amountCents],
        'what was tried is done',
      )
      assert.equal(outcome, tried.needsSecondPerson ? 'proposed' : 'decided')
      const said = { approved: true, reason: 'looked at it' }
      const approve = () => call('PUT', `/${id}/proposals/${proposalId}`, said, bia)
      const done = tried.needsSecondPerson ? await writing(pix.database, approve) : made
      assertWritten(tried.effects, done.written)
      return done.answer
    },
  }
}

const HOUR = 3_600_000

/** Makes a decision in a world of its own. Our books are then as the bank tells, and all that was written is sound. */
export async function decideLooseAs(t: TestContext, scenario: LooseScenario, decision: CaseDecision): Promise<void> {
  const { kind, rule, lacking = [], arrange, decisions } = scenario
  const pix = await looseWorld(t, lacking)
  const id = await arrange(pix)
  const { given = {}, before, moreCents = 0n } = decisions[decision]?.(id ?? '') ?? {}
  await before?.(pix)
  if (rule !== undefined) assert.equal((await pix.find(kind)).facts.rule, rule)
  await pix.decide(kind, decision, given)
  // All that the bank still has to say comes in.
  for (const wait of [1_000, 60_000, 60_000, HOUR, HOUR]) await pix.later(wait)
  await assertBooks(pix.database)
  const { settlement = 0n } = await balances(pix.database)
  const { availableCents } = (await pix.bank('GET', '/balance')).body
  assert.equal(-settlement, BigInt(availableCents) + moreCents, 'our books hold what the bank says it holds')
  assert.deepEqual((await verifyAudit(pix.database, { keys: [] })).faults, [])
}
