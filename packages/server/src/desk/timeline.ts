import { type AccountCode, type getCase, type JournalKind, type JournalTemplate, journals } from '@pixgate/spec'
import type { Static } from 'typebox'
import { type EntryRow, type MoveRow, SHOWN_MAX, type WholeCase } from './store.ts'
import { summaryOfOther } from './summary.ts'

/** All that is known of an operation, in its order. Pure. */

type View = Static<(typeof getCase)['responses'][200]['schema']>
type Timeline = NonNullable<View['timeline']>

/** The timeline of a case's operation; `null` where it is about none. @source rules#desk.32, rules#desk.33 */
export function timelineOf(whole: WholeCase): Timeline | null {
  if (whole.operationKind === null) return null
  const { moves, events, entries, notifications, others } = whole
  const lists = { moves, events, entries, notifications, otherCases: others }
  const shown = <Row>(rows: readonly Row[]) => rows.slice(0, SHOWN_MAX)
  return {
    request: requestOf(whole),
    moves: shown(moves).map((move) => ({ ...move, at: instantOf(move.at) })),
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

function requestOf({ valueCents, feeCents, correlationId, detail, madeBy, createdAt }: WholeCase): Timeline['request'] {
  return {
    valueCents: Number(valueCents),
    feeCents: Number(feeCents),
    correlationId: correlationId ?? '',
    apiKeyId: madeBy?.caller ?? null,
    address: madeBy?.address ?? null,
    detail,
    createdAt: new Date(createdAt ?? 0).toISOString(),
  }
}

/** What begins so came from a call to the bank, or from what the bank reported. */
const OF_THE_BANK = /^(?:send|charge|partner|return|refund)\./

/** What begins so states money that moved, or is said not to have. */
const OF_MONEY = /^(?:partner|return)\.|\.(?:confirmed|taken|rejected|contradicted)$/

/** Those that state money or contradict, by their moves; the others are counted. */
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

/** Postings, by the journals they are of. */
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

/** The instant that JSON of the database has, as an answer shows it. */
function instantOf(text: string): string {
  return new Date(text).toISOString()
}
