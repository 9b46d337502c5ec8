import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { CaseDecision } from '@pixgate/spec'
import { insertOperator } from '../../../src/access/credentials.ts'
import type { Person } from '../../../src/access/index.ts'
import { insertAudit } from '../../../src/audit/trail.ts'
import { type CaseNeeds, type DecisionRequest, decide, operationOf } from '../../../src/cases/decide.ts'
import { readStoredCase } from '../../../src/cases/store.ts'
import { createHeldDecider, isHeld } from '../../../src/cases/unexplained.ts'
import { optionsOf, readSubject, type SetAsideEvents } from '../../../src/cases/without-operation.ts'
import { createDryRun } from '../../../src/engine/dry-run.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import { type FixtureOptions, type StatementFixture, statementFixture } from '../../bank-statement/fixture.ts'
import { payment } from '../../support/engine.ts'
import { openCaseIdsOf } from '../../support/evidence.ts'
import { ALIVE } from '../../support/live-request.ts'
import { ADMIN_TOKEN, type Answer, type World } from '../../support/world.ts'

/** What is ordered of a case. */
export interface Order {
  readonly caseId: string
  readonly decision: CaseDecision
  readonly version: string
  readonly reason: string
  readonly evidence: DecisionRequest['ordered']['evidence']
  readonly amountCents?: number
  readonly operationId?: string
  readonly dryRun?: boolean
}

/** What was answered to it. */
export interface Decided {
  readonly outcome: string
  readonly effects: {
    readonly amountCents: number
    readonly accounts: readonly { readonly account: string; readonly changeCents: number }[]
    readonly journals: readonly { readonly journal: string; readonly operationId: string }[]
    readonly closes: readonly string[]
    readonly operations: readonly { readonly statusAfter: string }[]
  } | null
}

/** What a decision does, whatever ids it books under. */
export function shapeOf(effects: Decided['effects']) {
  const { amountCents, accounts = [], operations = [], journals = [] } = effects ?? {}
  return {
    amountCents,
    accounts,
    journals: journals.map(({ journal }) => journal),
    statuses: operations.map(({ statusAfter }) => statusAfter),
  }
}

/** Decisions about the one open case of a kind. */
export interface Deciding {
  /** Decides it as it stands. */
  decide(kind: string, decision: Order['decision'], given?: Partial<Order>): Promise<Decided>
  /** The same by an order, which may be old. @throws what it is refused with, by its `code` */
  send(order: Order): Promise<Decided>
  order(kind: string, decision: Order['decision'], given?: Partial<Order>): Promise<Order>
  /** What may be decided of it. */
  offered(kind: string): Promise<string[]>
}

/** A statement by script with decisions about what it finds. */
export interface CaseFixture extends StatementFixture, Deciding {}

export const MARIA = { actor: '0198c0de-7a11-7000-8000-00000000000a', actorName: 'Maria', address: '203.0.113.7' }

/** Who there is where a test names nobody else. */
export const PEOPLE: readonly Person[] = [
  { id: MARIA.actor, name: MARIA.actorName, role: 'operator', isActive: true, madeBy: null },
]

/** Lets something happen once while a decision is under way: between its reading and its writing. */
export function betweenReadAndWrite() {
  const nothing = async (): Promise<unknown> => undefined
  let next = nothing
  return {
    meanwhile: (what: () => Promise<unknown>) => {
      next = what
    },
    people: async () => {
      const what = next
      next = nothing
      await what()
      return PEOPLE
    },
  }
}

/** Stores operators under these ids, with their creation in the audit trail. */
export async function makePeople(
  { database, ids, clock }: Pick<StatementFixture, 'database' | 'ids' | 'clock'>,
  people: readonly Person[],
): Promise<void> {
  for (const { id, name, role } of people) {
    await database.transaction(async (queries) => {
      const display = `pix_op_test_${name}`
      const made = { id, name, role, display, hash: Buffer.from(name), createdAt: clock.now(), createdBy: null }
      await insertOperator(queries, made)
      const facts = { name, role, display }
      const by = { actor: 'admin', address: '203.0.113.7', id: ids.uuid(), at: clock.now() }
      await insertAudit(queries, { ...by, action: 'operator.created', subject: id, facts })
    })
  }
}

/** No event is set aside here. */
const NO_EVENTS: SetAsideEvents = {
  read: async () => undefined,
  accepts: async () => false,
}

/** No refund is requested here. */
const NO_REFUNDS = { requestedCommand: () => assert.fail() }

async function openOne(database: Database, kind: string): Promise<string> {
  const [first, ...more] = await openCaseIdsOf(database, kind)
  assert.ok(first && more.length === 0, `${kind} is open once`)
  return first
}

/** Who there is, and when one is not enough. */
export interface PeopleOptions {
  readonly approvalFromCents: number
  /** Asked for where something is proposed. */
  readonly people: CaseNeeds['operators']['people']
}

/** Deciding without HTTP. */
export function decidingAt(
  needs: Pick<StatementFixture, 'database' | 'engine' | 'ids' | 'clock' | 'reversal'> & {
    readonly statements: Pick<StatementFixture['statements'], 'lines'>
  },
  { approvalFromCents = Number.MAX_SAFE_INTEGER, people = async () => PEOPLE }: Partial<PeopleOptions> = {},
): Deciding {
  const statement = needs.statements.lines
  const held = createHeldDecider(statement)
  const cases: CaseNeeds = {
    ...needs,
    withoutOperation: { ...needs, events: NO_EVENTS, statement, charges: needs, refunds: NO_REFUNDS },
    deciders: { adjustment: held },
    dryRun: createDryRun(needs),
    operators: { people, deactivations: async () => 1n },
    approvalFromCents,
  }
  const read = async (kind: string): Promise<Shown> => {
    const id = await openOne(needs.database, kind)
    const stored = (await readStoredCase(needs.database, id)) ?? assert.fail()
    const version = String(stored.version)
    const operation = await operationOf(needs.database, stored)
    if (!operation) return { id, version, options: optionsOf(await readSubject(needs.database, NO_EVENTS, stored)) }
    assert.ok(isHeld(operation))
    const offered = held.options(operation, stored, needs.clock.now()).filter(({ isOffered }) => isOffered)
    return { id, version, options: offered }
  }
  const send: Deciding['send'] = async ({ caseId, version, dryRun = false, amountCents, ...named }) => {
    const ordered = { ...named, ...(amountCents !== undefined && { amountCents: BigInt(amountCents) }) }
    const request = { caseId, version, ordered, isDryRun: dryRun, operator: MARIA, idempotencyKey: null }
    const { answer } = await decide(cases, { ...request, bodyHash: Buffer.alloc(32), live: ALIVE })
    return answer
  }
  return decidingBy(send, read)
}

interface Shown {
  readonly id: string
  readonly version: string
  readonly options: readonly { readonly decision: string }[]
}

function decidingBy(send: Deciding['send'], read: (kind: string) => Promise<Shown>): Deciding {
  const order: Deciding['order'] = async (kind, decision, given = {}) => {
    const { id: caseId, version } = await read(kind)
    return { caseId, decision, version, reason: 'The bank says so', evidence: {}, ...given }
  }
  return {
    order,
    send,
    decide: async (kind, decision, given) => send(await order(kind, decision, given)),
    offered: async (kind) => (await read(kind)).options.map(({ decision }) => decision),
  }
}

/** Deciding over HTTP, with the administrative token. */
export interface DecidingOver extends Deciding {
  readonly read: (kind: string) => Promise<Answer['body']>
}

/** Makes it. */
export function decidingOver(pix: World): DecidingOver {
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'idempotency-key': randomUUID() }
    const answer = await pix.call(method, `/operator/cases/${path}`, body, headers)
    if (answer.status >= 400) throw Object.assign(new Error(JSON.stringify(answer.body)), { code: answer.body.code })
    return answer.body
  }
  const read = async (kind: string) => call('GET', await openOne(pix.database, kind))
  const send: Deciding['send'] = ({ caseId, ...body }) => call('POST', `${caseId}/decisions`, body)
  const deciding = decidingBy(send, read)
  return { ...deciding, read }
}

/** Opens one. */
export async function caseFixture(t: TestContext, options?: FixtureOptions): Promise<CaseFixture> {
  const fixture = await statementFixture(t, undefined, options)
  return { ...fixture, ...decidingAt(fixture) }
}

/** A charge that an event reports as paid, as E1, while the bank's statement lacks it: the case `line_missing` is open. */
export async function creditMissing({ charge, sweep, clock, apply, minutes }: StatementFixture) {
  const made = await charge()
  await sweep()
  const occurredAt = clock.now()
  const paid = payment({ endToEndId: 'E1', occurredAt })
  await apply(made.id, { on: 'partner.confirmed', payment: paid, transactionId: 'tx' })
  await minutes(10)
  return { charge: made, occurredAt }
}

/** At the bank a charge of R$ 10,00 is paid that is unknown here. @returns the end-to-end id */
export async function payStrangersCharge(pix: World): Promise<string> {
  const id = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'
  const expiresAt = new Date(pix.clock.now() + 3_600_000).toISOString()
  const merchant = { pixKey: 'loja@example.com', name: 'Loja', city: 'Sao Paulo' }
  assert.equal((await pix.bank('PUT', `/charges/${id}`, { valueCents: 1000, expiresAt, merchant })).status, 201)
  return (await pix.bankAction(`charges/${id}/pay`)).endToEndId
}
