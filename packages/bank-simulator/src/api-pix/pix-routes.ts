import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { carryOut, courseUnder, settleOrder } from '../conduct.ts'
import { lastExecution } from '../executions.ts'
import type { Receipt } from '../operations.ts'
import { AMOUNT, centsOf } from './amounts.ts'
import type { Conventions } from './conventions.ts'
import type { Face } from './face.ts'
import { DOCUMENT_FILTERS, isOfDocument, isPresentAs, pageOf, type Query, readList } from './lists.ts'
import { devolucaoAnswer, pixAnswer } from './lying-views.ts'
import { devolucaoOf, devolucoesOf, type Pix, pixOf } from './pix.ts'
import { Problem } from './problems.ts'

const END_TO_END_ID = /^[a-zA-Z0-9]{32}$/

const RETURN_ID = /^[a-zA-Z0-9]{1,35}$/

/** No payment goes back later. @source BCB, API Pix (PixDevolucaoInvalida) */
const RETURNABLE_MS = 90 * 86_400_000

const devolucaoSolicitada = Type.Object({
  valor: Type.String({ pattern: AMOUNT }),
  // The only other one is of Pix Saque and Pix Troco.
  natureza: Type.Optional(Type.Literal('ORIGINAL')),
  descricao: Type.Optional(Type.String({ maxLength: 140 })),
})

type ReturnParams = { readonly e2eid: string; readonly id: string }

const reading: Conventions = {
  scope: 'pix.read',
  invalid: 'PixConsultaInvalida',
  entity: 'pix',
  refusals: { not_found: 'PixNaoEncontrado' },
}

const readingReturn: Conventions = { ...reading, refusals: { not_found: 'PixDevolucaoNaoEncontrada' } }

const returning: Conventions = {
  scope: 'pix.write',
  invalid: 'PixDevolucaoInvalida',
  entity: 'devolucao',
  refusals: { payment_not_found: 'NaoEncontrado' },
}

/** Payments that came in, and their return. @source BCB, API Pix (Pix) */
export function pixRoutes(app: FastifyInstance, face: Face): void {
  const { book, liar } = face.bank
  app.get<{ Params: { e2eid: string } }>(
    '/v2/pix/:e2eid',
    { config: { conventions: reading } },
    async ({ params: { e2eid } }) => {
      liar.mayFail('unavailable')
      const receipt = receiptOf(face, e2eid)
      if (!receipt) throw new Problem('PixNaoEncontrado')
      liar.mayForget(e2eid)
      return pixAnswer(liar, pixOf(book, receipt), () => allPix(face))
    },
  )
  app.get<{ Querystring: Query }>('/v2/pix', { config: { conventions: reading } }, async ({ query }) => {
    liar.mayFail('unavailable')
    const { items, parametros } = found(face, query)
    return { parametros, pix: items.map((pix) => pixAnswer(liar, pix, () => allPix(face))) }
  })
  returnRoutes(app, face)
}

function found({ bank: { book } }: Face, query: Query) {
  const filters = {
    txid: RETURN_ID,
    txIdPresente: 'boolean',
    devolucaoPresente: 'boolean',
    ...DOCUMENT_FILTERS,
  } as const
  const list = readList(query, 'PixConsultaInvalida', filters)
  const { from, to, parametros } = list
  const receipts = [...book.receipts.values()]
    .filter(({ bookedAt }) => from <= bookedAt && bookedAt <= to)
    .filter(({ txid }) => parametros.txid === undefined || parametros.txid === txid)
    .filter(({ txid }) => isPresentAs(parametros.txIdPresente, txid !== undefined))
    .filter((it) => isPresentAs(parametros.devolucaoPresente, it.refundIds.length + it.takenBack.length > 0))
    .filter(({ payment }) => isOfDocument(parametros, payment.payer.document))
  return pageOf(
    receipts.map((receipt) => pixOf(book, receipt)),
    list,
  )
}

function returnRoutes(app: FastifyInstance, face: Face): void {
  const { bank } = face
  const { book, liar } = bank
  app.put<{ Params: ReturnParams; Body: Static<typeof devolucaoSolicitada> }>(
    '/v2/pix/:e2eid/devolucao/:id',
    { schema: { body: devolucaoSolicitada }, config: { conventions: returning } },
    ({ params: { e2eid, id }, body }, reply) => {
      assertReturnable(face, e2eid, id, body.valor)
      const { refundIn } = bank.switchboard.behavior
      const key = refundKey(face, e2eid, id)
      return carryOut(bank, reply, {
        behavior: refundIn,
        isKnown: book.refunds.has(key),
        refusal: 'refund_refused',
        things: 'refunds',
        execute: () => putRefund(face, { endToEndId: e2eid, id, key }, body),
        settle: () => settleOrder(bank, bank.refundSettler, lastExecution(key, book.refunds)),
        answer: () => {
          reply.code(201)
          return returnAnswer(face, e2eid, id)
        },
      })
    },
  )
  app.get<{ Params: ReturnParams }>(
    '/v2/pix/:e2eid/devolucao/:id',
    { config: { conventions: readingReturn } },
    async ({ params: { e2eid, id } }) => {
      liar.mayFail('unavailable')
      liar.mayForget(`${e2eid} ${id}`)
      return returnAnswer(face, e2eid, id)
    },
  )
}

function putRefund(
  { bank }: Face,
  { endToEndId, id, key }: { readonly endToEndId: string; readonly id: string; readonly key: string },
  body: Static<typeof devolucaoSolicitada>,
): void {
  const { book, refunds, liar, switchboard } = bank
  if (book.refunds.has(key) && liar.tells('repeatRefused')) throw invalid('devolucao.id', 'O id já foi utilizado.')
  const { valor, descricao: reason } = body
  const order = { endToEndId, valueCents: centsOf(valor), ...(reason !== undefined && { reason }) }
  refunds.create(key, order, courseUnder(switchboard.behavior.refundIn), id)
}

/** @throws Problem of what only this protocol forbids */
function assertReturnable(face: Face, e2eid: string, id: string, valor: string): void {
  if (!RETURN_ID.test(id)) throw invalid('devolucao.id', 'O id da devolução não respeita o schema.')
  if (centsOf(valor) === 0) throw invalid('devolucao.valor', 'O campo devolucao.valor é zero.')
  const receipt = receiptOf(face, e2eid)
  if (receipt && Date.parse(receipt.payment.occurredAt) + RETURNABLE_MS < face.bank.clock.now()) {
    throw invalid('pix.horario', 'A devolução viola a janela de 90 dias desde a liquidação do pix.')
  }
}

/**
 * The key of a return in the book: its id, under which the controls find it; ids are unique for a payment only, so one
 * that another payment's return has already stands with its payment.
 */
function refundKey({ bank: { book } }: Face, endToEndId: string, id: string): string {
  const known = book.refunds.get(id)
  return known === undefined || known.order.endToEndId === endToEndId ? id : `${endToEndId}.${id}`
}

function returnAnswer(face: Face, e2eid: string, id: string) {
  const { book, liar } = face.bank
  const receipt = receiptOf(face, e2eid)
  const devolucao = receipt && devolucoesOf(book, receipt).find((it) => it.id === id)
  if (!devolucao) throw new Problem('PixDevolucaoNaoEncontrada')
  return devolucaoAnswer(liar, devolucao, () => [...book.refunds.values()].map(devolucaoOf))
}

function receiptOf({ bank: { book } }: Face, e2eid: string): Receipt | undefined {
  if (!END_TO_END_ID.test(e2eid)) {
    throw new Problem('RequisicaoInvalida', [
      { razao: 'O e2eid não respeita o schema.', propriedade: 'e2eid', valor: e2eid },
    ])
  }
  return book.receipts.get(e2eid)
}

function allPix({ bank: { book } }: Face): Pix[] {
  return [...book.receipts.values()].map((receipt) => pixOf(book, receipt))
}

function invalid(propriedade: string, razao: string): Problem {
  return new Problem('PixDevolucaoInvalida', [{ razao, propriedade }])
}
