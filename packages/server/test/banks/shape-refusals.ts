import type { Outcome, PartnerCall } from '../../src/banks/link.ts'
import type { Partner } from '../../src/banks/port.ts'
import type { Chance } from '../fuzz/chance.ts'
import { ID, REFUND, REQUEST } from './api-pix/fixture.ts'
import { answered } from './api-pix/scripted.ts'
import { asReceived, exactly, noise, perhaps, type Reading, UNREADABLE } from './shape-values.ts'

/** Refusals in every shape: that there is nothing under an id is the bank's own typed word, and nothing else is. */

const ERROR = 'https://pix.bcb.gov.br/api/v2/error/'

const ABSENT = ['CobNaoEncontrado', 'PixNaoEncontrado', 'PixDevolucaoNaoEncontrada', 'NaoEncontrado'] as const

/** Types of a problem, and whether one says that there is nothing. */
const TYPES: readonly (readonly [json: unknown, isAbsent: Reading<boolean>])[] = [
  ...ABSENT.map((word) => [ERROR + word, exactly(true)] as const),
  ...ABSENT.flatMap((word) =>
    [word, `https://api.bank.example/error/${word}`, `${ERROR}${word}/`, `${ERROR}${word}\n`, ` ${ERROR}${word}`].map(
      (json) => [json, perhaps(true)] as const,
    ),
  ),
  ...[
    null,
    undefined,
    '',
    'about:blank',
    7,
    {},
    [`${ERROR}CobNaoEncontrado`],
    'Cob não encontrado',
    `${ERROR}RotaNaoEncontrada`,
    `${ERROR}CobNaoEncontradoAinda`,
    `${ERROR}CobNaoEncontrado?type=CobOperacaoInvalida`,
    `${ERROR}AcessoNegado`,
    `${ERROR}CobOperacaoInvalida`,
    `${ERROR}constructor`,
  ].map((json) => [json, UNREADABLE] as const),
]

const TEXTS: readonly unknown[] = [undefined, null, '', 'Não encontrado', 7, true, {}, [], ['x'], 'a\u0000b', '\uD800']
const VIOLATIONS: readonly unknown[] = [
  undefined,
  null,
  [],
  {},
  'x',
  7,
  [null, 'x', {}, { razao: 7, propriedade: {} }],
  { razao: 'inválido', propriedade: 'cob.valor' },
  [{ razao: 'inválido', propriedade: 'cob.valor', valor: {} }],
]

function problemOf(chance: Chance, type: unknown): Record<string, unknown> {
  return {
    ...noise(chance),
    type,
    title: chance.pick(TEXTS),
    detail: chance.pick(TEXTS),
    status: chance.pick([undefined, null, 404, '404', 'x', {}]),
    correlationId: chance.pick(TEXTS),
    violacoes: chance.pick(VIOLATIONS),
  }
}

type PartnerAt = (kind: 'api-pix' | 'efi', answers: (call: PartnerCall) => Outcome) => Partner

interface Checked {
  readonly body: unknown
  readonly problems: readonly string[]
}

/** A question that is answered by a problem. */
export async function absenceCase(chance: Chance, partnerAt: PartnerAt): Promise<Checked> {
  const [type, isAbsent] = chance.bool(0.4) ? chance.pick(TYPES.slice(0, 4)) : chance.pick(TYPES)
  const httpStatus = chance.pick([404, 404, 404, 400, 403, 410, 422, 500])
  const body = asReceived(problemOf(chance, type))
  const kind = chance.pick(['api-pix', 'efi'] as const)
  const partner = partnerAt(kind, () => answered(httpStatus, body))
  const ask: readonly (() => Promise<{ readonly kind: string }>)[] = [
    () => partner.getCharge(ID, REQUEST),
    () => partner.getRefund(ID, REFUND),
    () => partner.cancelCharge(ID),
  ]
  const which = chance.below(ask.length)
  const answer = await ask[which]?.()
  const mayBeAbsent = httpStatus === 404 && isAbsent.means.length > 0
  const isCancel = which === 2
  const allowed = [
    ...(mayBeAbsent ? ['NOT_FOUND'] : []),
    ...(mayBeAbsent && !isAbsent.mayBeUnread ? [] : ['UNKNOWN']),
    ...(isCancel && [400, 404, 409, 412, 422].includes(httpStatus) && !(mayBeAbsent && !isAbsent.mayBeUnread)
      ? ['REJECTED']
      : []),
  ]
  const problems = allowed.includes(answer?.kind ?? '') ? [] : [`${httpStatus}: ${answer?.kind}, not ${allowed}`]
  return { body, problems }
}

/** An order that is refused, of which the bank then says that there is nothing, or says nothing that proves it. */
export async function refusalCase(chance: Chance, partnerAt: PartnerAt): Promise<Checked> {
  const httpStatus = chance.pick([400, 404, 409, 412, 422])
  const refused = asReceived(problemOf(chance, `${ERROR}CobOperacaoInvalida`))
  const [type, isAbsent] = chance.pick(TYPES)
  const absence = asReceived(problemOf(chance, type))
  const partner = partnerAt(chance.pick(['api-pix', 'efi'] as const), ({ method }) =>
    method === 'PUT' ? answered(httpStatus, refused) : answered(404, absence),
  )
  const isCharge = chance.bool(0.5)
  const answer = await (isCharge ? partner.createCharge(ID, REQUEST) : partner.sendRefund(ID, REFUND))
  // A bank that calls an id used and has nothing under it has proved nothing, where money would be released.
  const isProof = isAbsent.means.length > 0 && (isCharge || httpStatus !== 409)
  const allowed = [...(isProof ? ['REJECTED'] : []), ...(isProof && !isAbsent.mayBeUnread ? [] : ['UNKNOWN'])]
  const body = { refused, absence }
  if (!allowed.includes(answer.kind)) return { body, problems: [`${httpStatus}: ${answer.kind}, not ${allowed}`] }
  if (answer.kind !== 'REJECTED') return { body, problems: [] }
  const texts = [answer.errorCode, answer.errorMessage ?? '']
  const isShown = texts.every((text) => text.isWellFormed() && !text.includes('\0') && text.length <= 200)
  return { body, problems: isShown ? [] : ['what it says cannot be kept'] }
}
