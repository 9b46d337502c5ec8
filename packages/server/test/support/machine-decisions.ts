import { type CaseDecision, type JournalKind, type JournalTemplate, journals, min } from '@pixgate/spec'
import { endedBy, isKeptInDoubt, optionsBy, orderedBy } from '../../src/cases/by-table.ts'
import type { DecisionInput } from '../../src/cases/case.ts'
import type { Command, Document, OpenCase, Operation, State } from '../../src/engine/operation.ts'
import type { TestEngine } from './engine.ts'
import {
  ifAffordable,
  type Kind,
  MACHINES,
  movementIdOf,
  movementsOf,
  STATED,
  takenOf,
  VALUE,
} from './machine-operations.ts'

/**
 * Decisions of operators about operations that are led through their tables without their modules: what a condition means is
 * read from what the walk has posted.
 */

/** What the walk knows of an operation. */
interface Walked {
  /** Centavos in suspense, by the reference of their case: positive as arrived, negative as left. */
  readonly suspended?: Readonly<Record<string, number>>
  /** Its money moved as it was asked for. */
  readonly isConfirmed?: boolean
  readonly isBack?: boolean
  /** What was set aside is free again. */
  readonly isFree?: boolean
  /** What is held again, centavos. */
  readonly heldAgain?: number
  /** It was told to the merchant. */
  readonly isFailureNotified?: boolean
}

type Template = JournalTemplate | undefined

const CONFIRMING: ReadonlySet<string> = new Set(['cash_in_paid', 'cash_out_confirmed', 'payout_left_in_suspense'])

/** A payment that is in suspense, which the bank may give back: the reference of its case. */
export function arrivedIn({ facts }: Operation): string | undefined {
  return Object.entries((facts as Walked).suspended ?? {}).find(([, cents]) => cents > 0)?.[0]
}

/** What a move teaches that decisions look at. */
export function learnedFrom(
  { posts, emits, to }: { readonly posts?: JournalKind; readonly emits?: string; readonly to: string },
  operation: Operation,
  reference: string,
  state: State,
): Document {
  const before = operation.facts as Walked
  const arrived = arrivedIn(operation)
  if (posts === 'arrival_returned' && arrived !== undefined) return { suspended: { ...before.suspended, [arrived]: 0 } }
  const template: Template = posts && journals[posts]
  const cents = posts === 'left_after_release' ? VALUE : STATED
  const change = template?.postings.flatMap(({ account, amount }) => {
    const isIn = account === 'suspense_in'
    const isGrowing = Object.values(amount).every((sign) => (isIn ? sign > 0 : sign < 0))
    return (isIn || account === 'suspense_out') && isGrowing ? [isIn ? cents : -cents] : []
  })[0]
  return {
    ...(change === undefined || posts === 'return_held'
      ? {}
      : { suspended: { ...before.suspended, [reference]: Number(change) } }),
    ...(posts && CONFIRMING.has(posts) ? { isConfirmed: true } : {}),
    ...(posts === 'cash_out_returned' ? { isBack: true } : {}),
    ...(posts === 'left_after_release' ? { heldAgain: Number(takenOf(state)) } : {}),
    ...(emits && (to === 'FAILED' || to === 'RELEASED') ? { isFailureNotified: true } : {}),
  }
}

/**
 * Decides one of the open cases of an operation, as its table has it.
 * @param choose picks among what may be decided; `undefined`: nothing, and nothing happens
 * @param reference tells what the operator names apart from what others name
 * @returns the state afterwards
 */
export function decideOperation(
  { engine }: TestEngine,
  id: string,
  choose: <Offer>(offered: readonly Offer[]) => Offer | undefined,
  reference: string,
): Promise<string | undefined> {
  const command: Command<string | undefined> = {
    reads: [id],
    movements: movementsOf(id, reference),
    decide: (state, now) => {
      const operation = state.operation(id)
      if (!operation) throw new Error(`there is no operation ${id}`)
      const offer = choose(offersOf(operation))
      return offer ? decided(operation, offer, reference, state, now) : { outcome: undefined }
    },
  }
  return engine.execute(ifAffordable(command))
}

interface Offer {
  readonly openCase: OpenCase
  readonly decision: CaseDecision
}

/** A payment that is meant for another charge would need one, and one that goes back a refund. */
function offersOf(operation: Operation): Offer[] {
  const machine = MACHINES[operation.kind as Kind]
  return (operation.openCases ?? []).flatMap((openCase) =>
    optionsBy(
      machine,
      operation,
      { ...openCase, facts: {} },
      (guard) => holds(operation, openCase, guard),
      () => [],
    )
      .filter(
        ({ isOffered, decision }) =>
          isOffered && decision !== 'return_to_payer' && !(decision === 'book' && operation.kind === 'cash_in'),
      )
      .map(({ decision }) => ({ openCase, decision })),
  )
}

function holds(operation: Operation, openCase: OpenCase, guard: string): boolean {
  const { suspended = {}, isConfirmed, isBack, isFree, heldAgain = 0, isFailureNotified } = operation.facts as Walked
  const cents = suspended[openCase.reference] ?? 0
  const known: Readonly<Record<string, boolean>> = {
    'another case is open': isKeptInDoubt(MACHINES[operation.kind as Kind], operation, openCase.id),
    'money that arrived is in suspense': cents > 0,
    'money that left is in suspense': cents < 0,
    'money of it is in suspense': Object.values(suspended).some((it) => it < 0),
    'it is confirmed': isConfirmed === true,
    'a payment is credited': isConfirmed === true,
    'a payment was credited': isConfirmed === true,
    'it came back': isBack === true,
    'the reservation was given back': isFree === true && heldAgain === 0,
    'its failure is known': isFailureNotified === true,
  }
  return known[guard] ?? false
}

/** What a decision tells that may leave the operation in doubt. */
const STATUSES: Readonly<Record<string, string>> = {
  'cash_in accept': 'PAID',
  'cash_out executed': 'CONFIRMED',
  'cash_out not_executed': 'FAILED',
  'cash_out book': 'REVERSED',
}

const EVENTS = { cash_in: 'pix_cash_in', cash_out: 'pix_cash_out', refund_in: 'pix_cash_in_reversal' } as const

function decided(operation: Operation, { openCase, decision }: Offer, reference: string, state: State, now: number) {
  const kind = operation.kind as Kind
  const machine = MACHINES[kind]
  const { suspended = {} } = operation.facts as Walked
  const cents = suspended[openCase.reference] ?? 0
  const isNamed = decision === 'executed' && cents === 0
  const stepFor = (of: Operation, isEnd: boolean) => ({
    holds: (guard: string) => holds(of, openCase, guard),
    changes: ({ posts, to }: { readonly posts?: JournalKind; readonly to: string }) => ({
      facts: isEnd ? endOf(to) : factsAfterDecision(posts, decision, of, openCase),
    }),
    notification: (to: string) => ({
      eventType: kind === 'cash_out' && decision === 'book' ? ('pix_cash_out_reversal' as const) : EVENTS[kind],
      status: isEnd ? to : (STATUSES[`${kind} ${decision}`] ?? to),
      reference: kind === 'cash_out' && decision === 'book' ? openCase.reference : '',
      event: {},
    }),
  })
  const order: DecisionInput = {
    ...{
      decision,
      caseId: openCase.id,
      operatorId: 'Ana',
      approverId: null,
      reason: 'the walk',
      evidence: {},
      newId: '',
    },
  }
  const facing = { ...openCase, facts: {} }
  const step = {
    ...stepFor(operation, false),
    amounts: amountsOf(operation, openCase, decision, state),
    reference: isNamed ? movementIdOf(operation.id, reference) : openCase.reference,
  }
  const first = orderedBy(machine as never, operation as never, facing, order, step as never, now)
  const last = endedBy(machine as never, facing, first, (after: Operation) => stepFor(after, true) as never, now)
  const notifications = last.notifications?.map((one) => ({ ...one, body: Buffer.from('{}') })) ?? []
  const outcome = (last.outcome as Operation).status
  return { ...last, notifications, exact: ['available', 'reserved'] as const, outcome }
}

function endOf(to: string): Document {
  return to === 'FAILED' ? { isFailureNotified: true } : {}
}

function factsAfterDecision(
  posts: JournalKind | undefined,
  decision: CaseDecision,
  { facts }: Operation,
  { kind, reference }: OpenCase,
): Document {
  if (posts === undefined) return {}
  const { suspended } = facts as Walked
  const isUnheld = journals[posts].postings.some(({ account }) => account === 'reserved')
  const isEnd = decision === 'executed' || decision === 'not_executed'
  return {
    ...(suspended?.[reference] === undefined ? {} : { suspended: { ...suspended, [reference]: 0 } }),
    ...(isUnheld && isEnd ? { isFree: true } : {}),
    ...(isUnheld && (isEnd || kind === 'debit_in_suspense') ? { heldAgain: 0 } : {}),
    ...(CONFIRMING.has(posts) || posts === 'suspense_credited' ? { isConfirmed: true } : {}),
    ...(posts === 'payout_return_credited' ? { isBack: true } : {}),
    ...(decision === 'not_executed' ? { isFailureNotified: true } : {}),
  }
}

function amountsOf(operation: Operation, openCase: OpenCase, decision: CaseDecision, state: State) {
  const { suspended = {}, isFree, heldAgain = 0 } = operation.facts as Walked
  const { valueCents: v, feeCents: f } = operation
  const stated = BigInt(Math.abs(suspended[openCase.reference] ?? 0))
  const isAgain = decision === 'executed' || openCase.kind === 'debit_in_suspense'
  const h = decision === 'executed' && !isFree ? v + f : isAgain ? BigInt(heldAgain) : 0n
  const there = state.balance('available') + (decision === 'executed' ? h : 0n)
  const d = min(there, stated)
  const fee = operation.kind === 'cash_in' ? min(f, stated) : f
  return {
    v,
    f: fee,
    r: operation.kind === 'refund_in' ? v : stated,
    s: 0n,
    p: stated,
    w: stated,
    h,
    d,
    g: min(there - d, f),
  }
}
