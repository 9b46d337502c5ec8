import { buildDynamicBrCode } from '@pixgate/brcode'
import { type ApiPixOptions, createApiPixPartner } from '../../../src/banks/api-pix/bank.ts'
import { protocolOf } from '../../../src/banks/api-pix/protocol.ts'
import { createExchange } from '../../../src/banks/exchange.ts'
import type { Outcome } from '../../../src/banks/link.ts'
import type { ChargeRequest, RefundRequest } from '../../../src/banks/port.ts'
import { answered, problem, scripted } from './scripted.ts'

/** A charge with its payment and its return, as the Central Bank's standard has them. */

/** Our id of the charge, and of the refund. */
export const ID = '0198c0de7a11700080005f1d3c2b1a09'
/** The same at the bank. */
export const TXID = '0198c0de7a11700080005f1d3c2b1a09'
/** The payee. */
export const MERCHANT = { pixKey: 'loja@exemplo.com.br', name: 'Loja', city: 'SAO PAULO' }
/** When the charge was made. */
export const CREATED = Date.parse('2026-11-22T12:00:00.000Z')
/** Where its payload is. */
export const LOCATION = 'pix.example.com/qr/v2/2353c790eefb11eaadc10242ac120002'
/** Its BR Code. */
export const CODE = buildDynamicBrCode({ url: LOCATION, merchantName: 'Loja', merchantCity: 'SAO PAULO' })
/** The payment. */
export const E2E = 'E12345678202611221210abcdefghijk'
/** Its return. */
export const RTR = 'D99999001202611221230abcdefghijk'

/** The charge as it is asked for. */
export const REQUEST: ChargeRequest = {
  valueCents: 15_000n,
  expiresAt: CREATED + 3_600_000,
  askedAt: CREATED + 500,
  description: 'Pedido 1',
  payer: { name: 'Maria da Silva', document: '52998224725' },
  merchant: MERCHANT,
}

/** The refund as it is asked for. */
export const REFUND: RefundRequest = { valueCents: 500n, endToEndId: E2E, reason: 'troca' }

/** The charge at the bank. */
export const COB = {
  txid: TXID,
  calendario: { criacao: '2026-11-22T12:00:01.000Z', expiracao: 3_599 },
  revisao: 0,
  status: 'ATIVA',
  valor: { original: '150.00' },
  chave: MERCHANT.pixKey,
  location: LOCATION,
  pixCopiaECola: CODE,
}

/** The payment at the bank. */
export const PIX = {
  endToEndId: E2E,
  txid: TXID,
  valor: '150.00',
  chave: MERCHANT.pixKey,
  horario: '2026-11-22T12:10:00.000Z',
}

/** The return at the bank. */
export const DEVOLUCAO = {
  id: TXID,
  rtrId: RTR,
  valor: '5.00',
  horario: { solicitacao: '2026-11-22T12:30:00.000Z', liquidacao: '2026-11-22T12:30:01.000Z' },
  status: 'DEVOLVIDO',
}

/** The bank has no such charge. */
export const NO_COB = problem(404, 'CobNaoEncontrado')
/** The bank has no such return. */
export const NO_DEVOLUCAO = problem(404, 'PixDevolucaoNaoEncontrada')

/** The connector at this time of the bank, whose calls are answered by these. */
export const partnerOf = (bankNow: number, ...outcomes: Outcome[]) =>
  partnerWith({ bankNow: () => bankNow }, ...outcomes)

/** The same with other options. */
export function partnerWith(given: Partial<ApiPixOptions> & Pick<ApiPixOptions, 'bankNow'>, ...outcomes: Outcome[]) {
  const link = scripted(...outcomes)
  const partner = createApiPixPartner({
    exchange: createExchange(link, protocolOf(), '/v2'),
    merchant: MERCHANT,
    hasIdempotentOrders: true,
    monotonicMs: () => 0,
    ...given,
  })
  return { ...partner, calls: link.calls }
}

/** A minute later. */
export const NOON = CREATED + 60_000

/** The parameters of the only page of a list. */
export const PAGE = {
  paginacao: { paginaAtual: 0, itensPorPagina: 100, quantidadeDePaginas: 1, quantidadeTotalDeItens: 1 },
}
/** A page of a list. */
export const pageOf = (pix: readonly object[], paginaAtual = 0, quantidadeDePaginas = 1) =>
  answered(200, { parametros: { paginacao: { ...PAGE.paginacao, paginaAtual, quantidadeDePaginas } }, pix })
