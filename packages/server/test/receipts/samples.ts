import { limits } from '@pixgate/spec'
import type { CashIn } from '../../src/cash-in/cash-in.ts'
import type { CashOut } from '../../src/cash-out/cash-out.ts'
import type { Receipt } from '../../src/receipts/receipt.ts'
import type { RefundIn } from '../../src/refund-in/refund-in.ts'

/** Operations and a receipt, as far as receipts read them. */

const AT = Date.parse('2026-11-22T02:59:59.999Z')

export const MERCHANT = { name: 'Loja Exemplo', pixKey: 'financeiro@loja.example', document: '11222333000181' }

export const PAID = {
  id: '0198c0de-7a11-7000-8000-5f1d3c2b1a09',
  kind: 'cash_in',
  status: 'PAID',
  externalId: 'order-1001',
  valueCents: 1_234_567_89n,
  endToEndId: 'E1823612020261122025959aB3dE5fG7',
  updatedAt: AT + 2_000,
  detail: { description: 'Pedido 1001', merchant: { name: MERCHANT.name, pixKey: MERCHANT.pixKey, city: 'SP' } },
  facts: { paidAt: AT, payerName: 'Maria Conceição', payerDocument: '529.982.247-25', payerIspb: '18236120' },
} as unknown as CashIn

export const PAYOUT = {
  id: '0198c0e1-22b4-7000-8000-6a7b8c9d0e1f',
  kind: 'cash_out',
  status: 'CONFIRMED',
  externalId: 'payout-2001',
  valueCents: 30_00n,
  endToEndId: 'E0908935620261122025959bC4eF6gH8',
  updatedAt: AT + 2_000,
  detail: {
    description: 'Nota fiscal 77',
    recipient: { name: 'João', document: '52998224725', pixKey: 'joao@example.com', pixKeyType: 'email' },
  },
  facts: { confirmedAt: AT, recipientName: 'João Souza', recipientDocument: '39053344705', recipientIspb: '60701190' },
} as unknown as CashOut

export const REFUND = {
  id: '0198c0e4-51d7-7000-8000-3b4c5d6e7f80',
  kind: 'refund_in',
  status: 'CONFIRMED',
  externalId: 'refund-3001',
  valueCents: 567_89n,
  endToEndId: PAID.endToEndId,
  updatedAt: AT + 5_000,
  detail: { cashInId: PAID.id, reason: 'Produto devolvido', origin: 'MERCHANT' },
  facts: { confirmedAt: AT + 4_000, returnId: 'D0908935620261122030003dE5fG7hI9' },
} as unknown as RefundIn

/** Every text as long and as wide as it may be. */
export const LONGEST: Receipt = {
  id: PAYOUT.id,
  title: 'Pix enviado',
  issuer: 'M'.repeat(25),
  amount: 'R$\u00a09.999.999.999,99',
  at: '21/11/2026 às 23:59:59, horário de Brasília',
  returned: 'Devolvido: R$\u00a09.999.999.999,98 de R$\u00a09.999.999.999,99',
  payer: {
    role: 'Pagador',
    name: 'M'.repeat(25),
    facts: [
      ['CNPJ', '11.222.333/0001-81'],
      ['Instituição', 'ACESSO SOLUÇÕES DE PAGAMENTO S.A. - INSTITUIÇÃO DE PAGAMENTO'],
    ],
  },
  payee: {
    role: 'Recebedor',
    name: 'W'.repeat(limits.nameMaxLength),
    facts: [
      ['CPF', '***.982.247-**'],
      ['Instituição', 'WILL FINANCEIRA S.A.CFI - EM LIQUIDAÇÃO EXTRAJUDICIAL'],
      ['Chave Pix', 'w'.repeat(limits.pixKeyMaxLength)],
    ],
  },
  details: [
    [
      'Descrição',
      'Prestação de serviços de manutenção à Associação de Câmbio, competência de novembro. '
        .repeat(2)
        .slice(0, limits.descriptionMaxLength),
    ],
    ['ID da transação', PAYOUT.endToEndId ?? ''],
    ['Referência', 'W'.repeat(limits.externalIdMaxLength)],
    ['Autenticação', PAYOUT.id],
  ],
  footer: 'Situação em 21/11/2026 às 23:59:59, horário de Brasília.',
  updatedAt: AT,
}
