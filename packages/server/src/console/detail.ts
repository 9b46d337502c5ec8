import { type endpoints, type getOperation, Refusal, type Row } from '@pixgate/spec'
import type { Static } from 'typebox'
import { type MoveRow, type OperationHistory, readHistory } from '../cases/store.ts'
import { timelineOf } from '../cases/view.ts'
import {
  type CashIn,
  chargeView,
  isCancelRequested,
  isCashIn,
  isOver,
  isWanted,
  refundableCents,
} from '../cash-in/index.ts'
import { reasonOf } from '../engine/follow.ts'
import type { Document, Operation } from '../engine/operation.ts'
import { type Queries, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { instantText } from '../platform/http/page.ts'
import { isUuid } from '../platform/ids.ts'
import { whyNotRefundable } from '../refund-in/index.ts'
import { chargesOf, type ListNeeds, MACHINES, readOperation, summaryOf } from './operations.ts'

/** One operation with everything known about it. */

type Detail = Static<(typeof getOperation)['responses'][200]['schema']>
type Rules = Detail['rules']
type Action = Detail['actions'][number]

export interface DetailNeeds extends ListNeeds {
  /** Optional capabilities of the bank. */
  readonly capabilities: ReadonlySet<string>
  /** From this amount on a refund needs a second person. */
  readonly approvalFromCents: number
}

/** @source rules#console.7 */
export function createDetailHandler(needs: DetailNeeds): Pick<Handlers<typeof endpoints>, 'getOperation'> {
  const { database, clock } = needs
  return {
    getOperation: async ({ params: { id } }) => {
      const operation = isUuid(id) ? await readOperation(database, id) : undefined
      const history = operation && (await readHistory(database, operation.id))
      const timeline = history && timelineOf(history)
      if (!operation || !history || !timeline) throw new Refusal('not_found')
      const [about] = await database.rows(selectAbout, [operation.id])
      const now = clock.now()
      const body: Detail = {
        ...summaryOf(operation, now, (await chargesOf(database, [operation])).get(operation.id)),
        ...fieldsOf(operation, now),
        apiKey: about?.caller == null ? null : { id: about.caller, name: about.callerName },
        rules: rulesOf(operation, history),
        ...(await notificationsOf(database, operation.id)),
        cases: timeline.otherCases.map(({ id, kind, meaning, amountCents, openedAt, closedAt }) => ({
          ...{ id, kind, meaning, amountCents, openedAt, closedAt },
        })),
        related: await relatedOf(database, operation),
        actions: isCashIn(operation) ? actionsOf(operation, needs, now) : [],
        timeline,
      }
      return { status: 200, body }
    },
  }
}

function fieldsOf(operation: Operation, nowMs: number) {
  const { kind, version, correlationId, orderId, transactionId, expiresAt } = operation
  const charge = isCashIn(operation) ? chargeView(operation, nowMs) : undefined
  return {
    meaning: MACHINES[kind].meanings[charge?.status ?? operation.status] ?? '',
    ...{ version, correlationId, orderId, transactionId },
    pixCode: charge?.pixCode ?? null,
    expiresAt: instantText(expiresAt),
  }
}

interface About {
  readonly caller: string | null
  readonly callerName: string | null
}

const selectAbout = statement<[id: string], About>(
  'console.about',
  `SELECT o.facts #>> '{madeBy,caller}' AS caller,
          (SELECT c.name FROM credential c WHERE c.id::text = o.facts #>> '{madeBy,caller}') AS "callerName"
     FROM operation o WHERE o.id = $1`,
)

interface Sent {
  readonly id: string
  readonly body: Buffer
  readonly deliveryIds: string[]
}

const selectNotifications = statement<[operationId: string], Sent>(
  'console.notifications',
  `SELECT n.id, n.body, ARRAY(SELECT d.id::text FROM delivery d WHERE d.notification_id = n.id ORDER BY d.created_at, d.id)
            AS "deliveryIds"
     FROM notification n WHERE n.operation_id = $1 ORDER BY n.created_at, n.id LIMIT 500`,
)

async function notificationsOf(queries: Queries, operationId: string): Promise<Pick<Detail, 'bodies' | 'deliveryIds'>> {
  const rows = await queries.rows(selectNotifications, [operationId])
  return {
    bodies: Object.fromEntries(rows.flatMap(({ id, body }) => (body.length > 0 ? [[id, body.toString('utf8')]] : []))),
    deliveryIds: Object.fromEntries(rows.map(({ id, deliveryIds }) => [id, deliveryIds])),
  }
}

type RelatedRow = Omit<Detail['related'][number], 'valueCents' | 'createdAt'> & {
  readonly valueCents: bigint
  readonly createdAt: number
}

const RELATED = 'id, kind, status, value_cents AS "valueCents", created_at AS "createdAt"'

const selectRefunds = statement<[cashInId: string], RelatedRow>(
  'console.refunds_of',
  `SELECT ${RELATED} FROM operation WHERE kind = 'refund_in' AND detail ->> 'cashInId' = $1
    ORDER BY created_at DESC, id DESC LIMIT 200`,
)

const selectRelated = statement<[id: string], RelatedRow>(
  'console.related',
  `SELECT ${RELATED} FROM operation WHERE id = $1`,
)

async function relatedOf(queries: Queries, { id, kind, detail }: Operation): Promise<Detail['related']> {
  const of = detail.cashInId ?? detail.from
  const rows =
    kind === 'cash_in'
      ? await queries.rows(selectRefunds, [id])
      : kind === 'refund_in' && typeof of === 'string'
        ? await queries.rows(selectRelated, [of])
        : []
  return rows.map(({ valueCents, createdAt, ...row }) => ({
    ...row,
    valueCents: Number(valueCents),
    createdAt: new Date(createdAt).toISOString(),
  }))
}

/**
 * Rules of the state table that fit each move: by its states, its trigger, the doubt before and after it, and its journal.
 * @source rules#console.7
 */
function rulesOf({ kind }: Pick<Operation, 'kind'>, { moves, entries }: OperationHistory): Rules {
  const journals = Map.groupBy(entries, ({ at }) => at)
  let facts: Document = {}
  const fitting = moves.map((move): [string, Rules[string]] => {
    const before = reasonOf({ facts })
    facts = { ...facts, ...(move.facts as Document) }
    const posted = new Set((journals.get(move.at) ?? []).map(({ journal }) => journal))
    const rows = MACHINES[kind].rows.filter((row) => isFitting(row, move, before, reasonOf({ facts })))
    return [String(move.version), rulesOfRows(postedBy(rows, posted))]
  })
  return Object.fromEntries(fitting)
}

function isFitting(row: Row, { trigger, from, to }: MoveRow, before: string | null, after: string | null): boolean {
  if (row.isIgnored || row.from !== from || row.on !== trigger || row.to !== to) return false
  if (row.because !== '*' && row.because !== before) return false
  return row.reason === 'same' ? before === after : row.reason === after
}

/** Rows whose journal was posted, else those without one. */
function postedBy(rows: readonly Row[], posted: ReadonlySet<string>): readonly Row[] {
  const isPosted = ({ posts }: Row) => posts !== undefined && posted.has(posts)
  for (const narrowed of [rows.filter(isPosted), rows.filter(({ posts }) => posts === undefined)]) {
    if (narrowed.length > 0) return narrowed
  }
  return rows
}

function rulesOfRows(rows: readonly Row[]): Rules[string] {
  return [...new Map(rows.map(({ rule: id, says }) => [`${id} ${says}`, { id, says }])).values()]
}

/** @source rules#console.7 */
function actionsOf(charge: CashIn, needs: DetailNeeds, nowMs: number): Action[] {
  const maxCents = Number(refundableCents(charge))
  const needsSecondPerson = maxCents >= needs.approvalFromCents
  const noRefund = whyNoRefund(charge, needs, nowMs)
  const noCancellation = whyNoCancellation(charge, needs, nowMs)
  return [
    { action: 'refund', isOffered: noRefund === null, whyNot: noRefund, maxCents, needsSecondPerson },
    {
      ...{ action: 'cancel', isOffered: noCancellation === null, whyNot: noCancellation },
      ...{ maxCents: null, needsSecondPerson: false },
    },
  ]
}

function whyNoRefund(charge: CashIn, { capabilities }: DetailNeeds, nowMs: number): string | null {
  if (!capabilities.has('refund')) return 'not_supported_by_bank'
  const isSpent = refundableCents(charge) === 0n
  return whyNotRefundable(charge, nowMs) ?? (isSpent ? 'refund_exceeds_available' : null)
}

function whyNoCancellation(charge: CashIn, { capabilities }: DetailNeeds, nowMs: number): string | null {
  if (!capabilities.has('cancel-charge')) return 'not_supported_by_bank'
  const isOpen = isWanted(charge) && !isOver(charge, nowMs) && !isCancelRequested(charge)
  return isOpen ? null : 'not_possible_in_state'
}
