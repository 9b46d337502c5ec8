import { limits } from '@pixgate/spec'
import type { BankBook } from '../support/process-world.ts'
import { type FeedEvent, feedFaults } from './feed.ts'
import { beliefOf, type MerchantRequest, possibleSwitches, type Reply, type SwitchSet } from './history.ts'
import { type BankKind, isTruthful } from './plan.ts'
import type { Books, CaseRow, OperationRow } from './store.ts'

/** Something that is not as it must be, or is not as the bank says. */
export interface Finding {
  readonly rule: Rule
  readonly text: string
  /** The open case that says so; without one the finding is a fault. */
  readonly explanation?: string
}

/** What is judged. */
export type Rule =
  | 'money' // each movement at the bank is in our books, on its operation, to the centavo, and the other way round
  | 'total' // the account at the bank is what our books say
  | 'at most once'
  | 'requests' // what was refused is absent, what was confirmed is there
  | 'switch'
  | 'trip wire' // nothing was suspended that the bank's book does not bear out
  | 'verify-ledger'
  | 'notifications'
  | 'feed'
  | 'held' // money set aside, in suspense, or in doubt
  | 'cases'

/** All that is looked at. */
export interface Evidence {
  readonly bankKind: BankKind
  readonly book: BankBook
  readonly books: Books
  readonly history: readonly MerchantRequest[]
  readonly switchSets: readonly SwitchSet[]
  readonly received: ReadonlyMap<string, ReadonlySet<string>>
  /** The feed of events, as a merchant read it meanwhile. */
  readonly feed: readonly FeedEvent[]
}

/** Judges everything. Pure. */
export function judge(evidence: Evidence): Finding[] {
  return [
    ...moneyFindings(evidence),
    ...totalFindings(evidence),
    ...onceFindings(evidence),
    ...requestFindings(evidence),
    ...switchFindings(evidence),
    ...tripFindings(evidence),
    ...verifyFindings(evidence),
    ...notificationFindings(evidence),
    ...feedFaults(evidence.feed, evidence.books.notifications).map((text) => ({ rule: 'feed', text }) as const),
    ...heldFindings(evidence),
    ...caseFindings(evidence),
  ]
}

/** A movement as both sides can tell it. */
interface Movement {
  /** What it belongs to: an operation's id; of what the bank took back by itself, that of the charge behind `MED `. */
  readonly group: string
  readonly cents: number
  /** End-to-end id, or return id. */
  readonly id: string
}

/** One finding for each operation whose movements differ. */
function moneyFindings({ bankKind, book, books }: Evidence): Finding[] {
  const theirs = Map.groupBy(movementsOf(book), ({ group }) => group)
  const ours = Map.groupBy(movementsIn(books), ({ group }) => group)
  return [...new Set([...theirs.keys(), ...ours.keys()])].flatMap((group) => {
    const [there, booked] = [theirs.get(group) ?? [], ours.get(group) ?? []]
    // Without a movement that was booked and taken back, as of a false event.
    const here = without(
      booked,
      booked.map((movement) => ({ ...movement, cents: -movement.cents })),
    )
    const [missing, invented] = [without(there, here), without(here, there)]
    if (missing.length === 0 && invented.length === 0) return []
    const movements = [...missing, ...invented].map(({ id }) => id)
    const ids = [group.replace('MED ', ''), ...movements, ...bookedOn(books, movements)]
    const text = `${group}: the bank alone has ${listOf(missing)}; we alone have ${listOf(invented)}`
    // A bank that tells the truth leaves no difference.
    const explanation = isTruthful(bankKind) ? {} : explained(books, [...ids, ...refundsOf(books, group)])
    return [{ rule: 'money', text, ...explanation } as const]
  })
}

function movementsOf({ entries }: BankBook): Movement[] {
  return (entries as readonly Entry[]).map(({ kind, reference, sign, valueCents, endToEndId, returnId }) => ({
    group: kind === 'PAYMENT_TAKEN_BACK' ? `MED ${reference}` : reference,
    cents: sign === '+' ? valueCents : -valueCents,
    id: returnId ?? endToEndId,
  }))
}

type Entry = BankBook['entries'][number] & { readonly endToEndId: string; readonly returnId?: string }

function movementsIn({ operations, movements }: Books): Movement[] {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  return movements.flatMap(({ operation_id, reference, cents }) => {
    const operation = byId.get(operation_id)
    if (operation?.kind === 'adjustment') return []
    // A return that is booked on a charge itself is one of money in suspense.
    const isFromSuspense = operation?.kind === 'cash_in' && reference.startsWith('D')
    const chargeId = isFromSuspense ? operation_id : operation?.detail.cashInId
    const group = isFromSuspense || operation?.detail.origin === 'PARTNER' ? `MED ${chargeId}` : operation_id
    return [{ group, cents: Number(cents), id: reference }]
  })
}

/** Those of some that are not among others, each counted. */
function without(some: readonly Movement[], others: readonly Movement[]): Movement[] {
  const left = others.map(keyOf)
  return some.filter((movement) => {
    const index = left.indexOf(keyOf(movement))
    if (index >= 0) left.splice(index, 1)
    return index < 0
  })
}

function keyOf({ group, cents, id }: Movement): string {
  return `${group} ${cents} ${id}`
}

function listOf(movements: readonly Movement[]): string {
  return movements.map(({ cents, id }) => `${cents} (${id})`).join(', ') || 'nothing'
}

/** The operations that have these movements: where the bank lied about a payment, another one than the bank's. */
function bookedOn({ movements }: Books, ids: readonly string[]): string[] {
  return movements.filter(({ reference }) => ids.includes(reference)).map(({ operation_id }) => operation_id)
}

/** The refunds of a charge: what the bank took back may wait for them. */
function refundsOf({ operations }: Books, group: string): string[] {
  const chargeId = group.replace('MED ', '')
  return operations.filter(({ detail }) => detail.cashInId === chargeId).map(({ id }) => id)
}

/** The open case that names one of these ids. */
function explained({ cases }: Books, ids: readonly string[]): { explanation?: string } {
  const names = ids.filter((id) => id !== '')
  const open = cases.filter(
    ({ isOpen, operation_id, text }) => isOpen && names.some((id) => operation_id === id || text.includes(id)),
  )
  // Better one that names the movement than one that names its operation alone.
  const found = open.find(({ text }) => names.slice(1).some((id) => text.includes(id))) ?? open[0]
  if (found === undefined) return {}
  const namesMovement = names.slice(1).some((id) => found.text.includes(id))
  return { explanation: `${found.kind}${namesMovement ? ', which names it' : ''}` }
}

/** The sums alone: an error here that no operation shows is one of the judge, or of what belongs to none. */
function totalFindings(evidence: Evidence): Finding[] {
  const { book, books } = evidence
  const adjusted = books.operations
    .filter(({ kind }) => kind === 'adjustment')
    .reduce(
      (sum, { status, value_cents }) => sum + (status === 'CREDITED' ? Number(value_cents) : -Number(value_cents)),
      0,
    )
  if ((books.balances.settlement ?? 0) + book.availableCents + adjusted === 0) return []
  const text = `the bank has ${book.availableCents + adjusted}, our books say ${-(books.balances.settlement ?? 0)}`
  const differences = moneyFindings(evidence)
  const isExplained = differences.length > 0 && differences.every(({ explanation }) => explanation !== undefined)
  return [{ rule: 'total', text, ...(isExplained && { explanation: 'the cases of its operations' }) }]
}

function onceFindings({ book }: Evidence): Finding[] {
  const orders = book.entries.filter(({ kind }) => kind === 'PAYOUT_SENT' || kind === 'REFUND_SENT')
  return [...Map.groupBy(orders, ({ reference }) => reference)].flatMap(([id, sent]) =>
    sent.length > 1 ? [{ rule: 'at most once', text: `${id} was carried out ${sent.length} times` } as const] : [],
  )
}

function requestFindings({ books, history }: Evidence): Finding[] {
  const byMarker = Map.groupBy(books.operations, (it) => `${it.kind} ${markerOf(it)}`)
  return history.flatMap((asked) => {
    const found = byMarker.get(`${asked.kind} ${asked.marker}`) ?? []
    const belief = beliefOf(asked)
    const story = `${asked.kind} ${asked.marker} (${asked.replies.map(briefly).join(', ')})`
    const wrong = (text: string): Finding[] => [{ rule: 'requests', text: `${story}: ${text}` }]
    if (found.length > 1) return wrong(`there ${found.length} times`)
    if (belief === 'exists' && found.length === 0) return wrong('confirmed, and not there')
    if (belief === 'absent' && found.length === 1) return wrong(`refused, and there: ${found[0]?.status}`)
    return []
  })
}

function markerOf({ kind, detail, external_id }: OperationRow): string {
  return kind === 'adjustment' ? (detail.reason ?? '') : external_id
}

function briefly(reply: Reply): string {
  return reply === 'lost' ? 'lost' : `${reply.status}${reply.code ? ` ${reply.code}` : ''}`
}

function switchFindings({ books, switchSets }: Evidence): Finding[] {
  const undone = switchSets.filter(
    ({ enabled, reply, stoodLater }) => !enabled && wasDone(reply) && stoodLater === true,
  )
  if (undone.length > 0) return [{ rule: 'switch', text: `${undone.length} times it was off, and on again by itself` }]
  // Off by the trip wire, which is judged for itself.
  if (books.trips.length > 0 && !books.isSwitchedOn) return []
  if (possibleSwitches(switchSets).has(books.isSwitchedOn)) return []
  const story = switchSets.slice(-4).map(({ enabled, reply }) => `${enabled ? 'on' : 'off'} ${briefly(reply)}`)
  return [{ rule: 'switch', text: `the switch is ${books.isSwitchedOn ? 'on' : 'off'} after ${story.join(', ')}` }]
}

/** A suspension names at least one difference that is one by the bank's book, and a bank that tells the truth has none. */
function tripFindings({ bankKind, book, books }: Evidence): Finding[] {
  const isBorneOut = (name: string) => !isTruthful(bankKind) && isDifference(name, book, books)
  return books.trips
    .filter(({ cases }) => !cases.some(isBorneOut))
    .map(({ cases }) => ({ rule: 'trip wire', text: `suspended for nothing: ${cases.join(', ')}` }))
}

/** What a case of the statement is about, held against what the bank's book says in the end. */
function isDifference(name: string, book: BankBook, { movements }: Books): boolean {
  const [kind, , id = ''] = name.split(' ')
  const there = (book.entries as readonly Entry[]).filter(({ endToEndId, returnId }) => id === (returnId ?? endToEndId))
  const here = movements.filter(({ reference }) => reference === id)
  switch (kind) {
    case 'line_missing':
      return there.length === 0
    case 'line_differs':
      return there.some(({ valueCents }) => here.some(({ cents }) => Math.abs(Number(cents)) !== valueCents))
    // Our books may have it by now.
    case 'unexplained_credit':
    case 'unexplained_debit':
      return there.length > 0
    default:
      return false
  }
}

function wasDone(reply: Reply): boolean {
  return reply !== 'lost' && reply.status === 200
}

function verifyFindings({ books }: Evidence): Finding[] {
  return books.verification.drifts.map(({ name, count, examples }) => ({
    rule: 'verify-ledger',
    text: `${name}: ${count}, such as ${examples[0]}`,
  }))
}

/** Every notification arrived, and always with the same bytes; nothing else did. */
function notificationFindings({ books, received }: Evidence): Finding[] {
  const ids = new Set(books.notifications.map(({ id }) => id))
  const strangers = [...received.keys()].filter((id) => !ids.has(id))
  const finding = (text: string): Finding => ({ rule: 'notifications', text })
  return [
    ...strangers.map((id) => finding(`${id} arrived, and nobody made it`)),
    ...books.notifications.flatMap(({ id, body, undelivered }) => {
      const bodies = received.get(id)
      if (undelivered > 0n || bodies === undefined) return [finding(`${id} did not arrive`)]
      return bodies.size === 1 && bodies.has(body.toString()) ? [] : [finding(`${id} arrived with other bytes`)]
    }),
  ]
}

/** What must be over in the end, or have a person called for it. */
function heldFindings({ bankKind, book, books }: Evidence): Finding[] {
  const late = lateCharges(book)
  const held = books.operations.filter(({ held_cents }) => held_cents !== 0n)
  const doubtful = books.operations.filter(({ kind, status }) => !FINAL.has(status) && kind !== 'adjustment')
  return [...new Set([...held, ...doubtful])].map(({ id, kind, status, held_cents }) => ({
    rule: 'held',
    text: `${kind} ${id} is ${status} and holds ${held_cents}`,
    ...((!isTruthful(bankKind) || late.has(id)) && explained(books, [id])),
  }))
}

const FINAL = new Set(['PAID', 'EXPIRED', 'CANCELLED', 'FAILED', 'CONFIRMED', 'RELEASED', 'REVERSED'])

/**
 * Where the bank tells the truth, and nothing irregular happens, no person is needed; but for a payment that the bank's own
 * book dates too late. A payer may be that late: a payment waits as long as the bank is stopped.
 */
function caseFindings({ bankKind, book, books }: Evidence): Finding[] {
  if (!isTruthful(bankKind)) return []
  const late = lateCharges(book)
  const isNeeded = ({ kind, operation_id }: CaseRow) => kind === 'payment_in_suspense' && late.has(operation_id ?? '')
  return books.cases.filter((it) => it.isOpen && !isNeeded(it)).map((it) => ({ rule: 'cases', text: caseText(it) }))
}

/** Charges of which the bank's book has a payment so long after their expiry that a person decides about it. */
function lateCharges({ charges }: BankBook): ReadonlySet<string> {
  const late = (charges as readonly PaidCharge[]).filter(({ expiresAt, payments = [] }) =>
    payments.some(({ occurredAt }) => Date.parse(occurredAt) > Date.parse(expiresAt) + limits.settlementGraceMs),
  )
  return new Set(late.map(({ id }) => id))
}

type PaidCharge = BankBook['charges'][number] & {
  readonly expiresAt: string
  readonly payments?: readonly { readonly occurredAt: string }[]
}

function caseText({ kind, operation_id, text }: CaseRow): string {
  return `${kind} of ${operation_id ?? 'nothing'} is open at a truthful bank: ${text.slice(0, 300)}`
}
