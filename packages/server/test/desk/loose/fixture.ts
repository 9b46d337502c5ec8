import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import {
  createLooseDesk,
  type EventDesk,
  type LooseDesk,
  type LooseOrder,
  type LooseOutcome,
} from '../../../src/desk/loose/index.ts'
import { type FixtureOptions, type StatementFixture, statementFixture } from '../../bank-statement/fixture.ts'

/** A statement by script with the desk of what it finds. */
export interface DeskFixture extends StatementFixture {
  readonly desk: LooseDesk
  /** Decides the one open case of a kind, as it stands. */
  decide(kind: string, decision: string, given?: Partial<LooseOrder>): Promise<LooseOutcome>
  /** The one open case of a kind, as an order names it. */
  order(kind: string, decision: string, given?: Partial<LooseOrder>): Promise<LooseOrder>
  /** What may be decided of it. */
  offered(kind: string): Promise<string[]>
}

export const MARIA = { actor: '0198c0de-7a11-7000-8000-00000000000a', actorName: 'Maria', address: '203.0.113.7' }

/** No event is set aside here. */
const NO_EVENTS: EventDesk = {
  read: async () => undefined,
  applyAgain: async () => assert.fail(),
  accepts: async () => false,
}

/** Opens one. */
export async function deskFixture(t: TestContext, options?: FixtureOptions): Promise<DeskFixture> {
  const fixture = await statementFixture(t, undefined, options)
  const desk = createLooseDesk({ ...fixture, events: NO_EVENTS, statement: fixture.statements.desk })
  return { ...fixture, desk, ...decidingAt(desk) }
}

/** Decisions about the one open case of a kind. */
export function decidingAt(desk: LooseDesk): Pick<DeskFixture, 'decide' | 'order' | 'offered'> {
  const readOne = async (kind: string) => {
    const open = (await desk.list(null, 100)).filter((one) => one.kind === kind)
    assert.equal(open.length, 1, `${kind} is open once`)
    const read = await desk.read(open[0]?.id ?? '')
    assert.ok(read)
    return read
  }
  const order: DeskFixture['order'] = async (kind, decision, given = {}) => {
    const { id: caseId, version } = await readOne(kind)
    const who = { operator: MARIA, approver: null, reason: 'The bank says so', evidence: {}, correlationId: 'test' }
    return { caseId, decision, version, ...who, ...given }
  }
  return {
    order,
    decide: async (kind, decision, given) => desk.decide(await order(kind, decision, given)),
    offered: async (kind) => desk.options(await readOne(kind)).map(({ decision }) => decision),
  }
}
