import { limits, type PartnerPayoutRequest } from '@pixgate/spec'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { lastExecution } from '../executions.ts'
import { behaviorFor, courseFor, executeInstruction, settleOrder } from '../instructions.ts'
import type { Payout } from '../operations.ts'
import { Refused } from '../refused.ts'
import { balanceCents } from '../statement.ts'
import type { Account } from './account.ts'
import { codeDetail } from './code-detail.ts'
import type { Conventions } from './conventions.ts'
import { falsified, plusOneCentavo } from './false-responses.ts'
import { DOCUMENT_FILTERS, isOfDocument, isPresentAs, pageOf, type Query, readList } from './lists.ts'
import { EfiError, Problem } from './problems.ts'
import { acceptedPixOf, type SentPix, sentPixOf } from './sent-pix.ts'
import { AMOUNT, centsOf, valorOf } from './values.ts'

const SENT_ID = /^[a-zA-Z0-9]{1,35}$/

/** Amount by which the lie `balanceShort` understates the balance. */
const SHORT_CENTS = 10_000

const chave = Type.String({ minLength: 1, maxLength: limits.pixKeyMaxLength })

const pagador = Type.Object({ chave, infoPagador: Type.Optional(Type.String({ maxLength: 140 })) })

const pixSend = Type.Object({
  valor: Type.String({ pattern: AMOUNT }),
  pagador,
  // Recipients by bank account are not supported: the book only has Pix keys.
  favorecido: Type.Object({
    chave,
    cpf: Type.Optional(Type.String({ pattern: '^\\d{11}$' })),
    cnpj: Type.Optional(Type.String({ pattern: '^[0-9A-Z]{14}$' })),
  }),
})

const qrCodePay = Type.Object({
  pagador,
  pixCopiaECola: Type.String({ minLength: 1, maxLength: limits.pixCodeMaxLength }),
  /** For a code whose amount the payer chooses. */
  valor: Type.Optional(Type.String({ pattern: AMOUNT })),
})

const qrCodeDetail = Type.Object({ pixCopiaECola: qrCodePay.properties.pixCopiaECola })

const sending: Conventions = {
  scope: 'pix.send',
  invalid: 'RequisicaoInvalida',
  entity: 'envio',
  refusals: {
    conflict: () => duplicate(),
    // Efí's documents have no name for this error.
    insufficient_balance: () => new EfiError(422, 'saldo_insuficiente', 'Saldo insuficiente para realizar o pagamento'),
    payout_refused: () => new EfiError(422, 'pagamento_negado', 'Pagamento negado por análises'),
    internal_error: () => new EfiError(500, 'erro_aplicacao', 'Ocorreu um erro ao validar a chave'),
  },
}

const paying: Conventions = {
  ...sending,
  scope: 'gn.qrcodes.pay',
  invalid: 'QrcodeOperacaoInvalida',
  entity: 'qrcode.pixCopiaECola',
}

const detailing: Conventions = {
  scope: 'gn.qrcodes.read',
  invalid: 'QrcodeOperacaoInvalida',
  entity: 'qrcode.pixCopiaECola',
}

const reading: Conventions = {
  scope: 'gn.pix.send.read',
  invalid: 'RequisicaoInvalida',
  entity: 'pix',
  refusals: { not_found: 'PixEnviadoNaoEncontrado' },
}

const readingBalance: Conventions = { scope: 'gn.balance.read', invalid: 'RequisicaoInvalida', entity: 'saldo' }

type SentParams = { readonly idEnvio: string }

/** Adds Efí's routes for sending Pix, which the standard does not define. @source rules#sandbox.18 */
export function efiRoutes(app: FastifyInstance, account: Account): void {
  for (const version of ['v2', 'v3']) {
    app.put<{ Params: SentParams; Body: Static<typeof pixSend> }>(
      `/${version}/gn/pix/:idEnvio`,
      { schema: { body: pixSend }, config: { conventions: sending } },
      ({ params: { idEnvio }, body }, reply) => {
        assertSendable(account, idEnvio, body.pagador.chave)
        return send(account, reply, idEnvio, body.pagador, () => payoutOf(body))
      },
    )
  }
  app.put<{ Params: SentParams; Body: Static<typeof qrCodePay> }>(
    '/v2/gn/pix/:idEnvio/qrcode',
    { schema: { body: qrCodePay }, config: { conventions: paying } },
    ({ params: { idEnvio }, body }, reply) => {
      assertSendable(account, idEnvio, body.pagador.chave)
      return send(account, reply, idEnvio, body.pagador, () => codePayoutOf(account, idEnvio, body))
    },
  )
  app.post<{ Body: Static<typeof qrCodeDetail> }>(
    '/v2/gn/qrcodes/detalhar',
    { schema: { body: qrCodeDetail }, config: { conventions: detailing } },
    async ({ body: { pixCopiaECola } }) => {
      account.bank.liar.throwIfTold('unavailable')
      return codeDetail(account.bank, pixCopiaECola)
    },
  )
  readRoutes(app, account)
}

function readRoutes(app: FastifyInstance, account: Account): void {
  const { book, liar, payouts } = account.bank
  app.get<{ Querystring: Query }>('/v2/gn/pix/enviados', { config: { conventions: reading } }, async ({ query }) => {
    liar.throwIfTold('unavailable')
    const { items, parametros } = found(account, query)
    return { parametros, pix: items }
  })
  app.get<{ Params: { e2eid: string } }>(
    '/v2/gn/pix/enviados/:e2eid',
    { config: { conventions: reading } },
    async ({ params: { e2eid } }) => {
      liar.throwIfTold('unavailable')
      const payout = [...book.payouts.values()].find(({ endToEndId }) => endToEndId === e2eid)
      if (!payout) throw new Problem('PixEnviadoNaoEncontrado')
      liar.throwNotFoundIfTold(e2eid)
      return answerOf(account, payout)
    },
  )
  app.get<{ Params: SentParams }>(
    '/v2/gn/pix/enviados/id-envio/:idEnvio',
    { config: { conventions: reading } },
    async ({ params: { idEnvio } }) => {
      liar.throwIfTold('unavailable')
      payouts.get(idEnvio)
      liar.throwNotFoundIfTold(idEnvio)
      return answerOf(account, book.payouts.get(idEnvio) as Payout)
    },
  )
  app.get<{ Querystring: Query }>('/v2/gn/saldo', { config: { conventions: readingBalance } }, async ({ query }) => {
    liar.throwIfTold('unavailable')
    const shortCents = liar.tells('balanceShort') ? SHORT_CENTS : 0
    const saldo = valorOf(balanceCents(book.entries) - shortCents)
    const nothing = valorOf(0)
    return {
      saldo,
      ...(query.bloqueios === 'true' && { bloqueios: { judicial: nothing, med: nothing, total: nothing } }),
    }
  })
}

function send(
  account: Account,
  reply: FastifyReply,
  idEnvio: string,
  { chave: debitedKey, infoPagador }: Static<typeof pagador>,
  orderOf: () => PartnerPayoutRequest,
): Promise<object | undefined> {
  const { bank } = account
  const { book, payouts, liar } = bank
  const cashOut = behaviorFor(infoPagador, bank.switchboard.behavior.cashOut)
  const isKnown = book.payouts.has(idEnvio)
  return executeInstruction(bank, reply, {
    behavior: cashOut,
    isKnown,
    refusal: 'payout_refused',
    things: 'payouts',
    execute: () => {
      if (isKnown && liar.tells('repeatRefused')) throw duplicate()
      payouts.create(idEnvio, orderOf(), courseFor(cashOut), { debitedKey })
    },
    settle: () => settleOrder(bank, bank.payoutSettler, lastExecution(idEnvio, book.payouts)),
    answer: () => {
      reply.code(201)
      const accepted = acceptedPixOf(book.payouts.get(lastExecution(idEnvio, book.payouts)) as Payout)
      return liar.tells('wrongAmount') ? { ...accepted, valor: plusOneCentavo(accepted.valor) } : accepted
    },
  })
}

/** Validates the id and the debited key of an order. @throws EfiError valor_invalido · chave_invalida */
function assertSendable({ keys }: Account, idEnvio: string, debitedKey: string): void {
  if (!SENT_ID.test(idEnvio))
    throw new EfiError(400, 'valor_invalido', 'Campo idEnvio deve respeitar ^[a-zA-Z0-9]{1,35}$')
  if (keys.includes(debitedKey)) return
  throw new EfiError(400, 'chave_invalida', 'A chave informada não faz referência à conta autenticada')
}

/** Payout order for a key. @throws EfiError valor_invalido · chave_nao_pertence_ao_documento */
function payoutOf({
  valor,
  pagador: { infoPagador: description },
  favorecido,
}: Static<typeof pixSend>): PartnerPayoutRequest {
  const { chave: pixKey, cpf, cnpj } = favorecido
  const document = cpf ?? cnpj
  assertPositive(valor)
  // A key that is a CPF or CNPJ must equal the document. The holders of other keys are not known.
  if (document !== undefined && /^(?:\d{11}|[0-9A-Z]{14})$/.test(pixKey) && document !== pixKey) {
    throw new EfiError(
      400,
      'chave_nao_pertence_ao_documento',
      'O documento do favorecido é diferente do documento em posse da chave',
    )
  }
  return {
    valueCents: centsOf(valor),
    ...(description !== undefined && { description }),
    recipient: { pixKey, pixKeyType: keyTypeOf(pixKey), ...(document !== undefined && { document }) },
  }
}

/** Payout order for a code. A repeated request reuses the earlier order, because it must be equal to count as the same. */
function codePayoutOf({ bank }: Account, idEnvio: string, body: Static<typeof qrCodePay>): PartnerPayoutRequest {
  const { pixCopiaECola: pixCode, valor, pagador } = body
  const { infoPagador: description } = pagador
  const earlier = bank.book.payouts.get(idEnvio)?.order
  if (earlier && 'decodeId' in earlier && earlier.pixCode === pixCode) {
    return { ...earlier, ...(valor !== undefined && { valueCents: centsOf(valor) }) }
  }
  if (earlier) throw duplicate()
  const { decodeId, valueCents = valor === undefined ? undefined : centsOf(valor) } = bank.qrCodes.decode(pixCode)
  if (valueCents === undefined) throw new EfiError(400, 'valor_invalido', 'Campo valor é obrigatório para este QR Code')
  return { valueCents, ...(description !== undefined && { description }), pixCode, decodeId }
}

function found(account: Account, query: Query) {
  const { book } = account.bank
  const filters = { status: /^[A-Z_]{1,40}$/, devolucaoPresente: 'boolean', ...DOCUMENT_FILTERS } as const
  const list = readList(query, 'RequisicaoInvalida', filters)
  const { from, to, parametros } = list
  const payouts = [...book.payouts.values()]
    .filter(({ acceptedAt }) => from <= acceptedAt && acceptedAt <= to)
    .filter(({ answer }) => isOfDocument(parametros, answer.recipient.document))
    .filter(({ answer }) => isPresentAs(parametros.devolucaoPresente, answer.returns.length > 0))
    .map((payout) => sentPixOf(payout, keyOf(account)))
    .filter(({ status }) => parametros.status === undefined || parametros.status === status)
  return pageOf(payouts, list)
}

function answerOf(account: Account, payout: Payout): SentPix {
  const { book, liar } = account.bank
  const truth = sentPixOf(payout, keyOf(account))
  return falsified(liar, truth, {
    foreignAnswer: () => {
      const other = [...book.payouts.values()].find(({ answer }) => answer.id !== truth.idEnvio)
      return other && sentPixOf(other, keyOf(account))
    },
    wrongAmount: () => ({ ...truth, valor: plusOneCentavo(truth.valor) }),
    falseFailure: () => ({ ...truth, horario: { solicitacao: truth.horario.solicitacao }, status: 'NAO_REALIZADO' }),
  })
}

function keyOf({ keys }: Account): string {
  const [key] = keys
  if (key === undefined) throw new Refused('internal_error', 'the account has no key')
  return key
}

function keyTypeOf(pixKey: string): 'cpf' | 'cnpj' | 'email' | 'phone' | 'evp' {
  if (/^\d{11}$/.test(pixKey)) return 'cpf'
  if (/^[0-9A-Z]{14}$/.test(pixKey)) return 'cnpj'
  if (pixKey.startsWith('+')) return 'phone'
  return pixKey.includes('@') ? 'email' : 'evp'
}

function assertPositive(valor: string): void {
  if (centsOf(valor) === 0) throw new EfiError(400, 'valor_invalido', 'Campo valor deve ser maior que zero')
}

function duplicate(): EfiError {
  return new EfiError(409, 'id_envio_duplicado', 'O id de envio informado já foi utilizado em outro pagamento')
}
