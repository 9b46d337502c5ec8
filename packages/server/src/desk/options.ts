import type { DeskDecision, getCase, LooseDecision } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { Operation, OperationKind } from '../engine/operation.ts'
import { createReader } from '../engine/reader.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { CaseDecider, DecidableCase, DeskOption } from './decider.ts'
import { type LooseDesk, looseCents, type ReadCase } from './loose/index.ts'
import { whySecondPerson } from './second-person.ts'
import type { WholeCase } from './store.ts'

/** What can be decided about a case here and now. What a decision would do its dry run tells. */

type View = Static<(typeof getCase)['responses'][200]['schema']>
type OptionView = View['options'][number]

/** Who decides the cases of each kind of operation. */
export type Deciders = Partial<Readonly<Record<OperationKind, CaseDecider>>>

/** What is asked for what can be decided. */
export interface OptionsNeeds {
  readonly database: Database
  readonly deciders: Deciders
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
 * The decisions that the table has for a case, and why one cannot be made now.
 * @source rules#desk.34
 */
export function optionsOf(
  whole: WholeCase,
  operation: Operation | undefined,
  { deciders, clock, approvalFromCents }: Pick<OptionsNeeds, 'deciders' | 'clock' | 'approvalFromCents'>,
): OptionView[] {
  const decider = operation && deciders[operation.kind]
  if (!operation || !decider || whole.closedAt !== null) return []
  const { id, kind, reference, facts, amountCents } = whole
  const told = facts as DecidableCase['facts']
  const openCase: DecidableCase = { id, kind, reference, rule: String(told.rule ?? ''), facts: told }
  return decider.options(operation, openCase, clock.now()).map((option) => {
    // What is closed counts with what was told of it; what books something with no more than that, or its operation.
    const cents = option.decision === 'close' ? amountCents : (amountCents ?? operation.valueCents)
    return viewOf(option, option.decision === 'ask_again' ? 0n : cents, approvalFromCents)
  })
}

/** The same for a case of no operation. @source rules#desk.50 */
export function looseOptionsOf(
  read: ReadCase,
  { looseDesk, approvalFromCents }: Pick<OptionsNeeds, 'looseDesk' | 'approvalFromCents'>,
): OptionView[] {
  return looseDesk
    .options(read)
    .map((option) =>
      viewOf({ ...option, isOffered: true, because: [] }, looseCents(read, option.decision), approvalFromCents),
    )
}

/** A decision, whatever the case is of. */
type Option = Omit<DeskOption, 'decision' | 'needs'> & {
  readonly decision: DeskDecision | LooseDecision
  readonly needs: readonly OptionView['needs'][number][]
}

function viewOf(
  { decision, says: meaning, needs, maxCents, isOffered, because }: Option,
  cents: bigint | null,
  approvalFromCents: number,
): OptionView {
  const amountCents = cents === null ? null : Number(cents)
  const needsSecondPerson = whySecondPerson(decision, amountCents, approvalFromCents) !== null
  const most = maxCents === undefined ? null : Number(maxCents)
  return { decision, meaning, needs: [...needs], maxCents: most, isOffered, whyNot: [...because], needsSecondPerson }
}
