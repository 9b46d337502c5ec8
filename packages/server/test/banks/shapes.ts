import { createApiPixPartner } from '../../src/banks/api-pix/bank.ts'
import { protocolOf } from '../../src/banks/api-pix/protocol.ts'
import { createEfiPartner, EFI_PROTOCOL } from '../../src/banks/efi/bank.ts'
import { createExchange } from '../../src/banks/exchange.ts'
import type { Outcome, PartnerCall, PartnerLink } from '../../src/banks/link.ts'
import type { Partner, StatementEntry, UnreadableItem } from '../../src/banks/port.ts'
import { type Chance, chanceOf } from '../fuzz/chance.ts'
import { CREATED, ID, MERCHANT, NOON } from './api-pix/fixture.ts'
import { answered } from './api-pix/scripted.ts'
import { balanceCase, callbackCase, chargeCase, payoutCase, refundCase } from './shape-answers.ts'
import { type Item, listProblems, paymentItem } from './shape-items.ts'
import { absenceCase, refusalCase } from './shape-refusals.ts'
import { sentItem } from './shape-sent.ts'
import { asReceived, literal, PERSON } from './shape-values.ts'

/** Answers of a bank, right but for their shape; what each must come to is a model of its own, not what the code says. */

/** A case: a bank's answer, and what was wrong with what was made of it. */
export interface ShapeCase {
  readonly body: unknown
  readonly problems: readonly string[]
}

/** A bank that answers by what it is asked. */
type Answers = (call: PartnerCall) => Outcome

/** The standard's connector, or Efí's, at a bank that answers so. */
function partnerAt(kind: 'api-pix' | 'efi', answers: Answers): Partner {
  const link: Pick<PartnerLink, 'exchange'> = { exchange: async (call) => answers(call) }
  const options = { merchant: MERCHANT, hasIdempotentOrders: true, monotonicMs: () => 0, bankNow: () => NOON }
  if (kind === 'api-pix')
    return createApiPixPartner({ ...options, exchange: createExchange(link, protocolOf(), '/v2') })
  return createEfiPartner({
    ...options,
    exchange: createExchange(link, EFI_PROTOCOL, '/v2'),
    sending: createExchange(link, EFI_PROTOCOL),
    paysQrCodes: true,
    pauseFor: () => undefined,
    now: () => NOON,
  })
}

const HOUR_MS = 3_600_000
const WINDOW = { from: CREATED - HOUR_MS, to: NOON + HOUR_MS }

interface Walk {
  readonly entries: StatementEntry[]
  readonly unreadable: UnreadableItem[]
  /** Why it ended before the last page, if it did. */
  readonly stopped: string | undefined
}

const PAGES_MAX = 40

/** Reads a statement to its end. */
async function walk(partner: Partner, first: string | null, last: (next: string | null) => boolean): Promise<Walk> {
  const read: Walk = { entries: [], unreadable: [], stopped: undefined }
  let cursor = first
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const answer = await partner.readStatement({ ...WINDOW, cursor })
    if (answer.kind !== 'READ') return { ...read, stopped: `${answer.kind} ${answer.reason}` }
    read.entries.push(...answer.page.entries)
    read.unreadable.push(...(answer.page.unreadable ?? []))
    cursor = answer.page.nextCursor
    if (cursor === null || last(cursor)) return read
  }
  return { ...read, stopped: 'without end' }
}

const emptyPage = { parametros: { paginacao: { paginaAtual: 0, quantidadeDePaginas: 1 } }, pix: [] }

/** Members of a list beside its items. */
function pagination(page: number, pages: number, items: number) {
  return { paginaAtual: page, itensPorPagina: 100, quantidadeDePaginas: pages, quantidadeTotalDeItens: items }
}

const numbersFrom = (first: number) => {
  let number = first
  return () => number++
}

/** Items of a page: mostly a few odd ones, and the others of a whole page as they should be. */
function itemsOf(chance: Chance, make: (drawing: Parameters<typeof paymentItem>[0]) => Item): Item[] {
  const count = chance.bool(0.05) ? 100 : 1 + chance.below(6)
  const odd = chance.bool(0.5) ? 0.5 : 1 / count
  const next = numbersFrom(1)
  const draw = { chance, next, instantMs: CREATED + 600_000, ours: ID }
  const items = Array.from({ length: count }, () => make({ ...draw, isOdd: chance.bool(odd) }))
  // Some banks list a payment twice.
  return chance.bool(0.1) ? [...items, ...items.slice(0, 1 + chance.below(items.length))] : items
}

function keptProblems(unreadable: readonly UnreadableItem[], list: string): string[] {
  return unreadable.flatMap(({ json, member, list: named }) => [
    ...(json.includes(PERSON.nome) || json.includes(PERSON.cpf) ? ['a case names a person'] : []),
    ...(/^(?:\/|$)/.test(member) ? [] : [`«${member}» is no pointer`]),
    ...(named === list ? [] : [`«${named}» is not ${list}`]),
  ])
}

async function statementCase(chance: Chance, kind: 'api-pix' | 'efi'): Promise<ShapeCase> {
  const items = itemsOf(chance, paymentItem)
  return listCase(
    kind,
    items,
    null,
    'received',
    (path) => !path.includes('devolucaoPresente') && !path.includes('enviados'),
  )
}

async function sentCase(chance: Chance): Promise<ShapeCase> {
  return listCase('efi', itemsOf(chance, sentItem), 'sent:0', 'sent', (path) => path.includes('enviados'))
}

async function listCase(
  kind: 'api-pix' | 'efi',
  items: readonly Item[],
  cursor: string | null,
  list: string,
  isOfList: (path: string) => boolean,
): Promise<ShapeCase> {
  const page = { parametros: { paginacao: pagination(0, 1, items.length) }, pix: items.map(({ json }) => json) }
  const body = asReceived(page)
  const partner = partnerAt(kind, ({ path }) => answered(200, isOfList(path) ? body : asReceived(emptyPage)))
  const { entries, unreadable, stopped } = await walk(partner, cursor, (next) => !next?.startsWith(`${list}:`))
  if (stopped) return { body, problems: [`not read: ${stopped}`] }
  const read = { entries, unreadable: unreadable.length }
  return { body, problems: [...listProblems(items, read), ...keptProblems(unreadable, list)] }
}

/** Spellings of a count of pages or of a page: right ones, and such as say nothing. */
const NUMBERS: readonly ((value: number) => unknown)[] = [
  (value) => value,
  (value) => value,
  (value) => String(value),
  (value) => literal(`${value}.0`),
  (value) => literal(`${value}e0`),
  () => null,
  () => undefined,
  () => '',
  () => 'x',
  () => -1,
  () => 1.5,
  () => true,
  () => [],
  () => ({}),
]

/** A list of several pages, whose numbers are odd: all of it is read, or it is said that it is not. */
async function pagesCase(chance: Chance): Promise<ShapeCase> {
  const pages = 1 + chance.below(4)
  const next = numbersFrom(1)
  const draw = { chance, next, instantMs: CREATED + 600_000, ours: ID, isOdd: false }
  const items = Array.from({ length: pages }, () =>
    Array.from({ length: pages === 1 ? chance.below(3) : 100 }, () => paymentItem(draw)),
  )
  // Some banks look at no number of a page.
  const isStuck = chance.bool(0.1)
  const one = <T>(all: readonly T[]) => (isStuck ? all[0] : chance.pick(all)) as T
  const [current, count, total, wrap] = [one(NUMBERS), one(NUMBERS), one(NUMBERS), one(ENVELOPES)]
  const bodyOf = (page: number) => {
    const all = items.flat().length
    const paginacao = { ...pagination(page, pages, all), paginaAtual: current(page), quantidadeDePaginas: count(pages) }
    const numbered = { ...paginacao, quantidadeTotalDeItens: total(all) }
    return asReceived(wrap(numbered, items[page]?.map(({ json }) => json) ?? []))
  }
  const partner = partnerAt('api-pix', ({ path }) => {
    const query = new URL(path, 'https://bank').searchParams
    if (query.has('devolucaoPresente')) return answered(200, emptyPage)
    return answered(200, bodyOf(isStuck ? 0 : Number(query.get('paginacao.paginaAtual'))))
  })
  const { entries, unreadable, stopped } = await walk(partner, null, (next) => !next?.startsWith('received:'))
  const isPlain =
    !(isStuck && pages > 1) &&
    [current, count, total].every((spell) => typeof spell(1) === 'number' && spell(1) === 1) &&
    wrap === ENVELOPES[0]
  const body = bodyOf(0)
  const problems = listProblems(items.flat(), { entries, unreadable: unreadable.length })
  if (!stopped)
    return { body, problems: unreadable.length > 0 ? problems.filter((one) => !/^(?:lost|\d)/.test(one)) : problems }
  const isWrong = isPlain || stopped === 'without end'
  return { body, problems: isWrong ? [`stopped: ${stopped}`] : problems.filter((one) => !/^(?:lost|\d)/.test(one)) }
}

/** How a page is put; the first is the standard's. */
const ENVELOPES: readonly ((paginacao: object, pix: readonly unknown[]) => unknown)[] = [
  (paginacao, pix) => ({ parametros: { paginacao }, pix }),
  (paginacao, pix) => ({ parametros: { inicio: null, paginacao }, pix, constructor: 1 }),
  (paginacao, pix) => ({ parametros: { paginacao }, pix: pix.length === 0 ? null : pix }),
  (paginacao, pix) => ({ parametros: { paginacao }, pix: pix.length === 1 ? pix[0] : pix }),
  (paginacao, pix) => ({ parametros: { paginacao }, pix: { ...pix } }),
  (_, pix) => ({ parametros: { paginacao: null }, pix }),
  (paginacao, pix) => ({ parametros: null, paginacao, pix }),
  (_, pix) => ({ pix }),
  (_, pix) => ({ parametros: {}, pix }),
  (_, pix) => ({ parametros: [], pix }),
  (_, pix) => pix,
]

/** The kinds of cases. */
export const SHAPE_CASES: Readonly<Record<string, (chance: Chance) => Promise<ShapeCase>>> = {
  statement: (chance) => statementCase(chance, 'api-pix'),
  'statement at Efí': (chance) => statementCase(chance, 'efi'),
  pages: pagesCase,
  sent: sentCase,
  charge: (chance) => chargeCase(chance, partnerAt),
  refund: (chance) => refundCase(chance, partnerAt),
  payout: (chance) => payoutCase(chance, partnerAt),
  balance: (chance) => balanceCase(chance, partnerAt),
  callback: async (chance) => callbackCase(chance),
  absence: (chance) => absenceCase(chance, partnerAt),
  refusal: (chance) => refusalCase(chance, partnerAt),
}

/** A case that came out wrong. */
export interface Finding {
  /** Which one: with the seed it is drawn again. */
  readonly number: number
  readonly body: string
  readonly problems: readonly string[]
}

const SHOWN = 3_000

function shown(body: unknown): string {
  try {
    return (JSON.stringify(body) ?? '').slice(0, SHOWN)
  } catch {
    return 'deeper than can be shown'
  }
}

/** Draws so many cases of a kind and finds what is made wrongly of them. */
export async function findShapes(seed: number, cases: number, kind: string): Promise<Finding[]> {
  const make = SHAPE_CASES[kind]
  if (!make) throw new Error(`no cases are of ${kind}`)
  const findings: Finding[] = []
  for (let number = 0; number < cases; number++) {
    const { body, problems } = await attempted(() => make(chanceOf(seed, kind.length, number)))
    if (problems.length === 0) continue
    findings.push({ number, problems, body: shown(body) })
  }
  return findings
}

/** An exception is a problem like any other. */
async function attempted(make: () => Promise<ShapeCase>): Promise<ShapeCase> {
  try {
    return await make()
  } catch (error) {
    return { body: undefined, problems: [`threw ${error instanceof Error ? error.stack : String(error)}`] }
  }
}
