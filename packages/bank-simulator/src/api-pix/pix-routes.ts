import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { lastExecution } from '../executions.ts'
import type { Course } from '../facts.ts'
import { behaviorFor, courseFor, executeInstruction, settleOrder } from '../instructions.ts'
import type { Receipt } from '../operations.ts'
import type { Account } from './account.ts'
import type { Conventions } from './conventions.ts'
import { devolucaoAnswer, pixAnswer } from './false-responses.ts'
import { DOCUMENT_FILTERS, isOfDocument, isPresentAs, pageOf, type Query, readList } from './lists.ts'
import { devolucaoOf, devolucoesOf, type Pix, pixOf } from './pix.ts'
import { Problem } from './problems.ts'
import { AMOUNT, centsOf } from './values.ts'

const END_TO_END_ID = /^[a-zA-Z0-9]{32}$/

const RETURN_ID = /^[a-zA-Z0-9]{1,35}$/

/** Maximum age of a payment for a return. @source BCB, API Pix (PixDevolucaoInvalida) */
const RETURNABLE_MS = 90 * 86_400_000

const devolucaoSolicitada = Type.Object({
  valor: Type.String({ pattern: AMOUNT }),
  // The only other value is for Pix Saque and Pix Troco.
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

/** Adds the routes of received payments and their returns. @source BCB, API Pix (Pix) */
export function pixRoutes(app: FastifyInstance, account: Account): void {
  const { book, liar } = account.bank
  app.get<{ Params: { e2eid: string } }>(
    '/v2/pix/:e2eid',
    { config: { conventions: reading } },
    async ({ params: { e2eid } }) => {
      liar.throwIfTold('unavailable')
      const receipt = receiptOf(account, e2eid)
      if (!receipt) throw new Problem('PixNaoEncontrado')
      liar.throwNotFoundIfTold(e2eid)
      return pixAnswer(liar, pixOf(book, receipt), () => allPix(account))
    },
  )
  app.get<{ Querystring: Query }>('/v2/pix', { config: { conventions: reading } }, async ({ query }) => {
    liar.throwIfTold('unavailable')
    const { items, parametros } = found(account, query)
    return { parametros, pix: items.map((pix) => pixAnswer(liar, pix, () => allPix(account))) }
  })
  returnRoutes(app, account)
}

function found({ bank: { book } }: Account, query: Query) {
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

function returnRoutes(app: FastifyInstance, account: Account): void {
  const { bank } = account
  const { book, liar } = bank
  app.put<{ Params: ReturnParams; Body: Static<typeof devolucaoSolicitada> }>(
    '/v2/pix/:e2eid/devolucao/:id',
    { schema: { body: devolucaoSolicitada }, config: { conventions: returning } },
    ({ params: { e2eid, id }, body }, reply) => {
      assertReturnable(account, e2eid, id, body.valor)
      const refundIn = behaviorFor(body.descricao, bank.switchboard.behavior.refundIn)
      const key = refundKey(account, e2eid, id)
      return executeInstruction(bank, reply, {
        behavior: refundIn,
        isKnown: book.refunds.has(key),
        refusal: 'refund_refused',
        things: 'refunds',
        execute: () => putRefund(account, { endToEndId: e2eid, id, key }, body, courseFor(refundIn)),
        settle: () => settleOrder(bank, bank.refundSettler, lastExecution(key, book.refunds)),
        answer: () => {
          reply.code(201)
          return returnAnswer(account, e2eid, id)
        },
      })
    },
  )
  app.get<{ Params: ReturnParams }>(
    '/v2/pix/:e2eid/devolucao/:id',
    { config: { conventions: readingReturn } },
    async ({ params: { e2eid, id } }) => {
      liar.throwIfTold('unavailable')
      liar.throwNotFoundIfTold(`${e2eid} ${id}`)
      return returnAnswer(account, e2eid, id)
    },
  )
}

const REPEATED_ID =
  'A presente requisição de devolução apresenta um {id} já utilizado por outra requisição de devolução para o {e2eid} em questão.'

const TOO_LATE =
  'A presente requisição de devolução viola a janela de tempo permitida para solicitações de devoluções de um pix (90 dias desde a data de liquidação original do pix).'

function putRefund(
  { bank }: Account,
  { endToEndId, id, key }: { readonly endToEndId: string; readonly id: string; readonly key: string },
  body: Static<typeof devolucaoSolicitada>,
  course: Course,
): void {
  const { book, refunds, liar } = bank
  if (book.refunds.has(key) && liar.tells('repeatRefused')) throw invalid('devolucao.id', REPEATED_ID)
  const { valor, descricao: reason } = body
  const order = { endToEndId, valueCents: centsOf(valor), ...(reason !== undefined && { reason }) }
  refunds.create(key, order, course, id)
}

/** Validates what only API Pix requires of a return. @throws Problem PixDevolucaoInvalida */
function assertReturnable(account: Account, e2eid: string, id: string, valor: string): void {
  if (!RETURN_ID.test(id)) throw invalid('devolucao.id', 'O campo devolucao.id não respeita o schema.')
  if (centsOf(valor) === 0) throw invalid('devolucao.valor', 'O campo devolucao.valor é zero.')
  const receipt = receiptOf(account, e2eid)
  if (receipt && Date.parse(receipt.payment.occurredAt) + RETURNABLE_MS < account.bank.clock.now()) {
    throw invalid('pix.horario', TOO_LATE)
  }
}

/**
 * Key of a return in the book: its id, so that the controls find it. Ids are unique per payment only, so an id that a
 * return of another payment already has is prefixed with the EndToEndId.
 */
function refundKey({ bank: { book } }: Account, endToEndId: string, id: string): string {
  const known = book.refunds.get(id)
  return known === undefined || known.order.endToEndId === endToEndId ? id : `${endToEndId}.${id}`
}

function returnAnswer(account: Account, e2eid: string, id: string) {
  const { book, liar } = account.bank
  const receipt = receiptOf(account, e2eid)
  const devolucao = receipt && devolucoesOf(book, receipt).find((it) => it.id === id)
  if (!devolucao) throw new Problem('PixDevolucaoNaoEncontrada')
  return devolucaoAnswer(liar, devolucao, () => [...book.refunds.values()].map(devolucaoOf))
}

function receiptOf({ bank: { book } }: Account, e2eid: string): Receipt | undefined {
  if (!END_TO_END_ID.test(e2eid)) {
    throw new Problem('RequisicaoInvalida', [
      { razao: 'O e2eid não respeita o schema.', propriedade: 'e2eid', valor: e2eid },
    ])
  }
  return book.receipts.get(e2eid)
}

function allPix({ bank: { book } }: Account): Pix[] {
  return [...book.receipts.values()].map((receipt) => pixOf(book, receipt))
}

function invalid(propriedade: string, razao: string): Problem {
  return new Problem('PixDevolucaoInvalida', [{ razao, propriedade }])
}
