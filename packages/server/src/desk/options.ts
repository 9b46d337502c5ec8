import { type DeskDecision, type getCase, type JournalKind, journals, type LooseDecision, Refusal } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { Command, Operation, OperationKind } from '../engine/operation.ts'
import type { Entry } from '../engine/postings.ts'
import { createReader } from '../engine/reader.ts'
import { changesOf, type Rehearsal, type Rehearse } from '../engine/rehearsal.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { CaseDecider, DecidableCase, DeskOption, DeskOrder, DeskOutcome } from './decider.ts'
import type { LooseDesk, ReadCase } from './loose/index.ts'
import type { WholeCase } from './store.ts'

/** What can be decided about a case here and now, and what each decision would do. */

type View = Static<(typeof getCase)['responses'][200]['schema']>
type OptionView = View['options'][number]
type Effects = NonNullable<OptionView['effects']>

/** Who decides the cases of each kind of operation. */
export type Deciders = Partial<Readonly<Record<OperationKind, CaseDecider>>>

/** What decisions are rehearsed with. */
export interface OptionsNeeds {
  readonly database: Database
  readonly deciders: Deciders
  readonly rehearse: Rehearse
  readonly clock: Clock
  readonly looseDesk: LooseDesk
}

/** The operation of a case as it stands, with its open cases; `undefined` where it has none. */
export async function operationOf(database: Database, { operationId }: WholeCase): Promise<Operation | undefined> {
  return operationId === null ? undefined : (await createReader(database).operations([operationId]))[0]
}

/**
 * The decisions that the table has for a case, each with what it would do to the money, and why one cannot be made now.
 * @source rules#desk.34
 */
export async function optionsOf(
  whole: WholeCase,
  operation: Operation | undefined,
  { deciders, rehearse, clock }: OptionsNeeds,
): Promise<OptionView[]> {
  const decider = operation && deciders[operation.kind]
  if (!operation || !decider || whole.closedAt !== null) return []
  const { id, kind, reference, facts } = whole
  const openCase: DecidableCase = { id, kind, reference, facts: facts as DecidableCase['facts'] }
  const views: OptionView[] = []
  for (const option of decider.options(operation, openCase, clock.now())) {
    views.push(await viewOf(option, () => rehearse(commandOf(decider, operation, openCase, orderOf(option, id)))))
  }
  return views
}

/** The same for a case of no operation. @source rules#desk.50 */
export async function looseOptionsOf(
  read: ReadCase,
  { looseDesk, rehearse }: Pick<OptionsNeeds, 'looseDesk' | 'rehearse'>,
): Promise<OptionView[]> {
  const views: OptionView[] = []
  for (const { decision, says } of looseDesk.options(read)) {
    const needs = decision === 'attribute' ? (['attributeTo'] as const) : []
    const option = { decision, says, needs, isOffered: true, because: [] }
    const command = looseDesk.command(read, decision)
    views.push(await viewOf(option, command && (() => rehearse(command))))
  }
  return views
}

/** A decision, whatever the case is of. */
type Option = Omit<DeskOption, 'decision'> & { readonly decision: DeskDecision | LooseDecision }

/** @param rehearsed what it would do; absent: nobody knows before it is done */
async function viewOf(option: Option, rehearsed: (() => Promise<Rehearsal>) | undefined): Promise<OptionView> {
  const { decision, says: meaning, needs, isOffered, because } = option
  const view = { decision, meaning, needs: [...needs], isOffered, whyNot: [...because], effects: null }
  if (!isOffered || needs.length > 0 || !rehearsed) return view
  try {
    return { ...view, effects: effectsOf(await rehearsed()) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { ...view, isOffered: false, whyNot: [error.message] }
  }
}

function orderOf({ decision }: DeskOption, caseId: string): DeskOrder {
  return { decision, caseId, operator: '', approver: null, reason: '', evidence: {} }
}

function commandOf(
  decider: CaseDecider,
  operation: Operation,
  openCase: DecidableCase,
  order: DeskOrder,
): Command<DeskOutcome> {
  return {
    ...decider.looks(operation, openCase, order),
    decide: (state, now) => decider.decide(state.operation(operation.id) ?? operation, openCase, order, state, now),
  }
}

/** What a decision does, as its operator reads it. The debts that it repays are no part of its amount. */
function effectsOf({ entries, moves, notifications, opens, closes }: Rehearsal): Effects {
  const own = entries.filter(({ journal }) => journal !== 'debt_recovered')
  const magnitudes = [...changesOf(own).values()].map((cents) => (cents < 0n ? -cents : cents))
  const changed = [...changesOf(entries)].filter(([, cents]) => cents !== 0n)
  return {
    amountCents: Number(magnitudes.reduce((most, cents) => (cents > most ? cents : most), 0n)),
    accounts: changed.map(([account, cents]) => ({ account, changeCents: Number(cents) })),
    journals: journalsOf(entries),
    operations: moves.map(({ id, from, to }) => ({ id, statusBefore: from, statusAfter: to })),
    notifications: notifications.map(({ operationId, eventType, status }) => ({ operationId, eventType, status })),
    closes: [...closes],
    opens: opens.map(({ kind, reference }) => ({ kind, reference })),
  }
}

function journalsOf(entries: readonly Entry[]): Effects['journals'] {
  const grouped = Map.groupBy(
    entries,
    ({ operationId, journal, reference }) => `${operationId} ${journal} ${reference}`,
  )
  return [...grouped.values()].flatMap((postings) => {
    const [first] = postings
    if (!first) return []
    const { operationId, journal, reference } = first
    const ordered = postings.toSorted((one, other) => one.posting - other.posting)
    return {
      operationId,
      journal,
      meaning: journals[journal as JournalKind].meaning,
      reference,
      postings: ordered.map(({ account, amountCents }) => ({ account, amountCents: Number(amountCents) })),
    }
  })
}
