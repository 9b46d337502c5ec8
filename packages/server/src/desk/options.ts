import { type DeskDecision, type getCase, type LooseDecision, Refusal } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { Command, Operation, OperationKind } from '../engine/operation.ts'
import { createReader } from '../engine/reader.ts'
import type { Rehearse } from '../engine/rehearsal.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { CaseDecider, DecidableCase, DeskOption, DeskOrder, DeskOutcome } from './decider.ts'
import { countedOf, type Weighed, weigh } from './effects.ts'
import type { LooseDesk, PreparedLoose, ReadCase } from './loose/index.ts'
import { whySecondPerson } from './second-person.ts'
import type { WholeCase } from './store.ts'

/** What can be decided about a case here and now, and what each decision would do. */

type View = Static<(typeof getCase)['responses'][200]['schema']>
type OptionView = View['options'][number]

/** Who decides the cases of each kind of operation. */
export type Deciders = Partial<Readonly<Record<OperationKind, CaseDecider>>>

/** What decisions are rehearsed with. */
export interface OptionsNeeds {
  readonly database: Database
  readonly deciders: Deciders
  readonly rehearse: Rehearse
  readonly clock: Clock
  readonly looseDesk: LooseDesk
  /** From which amount on it takes two people, centavos. */
  readonly approvalFromCents: number
}

/** The operation of a case as it stands, with its open cases; `undefined` where it has none. */
export async function operationOf(
  database: Database,
  { operationId }: Pick<WholeCase, 'operationId'>,
): Promise<Operation | undefined> {
  return operationId === null ? undefined : (await createReader(database).operations([operationId]))[0]
}

/**
 * The decisions that the table has for a case, each with what it would do to the money, and why one cannot be made now.
 * @source rules#desk.34
 */
export async function optionsOf(
  whole: WholeCase,
  operation: Operation | undefined,
  { deciders, rehearse, clock, approvalFromCents }: OptionsNeeds,
): Promise<OptionView[]> {
  const decider = operation && deciders[operation.kind]
  if (!operation || !decider || whole.closedAt !== null) return []
  const { id, kind, reference, facts } = whole
  const openCase: DecidableCase = { id, kind, reference, facts: facts as DecidableCase['facts'] }
  const views: OptionView[] = []
  for (const option of decider.options(operation, openCase, clock.now())) {
    const counted = countedOf(option.decision, whole.amountCents)
    const weighed = async () =>
      weigh(await rehearse(commandOf(decider, operation, openCase, orderOf(option, id))), undefined, counted)
    views.push(await viewOf({ ...option, needs: [...option.needs] }, weighed, approvalFromCents))
  }
  return views
}

/** The same for a case of no operation. @source rules#desk.50 */
export async function looseOptionsOf(
  read: ReadCase,
  { looseDesk, rehearse, approvalFromCents }: Pick<OptionsNeeds, 'looseDesk' | 'rehearse' | 'approvalFromCents'>,
): Promise<OptionView[]> {
  const views: OptionView[] = []
  for (const { decision, says, needs } of looseDesk.options(read)) {
    const option = { decision, says, needs, isOffered: true, because: [] }
    // Where evidence is asked for, whatever it is changes nothing of what is done.
    const order = { decision, operator: '', evidence: { reference: 'any' } }
    const weighed = async () => weighedAsThingsAre(rehearse, await looseDesk.prepare(read, order))
    views.push(await viewOf({ ...option, needs: [...option.needs] }, weighed, approvalFromCents))
  }
  return views
}

/** What a decision would do as things are, with what an operation does of it afterwards. @source rules#desk.34 */
export async function weighedAsThingsAre(
  rehearse: Rehearse,
  { looks, decide, later, ...counted }: PreparedLoose,
): Promise<Weighed> {
  const own = await rehearse({ ...looks, decide })
  return weigh(own, later && (await rehearse(later)), counted)
}

/** A decision, whatever the case is of. */
type Option = Omit<DeskOption, 'decision' | 'needs'> & {
  readonly decision: DeskDecision | LooseDecision
  readonly needs: OptionView['needs']
}

async function viewOf(
  option: Option,
  weighedNow: () => Promise<Weighed>,
  approvalFromCents: number,
): Promise<OptionView> {
  const { decision, says: meaning, needs, isOffered, because } = option
  const view = {
    decision,
    meaning,
    needs: [...needs],
    isOffered,
    whyNot: [...because],
    needsSecondPerson: null,
    whySecondPerson: null,
    effects: null,
  }
  if (!isOffered || needs.length > 0) return view
  try {
    const { effects, amountCents } = await weighedNow()
    const why = whySecondPerson(decision, amountCents, approvalFromCents)
    return { ...view, needsSecondPerson: why !== null, whySecondPerson: why, effects }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { ...view, isOffered: false, whyNot: [error.message] }
  }
}

function orderOf({ decision }: DeskOption, caseId: string): DeskOrder {
  return { decision, caseId, operator: '', approver: null, reason: '', evidence: {} }
}

/** What a decision is as a command. */
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
