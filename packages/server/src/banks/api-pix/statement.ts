import { limits } from '@pixgate/spec'
import { isSuccess, unanswered, unknown } from '../answers.ts'
import type { Partner, StatementEntry, StatementQuery } from '../port.ts'
import { type Devolucao, isPixPage, type Pix, type PixPage } from './bodies.ts'
import type { Exchange } from './exchange.ts'
import { dashedId } from './ids.ts'
import { centsOf } from './money.ts'
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
  /** @returns in words for people why it is no page of the list, where it is none */
  readonly read: (json: unknown) => ReadList | string
}

/** What was read of a page of a list. */
export interface ReadList {
  readonly entries: readonly StatementEntry[]
  /** Its number, as the bank says it, from 0. */
  readonly page: number
  readonly isLast: boolean
}

/** A payment may go back for 90 days, and one that is contested later: so far back those are listed that did. */
const RETURNS_LOOK_BACK_MS = 100 * 86_400_000
const RETURNS_EVERY_MS = 3_600_000

/** What went back of an earlier payment is in the statement after so long, whichever process reads it. */
export const RETURNS_WITHIN_MS = 2 * RETURNS_EVERY_MS

const RECEIVED: StatementList = { name: 'received', path: '/pix', read: pixPageOf }
const RETURNED: StatementList = {
  ...RECEIVED,
  name: 'returned',
  filter: { devolucaoPresente: 'true' },
  windowAt: (now) => ({ from: now - RETURNS_LOOK_BACK_MS, to: now }),
  everyMs: RETURNS_EVERY_MS,
}

/**
 * Reads the statement: the lists in turn, a page at a time.
 * @param bankNow epoch milliseconds, by the bank's clock
 * @param lists besides those of what came in
 * @source rules#api-pix.9
 */
export function createStatementReader(
  exchange: Pick<Exchange, 'raw'>,
  bankNow: () => number,
  lists: readonly StatementList[],
  hasWholeSeconds = false,
): Partner['readStatement'] {
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
    const window = list.windowAt?.(now) ?? upToNow({ from, to }, now)
    const query = new URLSearchParams({ ...listQuery(window, page, hasWholeSeconds), ...list.filter })
    const outcome = await exchange.raw({ method: 'GET', path: `${list.path}?${query}` }, deadline)
    if (outcome.kind !== 'answered') return unanswered(outcome)
    const read = isSuccess(outcome) ? list.read(outcome.json) : `HTTP ${outcome.httpStatus}`
    if (typeof read === 'string') return unknown(outcome, read)
    // Else a bank that always tells its first page would be read for ever.
    if (read.page !== page) return unknown(outcome, `page ${read.page} in place of ${page}`)
    return {
      kind: 'READ',
      page: {
        entries: read.entries,
        nextCursor: after(list, page, read.isLast),
        looksBack: list.windowAt !== undefined,
      },
    }
  }
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

/**
 * Reads a page of `GET /pix`: each payment, and what went back of it. One that cannot be right makes the page wrong: leaving it
 * out would hide money.
 * @returns in words for people why it is none, where it is none
 */
function pixPageOf(json: unknown): ReadList | string {
  if (!isPixPage(json)) return 'unreadable list of payments'
  const faults = (json.pix ?? []).flatMap(({ devolucoes = [] }) => devolucoes.flatMap((told) => faultOf(told) ?? []))
  if (faults[0] !== undefined) return faults[0]
  return { entries: (json.pix ?? []).flatMap(entriesOf), ...placeOf(json) }
}

/** Which page of its list this is, and whether none follows. */
export function placeOf({ parametros }: Pick<PixPage, 'parametros'>): Pick<ReadList, 'page' | 'isLast'> {
  const { paginaAtual: page, quantidadeDePaginas } = parametros.paginacao
  return { page, isLast: page + 1 >= quantidadeDePaginas }
}

function faultOf(told: Devolucao): string | undefined {
  if (told.status !== 'DEVOLVIDO') return undefined
  if (!told.rtrId) return 'DEVOLVIDO without an rtrId'
  return settledAt(told) === undefined ? 'DEVOLVIDO without a time' : undefined
}

function entriesOf(pix: Pix): readonly StatementEntry[] {
  const { endToEndId, valor, horario, devolucoes = [] } = pix
  const received: StatementEntry = {
    kind: 'PAYMENT_RECEIVED',
    direction: 'in',
    movementId: endToEndId,
    endToEndId,
    reference: referenceOf(pix),
    valueCents: centsOf(valor),
    occurredAt: Date.parse(horario),
  }
  return [received, ...devolucoes.filter(({ status }) => status === 'DEVOLVIDO').map((told) => returnEntry(pix, told))]
}

function returnEntry(pix: Pix, told: Devolucao): StatementEntry {
  const isRefund = isOurs(told)
  return {
    kind: isRefund ? 'REFUND_SENT' : 'PAYMENT_TAKEN_BACK',
    direction: 'out',
    movementId: told.rtrId ?? '',
    endToEndId: pix.endToEndId,
    reference: isRefund ? dashedId(told.id) : referenceOf(pix),
    valueCents: centsOf(told.valor),
    occurredAt: settledAt(told) ?? 0,
  }
}
