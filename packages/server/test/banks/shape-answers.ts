import { type CallbackOrigin, createApiPixInbound } from '../../src/banks/api-pix/inbound.ts'
import type { ReadableEvent } from '../../src/banks/inbound.ts'
import type { Outcome, PartnerCall } from '../../src/banks/link.ts'
import type { Charge, Partner, PaymentReturn, Payout, Refund } from '../../src/banks/port.ts'
import type { Chance } from '../fuzz/chance.ts'
import { COB, CREATED, E2E, ID, MERCHANT, NOON, REFUND, REQUEST } from './api-pix/fixture.ts'
import { answered } from './api-pix/scripted.ts'
import { drawn, noItem, OUR_REFUND, paymentItem, returnShape } from './shape-items.ts'
import { sentAlone } from './shape-sent.ts'
import {
  amountShape,
  asReceived,
  exactly,
  instantShape,
  literal,
  movedShape,
  noise,
  perhaps,
  plainAmount,
  plainInstant,
  type Reading,
  textOf,
  UNREADABLE,
} from './shape-values.ts'

/** Answers about one thing, in every shape: a charge, a refund, a payout, the balance; and callbacks. */

interface Checked {
  readonly body: unknown
  readonly problems: readonly string[]
}

type PartnerAt = (kind: 'api-pix' | 'efi', answers: (call: PartnerCall) => Outcome) => Partner

const numbers = () => {
  let number = 1
  return () => number++
}

const isOpen = (readings: readonly Reading<unknown>[]) => readings.some(({ mayBeUnread }) => mayBeUnread)

const show = (value: unknown) =>
  JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? `${inner}` : inner)) ?? String(value)

/** Problems of a value that is none of its meanings. */
function not<T>(name: string, value: T, means: readonly T[]): string[] {
  return means.includes(value) ? [] : [`${name} is ${show(value)}, not ${show(means)}`]
}

/** The same of what is booked; what is another than ours may lack it, as it is evidence alone. */
function notOf<T>(kind: string, name: string, value: T | undefined, means: readonly T[]): string[] {
  return kind === 'CONTRADICTED' && value === undefined ? [] : not(name, value, means)
}

type Word = 'ATIVA' | 'CONCLUIDA' | 'REMOVIDA_PELO_USUARIO_RECEBEDOR' | 'REMOVIDA_PELO_PSP'

const CHARGE_STATUSES: readonly (readonly [json: unknown, reading: Reading<Word>])[] = [
  ['ATIVA', exactly('ATIVA')],
  ['ATIVA', exactly('ATIVA')],
  ['CONCLUIDA', exactly('CONCLUIDA')],
  ['CONCLUIDA', exactly('CONCLUIDA')],
  ['CONCLUIDA', exactly('CONCLUIDA')],
  ['REMOVIDA_PELO_USUARIO_RECEBEDOR', exactly('REMOVIDA_PELO_USUARIO_RECEBEDOR')],
  ['REMOVIDA_PELO_PSP', exactly('REMOVIDA_PELO_PSP')],
  ['ativa', perhaps('ATIVA')],
  ['CONCLUÍDA', perhaps('CONCLUIDA')],
  ['Concluida', perhaps('CONCLUIDA')],
  ...['PAGA', 'EXPIRADA', '', 'constructor', 'toString', '__proto__', null, undefined, 1, {}, ['ATIVA']].map(
    (json) => [json, UNREADABLE] as const,
  ),
]

const SECONDS: readonly (readonly [json: unknown, reading: Reading<number>])[] = [
  [3_599, exactly(3_599)],
  [3_599, exactly(3_599)],
  [86_400, exactly(86_400)],
  [1, exactly(1)],
  [literal('3599.0'), exactly(3_599)],
  ['3599', perhaps(3_599)],
  [literal('3.599e3'), exactly(3_599)],
  // The standard's own default.
  [null, perhaps(86_400)],
  [undefined, perhaps(86_400)],
  [2_147_483_647, perhaps(2_147_483_647)],
  ...[0, -1, 1.5, 1e300, literal('1e400'), '', 'x', '0x10', true, [], {}, [3_599]].map(
    (json) => [json, UNREADABLE] as const,
  ),
]

interface ChargeShape {
  readonly body: unknown
  readonly status: Reading<Word>
  readonly valueCents: Reading<bigint>
  readonly endsAt: Reading<number>
  /** True if its id and key are ours; both values: it is left open. */
  readonly isOurs: Reading<boolean>
  readonly items: readonly ReturnType<typeof paymentItem>[]
  /** The value of `pix` is a list, or missing. */
  readonly isList: boolean
}

const NAMES = (right: string): readonly (readonly [json: unknown, isOurs: Reading<boolean>])[] => [
  [right, exactly(true)],
  [right, exactly(true)],
  [right, exactly(true)],
  ['z'.repeat(32), exactly(false)],
  [null, perhaps(true, false)],
  [undefined, perhaps(true, false)],
  [7, perhaps(false)],
  [[right], perhaps(false)],
  [{}, perhaps(false)],
  ['', perhaps(true, false)],
]

function chargeShape(chance: Chance): ChargeShape {
  const drawing = { chance, isOdd: chance.bool(0.8), next: numbers(), instantMs: CREATED + 600_000, ours: ID }
  const mostly = { chance, isOdd: drawing.isOdd && chance.bool(0.4) }
  const [status, word] = chance.bool(0.7) ? chance.pick(CHARGE_STATUSES.slice(0, 7)) : chance.pick(CHARGE_STATUSES)
  const value = drawn(mostly, amountShape, plainAmount, REQUEST.valueCents)
  const made = drawn(mostly, instantShape, plainInstant, CREATED + 1_000)
  const pick = <T>(all: readonly T[]) => (mostly.isOdd && chance.bool(0.3) ? chance.pick(all) : all[0]) as T
  const [expiracao, seconds] = pick(SECONDS)
  const [txid, isId] = pick(NAMES(ID))
  const [chave, isKey] = pick(NAMES(MERCHANT.pixKey))
  const items = Array.from({ length: chance.below(4) }, () =>
    paymentItem({ ...drawing, isOdd: drawing.isOdd && chance.bool(0.6) }),
  )
  const isList = !drawing.isOdd || chance.bool(0.9)
  const pix = items.length > 0 ? items.map(({ json }) => json) : chance.pick([undefined, null, []])
  return {
    body: {
      ...COB,
      ...(drawing.isOdd && noise(chance)),
      ...(mostly.isOdd && chance.pick(CHARGE_NOISE)),
      txid,
      chave,
      status,
      valor: { original: value.json, modalidadeAlteracao: chance.pick([0, null, '0', undefined]) },
      calendario: { criacao: made.json, expiracao },
      pix: isList ? pix : chance.pick(['', 'x', 0, {}, true]),
    },
    status: word,
    valueCents: value.reading,
    endsAt: {
      means: [
        ...made.reading.means.flatMap((instantMs) => seconds.means.map((lasts) => instantMs + lasts * 1_000)),
        // We always ask for an end: a bank that leaves it out may have kept it.
        ...(expiracao === null || expiracao === undefined ? [REQUEST.expiresAt] : []),
      ],
      mayBeUnread: isOpen([made.reading, seconds]),
    },
    isOurs: {
      means: [true, false].filter((one) => (one ? [isId, isKey].every(({ means }) => means.includes(true)) : true)),
      mayBeUnread: isOpen([isId, isKey]),
    },
    items: isList ? items : [],
    isList,
  }
}

/** Beside what a charge is: optional, or of no consequence. */
const CHARGE_NOISE: readonly object[] = [
  { loc: null, devedor: null, infoAdicionais: null, solicitacaoPagador: null },
  { revisao: '0' },
  { revisao: null },
  { revisao: {} },
  { devedor: { nome: null, cpf: 52998224725 } },
  { devedor: [] },
  { devedor: 'x' },
  { infoAdicionais: {} },
  { infoAdicionais: [null, 1] },
  { solicitacaoPagador: 7 },
  { loc: { id: '789', location: COB.location, tipoCob: null, criacao: 'ontem' } },
  { loc: 7 },
  { pixCopiaECola: null },
  { loc: [] },
]

const OUR_WORDS = {
  ATIVA: 'ACTIVE',
  REMOVIDA_PELO_USUARIO_RECEBEDOR: 'CANCELLED',
  REMOVIDA_PELO_PSP: 'FAILED',
  CONCLUIDA: 'PAID',
} as const

/** A charge, asked about or just made. */
export async function chargeCase(chance: Chance, partnerAt: PartnerAt): Promise<Checked> {
  const shape = chargeShape(chance)
  const body = asReceived(shape.body)
  const page = { parametros: { paginacao: { paginaAtual: 0, quantidadeDePaginas: 1 } }, pix: [] }
  const isMade = chance.bool(0.3)
  const partner = partnerAt(chance.pick(['api-pix', 'efi']), ({ path }) =>
    path.includes('/cob/') ? answered(isMade ? 201 : 200, body) : answered(200, page),
  )
  const answer = await (isMade ? partner.createCharge(ID, REQUEST) : partner.getCharge(ID, REQUEST))
  if ('charge' in answer) return { body, problems: chargeProblems(shape, answer.kind, answer.charge) }
  if (answer.kind !== 'UNKNOWN') return { body, problems: [`${answer.kind}`] }
  return { body, problems: mayBeUnknown(shape) ? [] : [`unknown: ${answer.reason}`] }
}

/** True if it has a reason not to be read. */
function mayBeUnknown({ status, valueCents, endsAt, isOurs, items, isList }: ChargeShape): boolean {
  if (!isList || isOpen([status, valueCents, endsAt, isOurs])) return true
  const hasPayment = items.some(({ units: [payment] }) => payment && !payment.mayBeUnread && !payment.mayBeSilent)
  return status.means[0] === 'CONCLUIDA' && !hasPayment
}

function chargeProblems(shape: ChargeShape, kind: string, charge: Charge): string[] {
  const { status, valueCents, endsAt, isOurs, items } = shape
  const words = status.means.flatMap((word) =>
    word === 'ATIVA' && charge.expiresAt <= NOON ? ['EXPIRED'] : [OUR_WORDS[word]],
  )
  // Money counts for more than the word.
  const isPaidAnyway = charge.status === 'PAID' && charge.payments.length > 0
  const differs = charge.valueCents !== REQUEST.valueCents || !isOurs.means.includes(true)
  const isFirmlyOurs = !isOurs.mayBeUnread
  return [
    ...not('value', charge.valueCents, valueCents.means),
    ...not('end', charge.expiresAt, endsAt.means),
    ...(isPaidAnyway ? [] : not('status', charge.status as string, words)),
    ...(charge.status === 'PAID' && charge.payments.length === 0 && kind !== 'CONTRADICTED' ? ['paid by nothing'] : []),
    ...(differs && kind !== 'CONTRADICTED' ? [`${kind}, though it is another`] : []),
    ...(!differs && isFirmlyOurs && kind === 'CONTRADICTED' && charge.expiresAt === CREATED + 3_600_000
      ? ['contradicted, though it is the same']
      : []),
    ...paymentProblems(items, charge),
  ]
}

/** The payments of a charge: each that must be read was read, and no other. */
function paymentProblems(items: ChargeShape['items'], charge: Charge): string[] {
  const entries = charge.payments.map(({ endToEndId, valueCents, occurredAt }) =>
    JSON.stringify([endToEndId, `${valueCents}`, occurredAt]),
  )
  const units = items.map(({ units: [payment] }) => ({
    ...payment,
    anyOf: (payment?.anyOf ?? []).map(withoutReference),
  }))
  const allowed = new Set(units.flatMap(({ anyOf }) => anyOf))
  const ofThis = items.map(({ json }) => isOfThis(json))
  return [
    ...entries.filter((text) => !allowed.has(text)).map((text) => `no payment says ${text}`),
    ...units.flatMap(({ anyOf, mayBeUnread, mayBeSilent }, index) =>
      mayBeUnread || mayBeSilent || ofThis[index] !== true || anyOf.some((text) => entries.includes(text))
        ? []
        : [`lost: ${anyOf[0]}`],
    ),
    ...charge.payments.flatMap(({ returns = [] }) => returns.flatMap((one) => returnProblems(items, one))),
    ...charge.payments.flatMap(({ payer }) =>
      Object.values(payer).every((value) => value === undefined || typeof value === 'string')
        ? []
        : ['payer is no text'],
    ),
  ]
}

/** A return of a payment: some item says the same of its id, amount, time and of who had it given back. */
function returnProblems(
  items: ChargeShape['items'],
  { returnId, valueCents, occurredAt, origin }: PaymentReturn,
): string[] {
  const kind = origin === 'MERCHANT' ? 'REFUND_SENT' : 'PAYMENT_TAKEN_BACK'
  const said = items.flatMap(({ units }) => units).flatMap(({ anyOf }) => anyOf.map((text) => JSON.parse(text)))
  const isSaid = said.some(
    ([what, , id, , , cents, instantMs]) =>
      what === kind && id === returnId && cents === String(valueCents) && instantMs === occurredAt,
  )
  return isSaid ? [] : [`no return says ${show([origin, returnId, valueCents, occurredAt])}`]
}

const withoutReference = (text: string) => {
  const [, , , endToEndId, , value, instantMs] = JSON.parse(text)
  return JSON.stringify([endToEndId, value, instantMs])
}

/**
 * Whether an item under a charge is a payment of it: without a txid it is, by where it stands. Of one with another txid the
 * bank says two things, and the standard does not say which counts.
 */
function isOfThis(json: unknown): boolean | undefined {
  const txid = typeof json === 'object' && json !== null && 'txid' in json ? json.txid : undefined
  if (txid === undefined || txid === null || txid === ID) return true
  return /^[a-z0-9]{1,35}$/.test(String(txid)) && typeof txid === 'string' ? false : undefined
}

/** A refund, asked about or just ordered. */
export async function refundCase(chance: Chance, partnerAt: PartnerAt): Promise<Checked> {
  const isOdd = chance.bool(0.9)
  const drawing = { chance, isOdd, next: numbers() }
  const shape = returnShape(drawing, CREATED + 600_000, ID)
  const value = drawn({ chance, isOdd: isOdd && chance.bool(0.5) }, movedShape, plainAmount, REFUND.valueCents)
  const body = asReceived({ ...shape.json, valor: value.json })
  const isSent = chance.bool(0.3)
  const partner = partnerAt(chance.pick(['api-pix', 'efi']), () => answered(isSent ? 201 : 200, body))
  const answer = await (isSent ? partner.sendRefund(ID, REFUND) : partner.getRefund(ID, REFUND))
  const isOpenHere = isOpen([shape.id, value.reading, shape.occurredAt, shape.by]) || typeof shape.moved !== 'boolean'
  if (answer.kind === 'UNKNOWN') return { body, problems: isOpenHere ? [] : [`unknown: ${answer.reason}`] }
  if (!('refund' in answer)) return { body, problems: [answer.kind] }
  const { id } = shape.json
  const isForeign = id !== ID && typeof id === 'string' && id !== ''
  return {
    body,
    problems: refundProblems({ ...shape, valueCents: value.reading }, isForeign, answer.kind, answer.refund),
  }
}

function refundProblems(
  shape: ReturnType<typeof returnShape>,
  isForeign: boolean,
  kind: string,
  refund: Refund,
): string[] {
  const words = { DEVOLVIDO: 'CONFIRMED', EM_PROCESSAMENTO: 'PROCESSING', NAO_REALIZADO: 'FAILED' } as const
  const word = words[String(shape.json.status) as keyof typeof words]
  const status = shape.moved === undefined ? [] : [word ?? 'CONFIRMED']
  const isOther = isForeign || refund.valueCents !== REFUND.valueCents
  return [
    ...not('value', refund.valueCents, shape.valueCents.means),
    ...not('status', refund.status, status),
    ...(refund.status === 'CONFIRMED' ? notOf(kind, 'return id', refund.returnId, shape.id.means) : []),
    ...(refund.status === 'CONFIRMED' ? notOf(kind, 'time', refund.occurredAt, shape.occurredAt.means) : []),
    ...(isOther && kind !== 'CONTRADICTED' ? [`${kind}, though it is another`] : []),
    ...(!isOther && kind === 'CONTRADICTED' && shape.ourId !== undefined
      ? ['contradicted, though it is the same']
      : []),
  ]
}

const PAID_CENTS = 1_234n

/** A payout by Efí, asked about. */
export async function payoutCase(chance: Chance, partnerAt: PartnerAt): Promise<Checked> {
  const shape = sentAlone(chance, CREATED + 600_000, ID, PAID_CENTS)
  const body = asReceived(shape.json)
  const answer = await partnerAt('efi', () => answered(200, body)).getPayout(ID, { valueCents: PAID_CENTS })
  const { id, valueCents, occurredAt, status, ours } = shape
  // An answer that names no order may be about another.
  const isNamed = !ours.mayBeUnread && (ours.means.includes(ID) || ours.means.includes('outro1'))
  const isOpenHere =
    !isNamed ||
    isOpen([id, valueCents, occurredAt, status, ours]) ||
    shape.hasOddReturns ||
    !isPayee(shape.json.favorecido)
  if (answer.kind === 'UNKNOWN') return { body, problems: isOpenHere ? [] : [`unknown: ${answer.reason}`] }
  if (!('payout' in answer)) return { body, problems: [answer.kind] }
  return { body, problems: payoutProblems(shape, answer.kind, answer.payout) }
}

/** True if the payee's key, which a bank must echo, can be read. */
const isPayee = (payee: unknown) =>
  payee === undefined || payee === null || (typeof payee === 'object' && !Array.isArray(payee))

function payoutProblems(shape: ReturnType<typeof sentAlone>, kind: string, payout: Payout): string[] {
  const words = { REALIZADO: ['CONFIRMED', 'RETURNED'], EM_PROCESSAMENTO: ['PROCESSING'], NAO_REALIZADO: ['FAILED'] }
  const moved = payout.status === 'CONFIRMED' || payout.status === 'RETURNED'
  const distinct = new Map(payout.returns.map(({ returnId, valueCents }) => [returnId, valueCents]))
  const back = [...distinct.values()].reduce((sum, cents) => sum + cents, 0n)
  const returns = shape.returns.map(({ id, valueCents, occurredAt, moved }) => ({
    texts: (moved.means.includes(true) ? id.means : []).flatMap((one) =>
      valueCents.means.flatMap((cents) => occurredAt.means.map((instantMs) => show([one, cents, instantMs]))),
    ),
    isFirm: !isOpen([id, valueCents, occurredAt, moved]) && moved.means.includes(true),
  }))
  const read = payout.returns.map(({ returnId, valueCents, occurredAt }) => show([returnId, valueCents, occurredAt]))
  const isOther = payout.valueCents !== PAID_CENTS || shape.json.idEnvio === 'outro1'
  return [
    ...not('value', payout.valueCents, shape.valueCents.means),
    ...not(
      'status',
      payout.status as string,
      shape.status.means.flatMap((word) => words[word]),
    ),
    ...(moved ? notOf(kind, 'id', payout.endToEndId, shape.id.means) : []),
    ...(moved ? notOf(kind, 'time', payout.occurredAt, shape.occurredAt.means) : []),
    ...(moved && (payout.status === 'RETURNED') !== back >= payout.valueCents
      ? [`${payout.status}, and ${back} are back`]
      : []),
    ...(isOther && kind !== 'CONTRADICTED' ? [`${kind}, though it is another`] : []),
    ...read.filter((text) => !returns.some(({ texts }) => texts.includes(text))).map((text) => `nothing says ${text}`),
    ...(moved ? returns.filter(({ isFirm, texts }) => isFirm && !texts.some((text) => read.includes(text))) : []).map(
      ({ texts }) => `lost: ${texts[0]}`,
    ),
  ]
}

/** The balance at Efí: an amount that may be below zero. */
export async function balanceCase(chance: Chance, partnerAt: PartnerAt): Promise<Checked> {
  const saldo = drawn({ chance, isOdd: true }, amountShape, plainAmount, BigInt(chance.below(1_000_000_000)))
  const bloqueado = chance.bool(0.3) ? drawn({ chance, isOdd: true }, amountShape, plainAmount, 350n) : undefined
  const bloqueios = bloqueado ? { total: bloqueado.json } : chance.pick([undefined, null])
  const body = asReceived({ ...noise(chance), saldo: saldo.json, bloqueios })
  const answer = await partnerAt('efi', () => answered(200, body)).readBalance()
  const below = centsBelowZero(body)
  if (answer.kind !== 'READ') {
    const isFirm = !saldo.reading.mayBeUnread && !bloqueado?.reading.mayBeUnread
    return { body, problems: isFirm ? [`${answer.kind} ${answer.reason}`] : [] }
  }
  const { availableCents, blockedCents } = answer.balance
  return {
    body,
    problems: [
      ...not('balance', availableCents, [...saldo.reading.means, ...below]),
      ...(blockedCents === undefined && !bloqueado?.reading.means.length
        ? []
        : not('blocked', blockedCents, [...(bloqueado?.reading.means ?? []), undefined])),
    ],
  }
}

/** A balance may be below zero, as no amount that moved is. */
function centsBelowZero(body: unknown): bigint[] {
  const [, reais, decimals = ''] = /^-(\d+)(?:\.(\d{1,2}))?$/.exec(String((body as { saldo?: unknown }).saldo)) ?? []
  return reais === undefined ? [] : [-BigInt(reais + decimals.padEnd(2, '0'))]
}

/** Text that no database stores: a callback with it is left to the statement as a whole. */
const UNKEEPABLE = /\\u0000|\\ud[89a-f]|[:,[]-?\d{65}|\de4\d\d/i

const OPEN_ORIGIN: CallbackOrigin = { secrets: [] }

/** A callback: a question about each thing that it names, whatever else it says. */
export function callbackCase(chance: Chance): Checked {
  const next = numbers()
  const items = Array.from({ length: chance.bool(0.05) ? 100 : 1 + chance.below(4) }, () => callbackItem(chance, next))
  const all = items.map(({ json }) => json)
  const [first] = all
  const forms = [
    { pix: all },
    { ...noise(chance), pix: all },
    all,
    ...(all.length === 1 ? [{ pix: first }, first] : []),
  ]
  const text = textOf(chance.pick(forms))
  const inbound = createApiPixInbound(OPEN_ORIGIN)
  const bytes = Buffer.from(text)
  const events = inbound.parse('api-pix', bytes) as readonly ReadableEvent[]
  const asked = new Set(events.map(({ subject, references }) => `${subject} ${references.externalId}`))
  const isKeepable = !UNKEEPABLE.test(text)
  const must = new Set(isKeepable ? items.flatMap((item) => item.must) : [])
  const may = new Set(items.flatMap((item) => [...item.must, ...item.may]))
  const unread = inbound.unread?.(bytes)
  const isUnread = items.some((item) => item.isUnread)
  return {
    body: text,
    problems: [
      ...[...must].filter((one) => !asked.has(one)).map((one) => `not asked: ${one}`),
      ...[...asked].filter((one) => !may.has(one)).map((one) => `asked, though nothing says so: ${one}`),
      ...(isUnread && unread === undefined ? ['a part is not read, and nothing says so'] : []),
    ],
  }
}

interface CallbackItem {
  readonly json: unknown
  readonly must: readonly string[]
  readonly may: readonly string[]
  readonly isUnread: boolean
}

/** An item of a callback. Its amounts, times and words mean nothing: the bank is asked. */
function callbackItem(chance: Chance, next: () => number): CallbackItem {
  if (chance.bool(0.1)) {
    const { json } = noItem(chance)
    const isEmpty = json === null || typeof json === 'object'
    return { json, must: [], may: [], isUnread: !isEmpty }
  }
  const drawing = { chance, isOdd: chance.bool(0.7), next, instantMs: CREATED, ours: ID }
  const returns = Array.from({ length: chance.below(3) }, () => returnShape(drawing, CREATED, OUR_REFUND))
  const { json } = paymentItem({ ...drawing, isOdd: false })
  const value = drawn(drawing, amountShape, plainAmount, 1_000n)
  const when = drawn(drawing, instantShape, plainInstant, CREATED)
  const [txid, isNamed] = drawing.isOdd ? chance.pick(CALLBACK_TXIDS) : ([ID, true] as const)
  const devolucoes = returns.length > 0 ? returns.map(({ json }) => json) : chance.pick([undefined, null, []])
  const item = {
    ...(json as object),
    ...(drawing.isOdd && noise(chance)),
    txid,
    valor: value.json,
    horario: when.json,
    devolucoes,
  }
  const names = returns.flatMap(({ ourId }) => (ourId ? [`refund ${OUR_REFUND}`] : []))
  const foreign = returns.flatMap(({ json }) => [`refund ${json.id ?? null}`, 'refund null', 'refund '])
  const isText = (json: unknown) => json === undefined || json === null || typeof json === 'string'
  const isFirm = returns.every(({ id, ourId, json }) => ourId && !id.mayBeUnread && isText(json.status))
  return {
    json: drawing.isOdd && chance.bool(0.3) ? { ...item, endToEndId: E2E } : item,
    must: [...(isNamed ? [`charge ${txid}`] : []), ...(isFirm && isNamed ? names : [])],
    may: [...names, ...foreign, `charge ${typeof txid === 'string' ? txid : null}`, 'charge null'],
    isUnread: isNamed === undefined,
  }
}

/** Txids, and whether something is asked about them; `undefined`: they cannot be read. */
const CALLBACK_TXIDS: readonly (readonly [json: unknown, isNamed: boolean | undefined])[] = [
  [ID, true],
  [ID, true],
  [undefined, false],
  [null, false],
  ['', false],
  ['a'.repeat(35), true],
  [7, undefined],
  [{}, undefined],
  [[ID], undefined],
]
