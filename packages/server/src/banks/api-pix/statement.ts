import { limits } from '@pixgate/spec'
import { isSuccess, unanswered, unknown } from '../answers.ts'
import type { BodyTest } from '../body-test.ts'
import type { ListedWithin, Partner, StampOffset, StatementEntry, StatementQuery, UnreadableItem } from '../port.ts'
import { centsOf, countIn, DEPTH_MAX, instantOf, isId, itemsOf } from '../values.ts'
import { type Devolucao, isDevolucao, isPage, isPix, type Page, type Pix } from './bodies.ts'
import type { Exchange } from './exchange.ts'
import { isOurs, referenceOf, settledAt } from './movements.ts'

/**
 * The statement of a bank that has none: what came in, with what went back of it, by `GET /pix`. The list is by when a payment
 * was made, and its returns stand under it: those of older payments are listed apart, now and then.
 * @source rules#api-pix.9
 */

/** A list of movements that the statement is made of. */
export interface StatementList {
  /** Small letters: where a reading stands is written with it. */
  readonly name: string
  readonly path: string
  /** Which of a window are asked for, besides those made in it. */
  readonly filter?: Readonly<Record<string, string>>
  /** What is asked for instead of the window of the statement. */
  readonly windowAt?: (now: number) => Pick<StatementQuery, 'from' | 'to'>
  /** Listed so often, and not with every window. */
  readonly everyMs?: number
  /** Reads one item. @param offsetMs of the bank's stamps */
  readonly readItem: (item: unknown, offsetMs: number) => ReadItem
}

/** What an item of a list came to. */
export interface ReadItem {
  readonly entries: readonly StatementEntry[]
  /** Of it, or of returns that stand under it. */
  readonly unreadable: readonly Omit<UnreadableItem, 'list'>[]
}

/** Members that name a person: an item that becomes a case is kept without them. */
const PERSONAL: ReadonlySet<string> = new Set(['nome', 'cpf', 'cnpj', 'chave', 'infoPagador', 'pagador', 'favorecido'])

const LEFT_OUT = '…'

/** What a case keeps of an item: no person, and nothing that is so deep that to follow it would exhaust the stack. */
function kept(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === DEPTH_MAX) return LEFT_OUT
  if (Array.isArray(value)) return value.map((item) => kept(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, PERSONAL.has(name) ? LEFT_OUT : kept(inner, depth + 1)]),
  )
}

/** An item of which nothing can be read. */
export function unreadable(item: unknown, member: string): ReadItem {
  return { entries: [], unreadable: [{ json: JSON.stringify(kept(item)), member }] }
}

/** Reads an item by its shape. */
export function readAs<Body>(isBody: BodyTest<Body>, item: unknown, read: (body: Body) => ReadItem): ReadItem {
  return isBody(item) ? read(item) : unreadable(item, isBody.fault(item))
}

/** A payment may go back for 90 days, and one that is contested later: so far back those are listed that did. */
const RETURNS_LOOK_BACK_MS = 100 * 86_400_000
const RETURNS_EVERY_MS = 3_600_000

/** A payment is in the list at once or some minutes later, the return of an older one with the next list of returns that any process reads. */
export const LISTED_WITHIN_MS: ListedWithin = {
  PAYMENT_RECEIVED: 300_000,
  PAYMENT_TAKEN_BACK: 2 * RETURNS_EVERY_MS,
  REFUND_SENT: 2 * RETURNS_EVERY_MS,
  // Not in these lists.
  PAYOUT_SENT: 300_000,
  PAYOUT_RETURNED: 300_000,
}

const RECEIVED: StatementList = { name: 'received', path: '/pix', readItem: readPix }
const RETURNED: StatementList = {
  ...RECEIVED,
  name: 'returned',
  filter: { devolucaoPresente: 'true' },
  windowAt: (now) => ({ from: now - RETURNS_LOOK_BACK_MS, to: now }),
  everyMs: RETURNS_EVERY_MS,
}

/** What a statement is read with. */
export interface StatementReading {
  readonly exchange: Pick<Exchange, 'raw'>
  /** Epoch milliseconds, by the bank's clock. */
  readonly bankNow: () => number
  readonly stamps: StampOffset
  /** Besides those of what came in. */
  readonly lists: readonly StatementList[]
  /** The bank takes no parts of a second. */
  readonly hasWholeSeconds: boolean
}

/**
 * Reads the statement: the lists in turn, a page at a time. An item that cannot be read
 * hides no other.
 * @source rules#api-pix.9, rules#api-pix.18
 */
export function createStatementReader(reading: StatementReading): Partner['readStatement'] {
  const { exchange, bankNow, stamps, lists, hasWholeSeconds } = reading
  const all = [RECEIVED, ...lists, RETURNED]
  const readAt = new Map<string, number>()

  function isDue({ name, everyMs = 0 }: StatementList): boolean {
    return bankNow() - (readAt.get(name) ?? Number.NEGATIVE_INFINITY) >= everyMs
  }
  function after(list: StatementList, page: number, isLast: boolean): string | null {
    if (!isLast) return `${list.name}:${page + 1}`
    readAt.set(list.name, bankNow())
    const next = all.slice(all.indexOf(list) + 1).find(isDue)
    return next ? `${next.name}:0` : null
  }

  return async ({ from, to, cursor }, deadline) => {
    const [name, number] = (cursor ?? `${RECEIVED.name}:0`).split(':')
    const list = all.find((one) => one.name === name) ?? RECEIVED
    const page = Number(number)
    const now = listedUntil(bankNow(), hasWholeSeconds)
    const window = widened(list.windowAt?.(now) ?? upToNow({ from, to }, now), stamps.offsetMs())
    const query = new URLSearchParams({ ...listQuery(window, page, hasWholeSeconds), ...list.filter })
    const outcome = await exchange.raw({ method: 'GET', path: `${list.path}?${query}` }, deadline)
    if (outcome.kind !== 'answered') return unanswered(outcome)
    if (!isSuccess(outcome)) return unknown(outcome)
    if (!isPage(outcome.json)) return unknown(outcome, `unreadable list: ${isPage.fault(outcome.json)}`)
    const { current = page, length = PAGE_LENGTH, count } = placeOf(outcome.json)
    const items = itemsOf(outcome.json.pix)
    if (count === undefined && outcome.json.pix === undefined) return unknown(outcome, 'unreadable list: no items')
    // Else a bank that always tells its first page would be read for ever.
    if (current !== page || (count === undefined && page === UNCOUNTED_MAX)) {
      return unknown(outcome, `page ${current} in place of ${page}`)
    }
    const read = items.map((item) => list.readItem(item, stamps.offsetMs() ?? 0))
    return {
      kind: 'READ',
      page: {
        entries: read.flatMap(({ entries }) => entries),
        unreadable: read.flatMap((item) => item.unreadable.map((part) => ({ list: list.name, ...part }))),
        list: list.name,
        nextCursor: after(list, page, count === undefined ? items.length < length : page + 1 >= count),
        looksBack: list.windowAt !== undefined,
      },
    }
  }
}

/** So many pages are read of a bank that does not say how many there are. */
const UNCOUNTED_MAX = 100

/** What a page says of its place; a bank that does not say how many there are is read until a page is not full. */
function placeOf(json: Page) {
  const number = (name: string) => countIn(json, 'parametros', 'paginacao', name)
  return {
    current: number('paginaAtual'),
    length: number('itensPorPagina'),
    count: number('quantidadeDePaginas'),
  }
}

/** The window in which movements are whose stamps are off, as well as those whose stamps are right. @source rules#api-pix.17 */
export function widened(
  { from, to }: Pick<StatementQuery, 'from' | 'to'>,
  offsetMs = 0,
): Pick<StatementQuery, 'from' | 'to'> {
  return { from: from + Math.min(0, offsetMs), to: to + Math.max(0, offsetMs) }
}

/**
 * Nothing is made in what is yet to come by the bank's own time, and some banks refuse to be asked about it. The last window ends five
 * minutes ahead of our time, and what is matched ends five minutes behind it: a bank's time between the two leaves nothing out. Any
 * other one may be old, carried on over a sleep; and a window of full length may be one of the past, all of which is matched.
 * @source rules#api-pix.9, rules#statement.2
 */
function upToNow(
  { from, to }: Pick<StatementQuery, 'from' | 'to'>,
  bankNow: number,
): Pick<StatementQuery, 'from' | 'to'> {
  const isLast = to - from < limits.statementWindowMaxMs
  const isCredible = to - bankNow <= 2 * limits.statementClockSkewMs
  if (!isLast || !isCredible || to <= bankNow) return { from, to }
  return { from: Math.min(from, bankNow), to: bankNow + 1 }
}

/**
 * Until when the bank can be asked what there is, so that it is asked nothing about the future: its whole seconds that have begun,
 * where it takes no parts of one. What is made in the rest of that second is in the next window, which begins earlier.
 * @param bankNow epoch milliseconds, by the bank's clock
 * @source rules#api-pix.9
 */
export function listedUntil(bankNow: number, hasWholeSeconds: boolean): number {
  return hasWholeSeconds ? Math.floor(bankNow / 1_000) * 1_000 : bankNow
}

/** Fits an answer of one mebibyte, whatever a payment has. */
const PAGE_LENGTH = 100

/**
 * The query of a page of a list, by the bank's time; both ends are part of the window.
 * @param hasWholeSeconds the bank takes no parts of a second: the window is the next larger one, as what is listed twice is known
 */
export function listQuery(
  { from, to }: Pick<StatementQuery, 'from' | 'to'>,
  page: number,
  hasWholeSeconds = false,
): Record<string, string> {
  return {
    inicio: hasWholeSeconds ? secondOf(Math.floor(from / 1_000)) : new Date(from).toISOString(),
    fim: hasWholeSeconds ? secondOf(Math.ceil((to - 1) / 1_000)) : new Date(to - 1).toISOString(),
    'paginacao.paginaAtual': String(page),
    'paginacao.itensPorPagina': String(PAGE_LENGTH),
  }
}

function secondOf(epochSeconds: number): string {
  return new Date(epochSeconds * 1_000).toISOString().replace('.000Z', 'Z')
}

function readPix(item: unknown, offsetMs: number): ReadItem {
  return readAs(isPix, item, (pix) => {
    const returns = itemsOf(pix.devolucoes).map((told) =>
      readAs(isDevolucao, told, (devolucao) => readReturn(pix, devolucao, offsetMs)),
    )
    return {
      entries: [receivedEntry(pix, offsetMs), ...returns.flatMap(({ entries }) => entries)],
      unreadable: returns.flatMap((read) => read.unreadable),
    }
  })
}

function receivedEntry(pix: Pix, offsetMs: number): StatementEntry {
  const { endToEndId, valor, horario } = pix
  return {
    kind: 'PAYMENT_RECEIVED',
    direction: 'in',
    movementId: endToEndId,
    endToEndId,
    reference: referenceOf(pix),
    valueCents: centsOf(valor),
    occurredAt: instantOf(horario) - offsetMs,
  }
}

function readReturn(pix: Pix, told: Devolucao, offsetMs: number): ReadItem {
  if (told.status !== 'DEVOLVIDO') return { entries: [], unreadable: [] }
  const [movementId, occurredAt] = [told.rtrId, settledAt(told, offsetMs)]
  if (!isId(movementId)) return unreadable(told, '/rtrId')
  if (occurredAt === undefined) return unreadable(told, '/horario')
  const isRefund = isOurs(told)
  const entry: StatementEntry = {
    kind: isRefund ? 'REFUND_SENT' : 'PAYMENT_TAKEN_BACK',
    direction: 'out',
    movementId,
    endToEndId: pix.endToEndId,
    reference: isRefund ? (told.id ?? '') : referenceOf(pix),
    valueCents: centsOf(told.valor),
    occurredAt,
  }
  return { entries: [entry], unreadable: [] }
}
