import { limits } from '@pixgate/spec'
import { statementDelay } from '../bank.ts'
import { isSuccess, unanswered, unknown } from '../exchange.ts'
import type { ClockOffset, Partner, StatementDelay, StatementEntry, StatementQuery, UnreadableItem } from '../port.ts'
import { type BodyTest, centsOf, countIn, DEPTH_MAX, instantOf, isId, itemsOf } from '../values.ts'
import type { ApiPixOptions } from './bank.ts'
import { type AnyReturn, isOurs, referenceOf, returnOf } from './payments.ts'
import { isDevolucao, isPage, isPix, type Page } from './protocol.ts'

/**
 * The standard has no statement. It is built from `GET /pix`, which lists payments by time with their returns. Returns
 * of older payments come from a second list, read hourly.
 * @source rules#api-pix.9
 */

type Window = Pick<StatementQuery, 'from' | 'to'>

export interface StatementList {
  /** Lower case; part of the cursor. */
  readonly name: string
  readonly path: string
  readonly filter?: Readonly<Record<string, string>>
  /** Replaces the window of the statement. */
  readonly windowAt?: (now: number) => Window
  /** Minimum interval. Absent: the list is read with every window. */
  readonly everyMs?: number
  readonly readItem: (item: unknown, offsetMs: number) => ReadItem
}

/** The movements of an item, and its unreadable parts. */
export interface ReadItem {
  readonly entries: readonly StatementEntry[]
  readonly unreadable: readonly Omit<UnreadableItem, 'list'>[]
}

export const NOTHING: ReadItem = { entries: [], unreadable: [] }

/** Members that name a person, removed from the case of an unreadable item. */
const PERSONAL: ReadonlySet<string> = new Set(['nome', 'cpf', 'cnpj', 'chave', 'infoPagador', 'pagador', 'favorecido'])

const REDACTED = '…'

/** Copy of an item for a case: without personal data, with bounded depth. */
function withoutPersonalData(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === DEPTH_MAX) return REDACTED
  if (Array.isArray(value)) return value.map((item) => withoutPersonalData(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      PERSONAL.has(name) ? REDACTED : withoutPersonalData(inner, depth + 1),
    ]),
  )
}

export function unreadable(item: unknown, member: string): ReadItem {
  return { entries: [], unreadable: [{ json: JSON.stringify(withoutPersonalData(item)), member }] }
}

/** Reads an item that fits the schema; reports another as unreadable. */
export function readAs<Body>(isBody: BodyTest<Body>, item: unknown, read: (body: Body) => ReadItem): ReadItem {
  return isBody(item) ? read(item) : unreadable(item, isBody.fault(item))
}

/** A payment is returned within 90 days; a dispute (MED) may end a little later. */
export const RETURNS_LOOK_BACK_MS = 100 * 86_400_000
const RETURNS_EVERY_MS = 3_600_000

/**
 * Payments are listed within minutes. A return is read at the latest by the second hourly list after it: the bank may not
 * have listed it yet when the first one is read.
 */
export const API_PIX_STATEMENT_DELAYS_MS: StatementDelay = {
  ...statementDelay(300_000),
  PAYMENT_TAKEN_BACK: 2 * RETURNS_EVERY_MS,
  REFUND_SENT: 2 * RETURNS_EVERY_MS,
}

const RECEIVED: StatementList = { name: 'received', path: '/pix', readItem: readPix }
const RETURNED: StatementList = {
  ...RECEIVED,
  name: 'returned',
  filter: { devolucaoPresente: 'true' },
  windowAt: (now) => ({ from: now - RETURNS_LOOK_BACK_MS, to: now }),
  everyMs: RETURNS_EVERY_MS,
}

/**
 * Reads the lists in turn, a page at a time. An unreadable item does not hide others.
 * @source rules#api-pix.9, rules#api-pix.18
 */
export function createStatementReader(options: ApiPixOptions, clockOffset: ClockOffset): Partner['readStatement'] {
  const { exchange, bankNow, lists = [], hasWholeSeconds = false } = options
  const allLists = [RECEIVED, ...lists, RETURNED]
  const lastReadAt = new Map<string, number>()

  function isDue({ name, everyMs = 0 }: StatementList): boolean {
    return bankNow() - (lastReadAt.get(name) ?? Number.NEGATIVE_INFINITY) >= everyMs
  }
  /** Remembers that a list was read to its end. */
  function cursorAfter(list: StatementList, page: number, isLast: boolean): string | null {
    if (!isLast) return `${list.name}:${page + 1}`
    lastReadAt.set(list.name, bankNow())
    const next = allLists.slice(allLists.indexOf(list) + 1).find(isDue)
    return next ? `${next.name}:0` : null
  }

  return async ({ from, to, cursor }, deadline) => {
    const [name, number] = (cursor ?? `${RECEIVED.name}:0`).split(':')
    const list = allLists.find((one) => one.name === name) ?? RECEIVED
    const page = Number(number)
    const bankPresent = windowEnd(bankNow(), hasWholeSeconds)
    const offsetMs = clockOffset.offsetMs() ?? 0
    const window = list.windowAt?.(bankPresent) ?? upToNow({ from, to }, bankPresent)
    const query = new URLSearchParams({ ...listQuery(window, page, hasWholeSeconds, offsetMs), ...list.filter })
    const outcome = await exchange.raw({ method: 'GET', path: `${list.path}?${query}` }, deadline)
    if (outcome.kind !== 'answered') return unanswered(outcome)
    if (!isSuccess(outcome)) return unknown(outcome)
    if (!isPage(outcome.json)) return unknown(outcome, `unreadable list: ${isPage.fault(outcome.json)}`)
    const { current = page, length = PAGE_LENGTH, pageCount } = paginationOf(outcome.json)
    const items = itemsOf(outcome.json.pix)
    if (pageCount === undefined && outcome.json.pix === undefined) return unknown(outcome, 'unreadable list: no items')
    if (current !== page) return unknown(outcome, `page ${current} in place of ${page}`)
    // A bank that ignores the number of the page would be read forever.
    if (pageCount === undefined && page === UNCOUNTED_PAGES_MAX) {
      return unknown(outcome, `more than ${UNCOUNTED_PAGES_MAX} pages without their count`)
    }
    const read = items.map((item) => list.readItem(item, clockOffset.offsetMs() ?? 0))
    return {
      kind: 'READ',
      page: {
        entries: read.flatMap(({ entries }) => entries),
        unreadable: read.flatMap((item) => item.unreadable.map((part) => ({ list: list.name, ...part }))),
        list: list.name,
        nextCursor: cursorAfter(list, page, pageCount === undefined ? items.length < length : page + 1 >= pageCount),
        reachesBeforeWindow: list.windowAt !== undefined,
      },
    }
  }
}

/** Maximum number of pages where the bank does not count them. */
const UNCOUNTED_PAGES_MAX = 100

/** Numbers of a page. Without a count, the first page that is not full is the last. */
function paginationOf(json: Page) {
  const number = (name: string) => countIn(json, 'parametros', 'paginacao', name)
  return {
    current: number('paginaAtual'),
    length: number('itensPorPagina'),
    pageCount: number('quantidadeDePaginas'),
  }
}

/**
 * Cuts the newest window at the bank's clock, because some banks refuse windows in the future. Matching ends five minutes
 * before our time, so nothing is missed.
 * @source rules#api-pix.9, rules#statement.2
 */
function upToNow({ from, to }: Window, bankNow: number): Window {
  const isNewest = to - from < limits.statementWindowMaxMs
  // A clock that is further away is wrong.
  const isCredible = to - bankNow <= 2 * limits.statementClockSkewMs
  if (!isNewest || !isCredible || to <= bankNow) return { from, to }
  // `to` is exclusive.
  return { from: Math.min(from, bankNow), to: bankNow + 1 }
}

/**
 * The bank's present as the end of a window, in whole seconds if the bank requires them. The next window begins earlier
 * and covers the rest of the second.
 * @param bankNow epoch milliseconds by the bank's clock
 * @source rules#api-pix.9
 */
export function windowEnd(bankNow: number, hasWholeSeconds: boolean): number {
  return hasWholeSeconds ? Math.floor(bankNow / 1_000) * 1_000 : bankNow
}

/** Items of a page; a hundred fit into an answer of 1 MiB. */
const PAGE_LENGTH = 100

/**
 * Query of a page of a list, with both ends inclusive. The window is wide enough for a bank that marks local time as UTC
 * and for one that does not.
 * @param hasWholeSeconds the bank refuses fractions of a second; the window is rounded outwards
 * @param offsetMs by which the bank's timestamps are ahead of UTC
 * @source rules#api-pix.17
 */
export function listQuery(window: Window, page: number, hasWholeSeconds: boolean, offsetMs: number) {
  const from = window.from + Math.min(0, offsetMs)
  const last = window.to + Math.max(0, offsetMs) - 1
  return {
    inicio: hasWholeSeconds ? secondOf(Math.floor(from / 1_000)) : new Date(from).toISOString(),
    fim: hasWholeSeconds ? secondOf(Math.ceil(last / 1_000)) : new Date(last).toISOString(),
    'paginacao.paginaAtual': String(page),
    'paginacao.itensPorPagina': String(PAGE_LENGTH),
  }
}

function secondOf(epochSeconds: number): string {
  return new Date(epochSeconds * 1_000).toISOString().replace('.000Z', 'Z')
}

/** A movement with its listed returns. @param entryOf fields of a return's entry */
export function withReturns<Return extends AnyReturn>(
  entry: StatementEntry,
  listed: unknown,
  isReturn: BodyTest<Return>,
  offsetMs: number,
  entryOf: (one: Return) => Omit<StatementEntry, 'movementId' | 'valueCents' | 'occurredAt'>,
): ReadItem {
  const returns = itemsOf(listed).map((item) =>
    readAs(isReturn, item, (one): ReadItem => {
      if (one.status !== undefined && one.status !== 'DEVOLVIDO') return NOTHING
      const returned = returnOf(one, offsetMs)
      if (!returned) return unreadable(one, isId(one.rtrId) ? '/horario' : '/rtrId')
      const { returnId, ...moved } = returned
      return { entries: [{ ...entryOf(one), movementId: returnId, ...moved }], unreadable: [] }
    }),
  )
  return {
    entries: [entry, ...returns.flatMap(({ entries }) => entries)],
    unreadable: returns.flatMap(({ unreadable }) => unreadable),
  }
}

function readPix(item: unknown, offsetMs: number): ReadItem {
  return readAs(isPix, item, (pix) => {
    const { endToEndId, valor, horario, devolucoes } = pix
    const received: StatementEntry = {
      kind: 'PAYMENT_RECEIVED',
      direction: 'in',
      movementId: endToEndId,
      endToEndId,
      reference: referenceOf(pix),
      valueCents: centsOf(valor),
      occurredAt: instantOf(horario) - offsetMs,
    }
    return withReturns(received, devolucoes, isDevolucao, offsetMs, (devolucao) => {
      const isRefund = isOurs(devolucao)
      return {
        kind: isRefund ? 'REFUND_SENT' : 'PAYMENT_TAKEN_BACK',
        direction: 'out',
        endToEndId,
        reference: isRefund ? (devolucao.id ?? '') : referenceOf(pix),
      }
    })
  })
}
