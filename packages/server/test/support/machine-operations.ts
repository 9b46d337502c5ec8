import {
  type AccountCode,
  cashIn,
  cashOut,
  type JournalKind,
  type JournalTemplate,
  journals,
  min,
  type Row,
  refundIn,
  type Variable,
} from '@pixgate/spec'
import { follow, reasonOf } from '../../src/engine/follow.ts'
import type { Command, Decision, Document, Journal, MovementId, Operation, State } from '../../src/engine/operation.ts'
import type { TestEngine } from './engine.ts'
import { arrivedIn, learnedFrom } from './machine-decisions.ts'
import { operationAs } from './operation.ts'

/**
 * Operations of every kind, led through their tables without their modules: for what must hold whatever modules do.
 */

type MachineRow = Row<Operation['status']>

/** The kinds of operation that have a table. */
export const MACHINES = { cash_in: cashIn, cash_out: cashOut, refund_in: refundIn } as const

/** A kind of operation that has a table. */
export type Kind = keyof typeof MACHINES

/** What the bank tells that is not what an operation is worth, centavos. */
export const STATED = 123n

/** What every operation is worth, and what it costs, in centavos. */
export const VALUE = 1_000n
const FEE = 7n

/**
 * Makes an operation in this state.
 * @returns its id, or `undefined` where there is no money for it
 */
export async function createOperation(
  { engine, ids }: TestEngine,
  kind: Kind,
  status: Operation['status'],
): Promise<string | undefined> {
  const row = MACHINES[kind].rows.find(({ from, to }) => from === null && to === status)
  if (!row) throw new Error(`no ${kind} begins as ${status}`)
  const operation = newOperation(ids.uuid(), kind, status)
  const create: Command<string | undefined> = {
    reads: [],
    movements: movementsOf(operation.id, ''),
    decide: (state) => ({
      creates: [{ operation }],
      ...effectsOf(row, operation, '', state),
      outcome: operation.id,
    }),
  }
  return engine.execute(ifAffordable(create))
}

/**
 * Leads an operation along one row of its table.
 * @param choose picks among the rows that apply; `undefined`: none, and nothing happens
 * @param reference tells this step's journal and case apart from those of others
 */
export function moveOperation(
  { engine }: TestEngine,
  id: string,
  choose: (rows: readonly MachineRow[]) => MachineRow | undefined,
  reference: string,
): Promise<string | undefined> {
  const step: Command<string | undefined> = {
    reads: [id],
    movements: movementsOf(id, reference),
    decide: (state, now) => {
      const operation = state.operation(id)
      if (!operation) throw new Error(`there is no operation ${id}`)
      const rows: readonly MachineRow[] = MACHINES[operation.kind as Kind].rows
      // What operators decide about cases looks at what is in suspense: see machine-decisions.ts.
      const row = choose(rows.filter((candidate) => !isDecision(candidate) && applies(candidate, operation)))
      if (!row) return { outcome: undefined }
      // Alone, so that no line before it applies instead.
      const decision: Decision<string> = follow(
        { rows: [row] },
        operation,
        {
          on: row.on,
          holds: (guard) => row.when.includes(guard),
          reference,
          changes: () => ({ facts: { ...factsAfter(row, state), ...learnedFrom(row, operation, reference, state) } }),
          outcome: ({ status }) => status,
        },
        now,
      )
      return { ...decision, ...effectsOf(row, operation, reference, state) }
    },
  }
  return engine.execute(ifAffordable(step))
}

function newOperation(id: string, kind: Kind, status: Operation['status']): Operation {
  const feeCents = kind === 'refund_in' ? 0n : FEE
  return operationAs({ id, kind, externalId: id, status, version: 0, valueCents: VALUE, feeCents })
}

/** The conditions that the machine leaves to the modules: why there is a doubt, and whether there is a hold. */
function applies({ from, because, posts, isIgnored }: MachineRow, operation: Operation): boolean {
  const { status, facts } = operation
  const reason = reasonOf(operation)
  if (from !== status || (because !== '*' && because !== reason) || isIgnored) return false
  if (posts === 'arrival_returned') return arrivedIn(operation) !== undefined
  if (posts === 'return_held') return heldOf(facts) === undefined && reason !== 'no_answer'
  if (posts === 'return_known') return heldOf(facts) !== undefined
  const change = posts ? reservedChange(posts) : undefined
  return change === undefined || (change === 'frees' ? !facts.isFree : facts.isFree === true && !facts.isLate)
}

function factsAfter({ posts }: MachineRow, state: State) {
  return {
    ...(posts === 'return_held' ? { returns: { any: { state: 'in_doubt', heldCents: Number(takenOf(state)) } } } : {}),
    ...(posts === 'return_known' ? { returns: {} } : {}),
    ...(posts && posts !== 'return_known' && reservedChange(posts) === 'frees' ? { isFree: true } : {}),
    ...(posts === 'left_after_release' ? { isLate: true } : {}),
  }
}

function reservedChange(kind: JournalKind): 'holds' | 'frees' | undefined {
  const amount = journals[kind].postings.find(({ account }) => account === 'reserved')?.amount
  return amount && (Object.values(amount).every((sign) => sign < 0) ? 'frees' : 'holds')
}

/** What a row posts and emits. A release is told as a failure; only returns are told more than once. */
function effectsOf(row: MachineRow, operation: Operation, reference: string, state: State) {
  const { posts, emits, to } = row
  const status = to === 'RELEASED' ? 'FAILED' : to
  const told = { operationId: operation.id, status, reference: to === 'REVERSED' ? reference : '' }
  return {
    journals: posts ? [journalOf(posts, operation, reference, state)] : [],
    notifications: emits ? [{ ...told, eventType: emits, body: Buffer.from('{}') }] : [],
    exact: ['available', 'reserved'],
  } as const satisfies Partial<Decision<unknown>>
}

function journalOf(kind: JournalKind, operation: Operation, reference: string, state: State): Journal {
  const { valueCents: v, feeCents: f, id: operationId, facts } = operation
  const taken = takenOf(state)
  const held = kind === 'return_known' ? BigInt(heldOf(facts) ?? 0) : taken
  const isMovement = (journals[kind] as JournalTemplate).movement !== undefined
  const journal = { operationId, kind, reference: isMovement ? movementIdOf(operationId, reference) : reference }
  return { ...journal, amounts: { v, f, r: v, s: 0n, p: STATED, w: 10n, d: taken, h: held } }
}

/** What there is of an operation's value. */
export function takenOf(state: State): bigint {
  return min(state.balance('available'), VALUE)
}

/** What is held of a return that is not explained, centavos. */
function heldOf(facts: Document): number | undefined {
  const { any } = (facts.returns ?? {}) as { readonly any?: { readonly heldCents: number } }
  return any?.heldCents
}

/** What a step may move at the bank: a movement of its own, either way. */
export function movementsOf(operationId: string, reference: string): MovementId[] {
  const id = movementIdOf(operationId, reference)
  return [
    { direction: 'in', id },
    { direction: 'out', id },
  ]
}

export function movementIdOf(operationId: string, reference: string): string {
  return `${operationId} ${reference}`
}

/** A command that does nothing where there is no money for it. */
export function ifAffordable(command: Command<string | undefined>): Command<string | undefined> {
  return {
    ...command,
    decide: (state, now) => {
      const decision = command.decide(state, now)
      const isAffordable = (decision.journals ?? []).every((journal) => canBear(state, 'available', journal))
      return isAffordable ? decision : { outcome: undefined }
    },
  }
}

function canBear(state: State, account: AccountCode, { kind, amounts }: Journal): boolean {
  const terms = journals[kind].postings
    .filter((posting) => posting.account === account)
    .flatMap(({ amount }) => Object.entries(amount) as [Variable, 1 | -1][])
  const change = terms.reduce((sum, [variable, sign]) => sum + BigInt(sign) * (amounts[variable] ?? 0n), 0n)
  return state.balance(account) + change >= 0n
}

function isDecision({ on, rule }: MachineRow): boolean {
  return (on.startsWith('operator.') || on === 'doubt.decided') && rule.includes('.cases.')
}
