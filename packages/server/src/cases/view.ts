import {
  type AccountCode,
  caseKind,
  type getCase,
  type JournalKind,
  type JournalTemplate,
  journals,
  type listCases,
  maskReported,
} from '@pixgate/spec'
import type { Static } from 'typebox'
import type { Operation } from '../engine/operation.ts'
import type { CaseOption } from './case.ts'
import type { Deciders } from './decide.ts'
import { pendingProposals, type Standing, whySecondPerson } from './second-person.ts'
import {
  type CaseRow,
  type EntryRow,
  type MoveRow,
  type OperationHistory,
  type OtherCase,
  SHOWN_MAX,
  type StoredStep,
  type WholeCase,
} from './store.ts'
import { atStakeCents, type EventSubject, optionsOf, type ReadCase } from './without-operation.ts'

/** Views of cases: in lists, and complete with options, steps and the timeline of the operation. Pure. */

type View = Static<(typeof getCase)['responses'][200]['schema']>
type Timeline = NonNullable<View['timeline']>

export type CaseSummary = Static<(typeof listCases)['responses'][200]['schema']>['data'][number]

/** @source rules#cases.30 */
export function summaryOf(row: CaseRow): CaseSummary {
  const { id, kind, reference, amountCents, openedAt, closedAt, operationId, operationKind, status, externalId } = row
  return {
    id,
    kind,
    state: closedAt === null ? 'open' : 'closed',
    meaning: caseKind(kind)?.meaning ?? UNKNOWN,
    reference,
    amountCents: amountCents === null ? null : Number(amountCents),
    operation:
      operationId === null || operationKind === null
        ? null
        : {
            id: operationId,
            kind: operationKind as NonNullable<CaseSummary['operation']>['kind'],
            status: status ?? '',
            externalId: externalId ?? '',
          },
    openedAt: new Date(openedAt).toISOString(),
    closedAt: closedAt === null ? null : new Date(closedAt).toISOString(),
  }
}

/** A newer version running concurrently may know more kinds. */
const UNKNOWN = 'This version does not know this kind of case; its facts have the report.'

function summaryOfOther(other: OtherCase): CaseSummary {
  const { amountCents, openedAt, closedAt } = other
  return summaryOf({
    ...other,
    amountCents: amountCents === null ? null : BigInt(amountCents),
    openedAt: Date.parse(openedAt),
    closedAt: closedAt === null ? null : Date.parse(closedAt),
  })
}

/**
 * Decisions that the table has for a case, and why some are impossible now. The dry run shows their effects.
 * @source rules#cases.34
 */
export function optionsByTable(
  whole: WholeCase,
  operation: Operation,
  deciders: Deciders,
  nowMs: number,
  approvalFromCents: number,
): View['options'] {
  const decider = deciders[operation.kind]
  if (!decider || whole.closedAt !== null) return []
  return decider.options(operation, whole, nowMs).map((option) => {
    // A closing decision counts the case's amount; others at least that, or the operation's.
    const cents = option.decision === 'close' ? whole.amountCents : (whole.amountCents ?? operation.valueCents)
    return optionView(option, option.decision === 'ask_again' ? 0n : cents, approvalFromCents)
  })
}

/** @source rules#cases.50 */
export function optionsWithoutOperation(read: ReadCase, approvalFromCents: number): View['options'] {
  return optionsOf(read).map((option) => optionView(option, atStakeCents(read, option.decision), approvalFromCents))
}

function optionView(
  { decision, meaning, needs, maxCents, isOffered, whyNot }: CaseOption,
  cents: bigint | null,
  approvalFromCents: number,
): View['options'][number] {
  const amountCents = cents === null ? null : Number(cents)
  const needsSecondPerson = whySecondPerson(decision, amountCents, approvalFromCents) !== null
  const most = maxCents === undefined ? null : Number(maxCents)
  return { decision, meaning, needs: [...needs], maxCents: most, isOffered, whyNot: [...whyNot], needsSecondPerson }
}

/** @source rules#cases.38, rules#cases.42 */
export function stepViews(steps: readonly StoredStep[], standing: Standing): View['steps'] {
  const pending = pendingProposals(steps, standing)
  return steps.map((step) => ({
    id: step.id,
    step: step.step,
    proposalId: step.proposalId,
    by: { id: step.operatorId, name: step.operatorName },
    order: step.content,
    amountCents: Number(step.amountCents),
    isOpen: pending.get(step.id) === null,
    whyVoid: pending.get(step.id) ?? null,
    at: new Date(step.at).toISOString(),
  }))
}

/** The event of a case, with its bytes. @source rules#cases.57 */
export function eventView(event: EventSubject): View['event'] {
  const { inboxId: id, ordinal, endpoint, state, outcome, body, receivedAt } = event
  const bytes = body === null ? null : body.toString('base64')
  return { id, ordinal, endpoint, state, outcome, body: bytes, receivedAt: new Date(receivedAt).toISOString() }
}

/** `null` for a case without an operation. @source rules#cases.32, rules#cases.33 */
export function timelineOf(whole: OperationHistory): Timeline | null {
  if (whole.operationKind === null) return null
  const { moves, events, entries, notifications, others } = whole
  const lists = { moves, events, entries, notifications, otherCases: others }
  const shown = <Row>(rows: readonly Row[]) => rows.slice(0, SHOWN_MAX)
  return {
    request: requestOf(whole),
    moves: shown(moves).map(({ facts, evidence, ...move }) => ({
      ...move,
      facts: withoutDocuments(facts),
      evidence: withoutDocuments(evidence),
      at: instantOf(move.at),
    })),
    calls: callsOf(shown(moves)),
    events: shown(events).map((event) => ({ ...event, receivedAt: instantOf(event.receivedAt) })),
    journals: journalsOf(shown(entries), whole.operationId ?? ''),
    notifications: shown(notifications).map(({ deliveries, createdAt, ...notification }) => ({
      ...notification,
      createdAt: instantOf(createdAt),
      deliveries: deliveries.map(({ finishedAt, ...delivery }) => ({
        ...delivery,
        finishedAt: finishedAt === null ? null : instantOf(finishedAt),
      })),
    })),
    otherCases: shown(others).map(summaryOfOther),
    truncated: Object.entries(lists).flatMap(([name, rows]) => (rows.length > SHOWN_MAX ? [name] : [])),
  }
}

/** Documents of persons are masked as everywhere; the bank's bytes stay as they are. @source rules#documents.2 */
function withoutDocuments<Of>(value: Of): Of {
  return JSON.parse(
    JSON.stringify(value, (name, one) =>
      /document$/i.test(name) && typeof one === 'string' ? maskReported(one) : one,
    ),
  )
}

function requestOf({
  valueCents,
  feeCents,
  correlationId,
  detail,
  madeBy,
  createdAt,
}: OperationHistory): Timeline['request'] {
  return {
    valueCents: Number(valueCents),
    feeCents: Number(feeCents),
    correlationId: correlationId ?? '',
    apiKeyId: madeBy?.caller ?? null,
    address: madeBy?.address ?? null,
    detail: withoutDocuments(detail),
    createdAt: new Date(createdAt ?? 0).toISOString(),
  }
}

/** Triggers from calls to the bank, or from its reports. */
const OF_THE_BANK = /^(?:send|charge|partner|return|refund)\./

/** Triggers about money that moved or did not move. */
const OF_MONEY = /^(?:partner|return)\.|\.(?:confirmed|taken|rejected|contradicted)$/

/** Lists calls that concern money or contradict; counts the others. */
function callsOf(moves: readonly MoveRow[]): Timeline['calls'] {
  const ofTheBank = moves.filter(({ trigger }) => OF_THE_BANK.test(trigger))
  const isStated = ({ trigger, evidence }: MoveRow) => evidence !== null || OF_MONEY.test(trigger)
  const counted = Map.groupBy(
    ofTheBank.filter((move) => !isStated(move)),
    ({ trigger }) => trigger,
  )
  return {
    stated: ofTheBank.filter(isStated).map(({ version }) => version),
    counted: [...counted].map(([trigger, { length: count }]) => ({ trigger, count })),
  }
}

function journalsOf(entries: readonly EntryRow[], operationId: string): Timeline['journals'] {
  const grouped = Map.groupBy(entries, ({ journal, reference, at }) => `${at} ${journal} ${reference}`)
  return [...grouped.values()].flatMap((postings) => {
    const [first] = postings
    if (!first) return []
    const { journal, reference, at } = first
    const template: JournalTemplate | undefined = journals[journal as JournalKind]
    return {
      operationId,
      journal,
      meaning: template?.meaning ?? null,
      reference,
      entries: postings.map(({ account, amountCents, balanceAfterCents }) => ({
        account: account as AccountCode,
        amountCents,
        balanceAfterCents,
      })),
      at: instantOf(at),
    }
  })
}

function instantOf(text: string): string {
  return new Date(text).toISOString()
}
