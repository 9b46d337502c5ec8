import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import type { CashIn } from '../../src/cash-in/cash-in.ts'
import type { CashOut } from '../../src/cash-out/cash-out.ts'
import { receiptPdf } from '../../src/receipts/document.ts'
import { receiptPage } from '../../src/receipts/page.ts'
import { cashInReceipt, cashOutReceipt, type Party, refundReceipt } from '../../src/receipts/receipt.ts'
import type { RefundIn } from '../../src/refund-in/refund-in.ts'
import { type World, world } from '../support/world.ts'
import { readPdf } from './read-pdf.ts'
import { LONGEST, MERCHANT, PAID, PAYOUT, REFUND } from './samples.ts'

/** Receipts of charges, payouts and refunds. */

const linesOf = async (receipt: Parameters<typeof receiptPdf>[0]) => readPdf(await receiptPdf(receipt)).lines
const factsOf = ({ facts }: Party) => Object.fromEntries(facts)

test('[receipt.3] a paid charge: who paid whom, how much, when by the clock of Brasília, and what was refunded', () => {
  const receipt = cashInReceipt(PAID, MERCHANT)
  assert.deepEqual(
    [receipt.title, receipt.amount, receipt.at, receipt.returned, receipt.issuer],
    ['Pix recebido', 'R$\u00a01.234.567,89', '21/11/2026 às 23:59:59, horário de Brasília', null, 'Loja Exemplo'],
  )
  assert.deepEqual(
    [receipt.payer.name, factsOf(receipt.payer)],
    ['Maria Conceição', { CPF: '***.982.247-**', Instituição: 'NU PAGAMENTOS - IP' }],
  )
  assert.deepEqual(
    [receipt.payee.name, factsOf(receipt.payee)],
    ['Loja Exemplo', { CNPJ: '11.222.333/0001-81', 'Chave Pix': 'financeiro@loja.example' }],
  )
  assert.deepEqual(Object.fromEntries(receipt.details), {
    Descrição: 'Pedido 1001',
    'ID da transação': PAID.endToEndId,
    Referência: 'order-1001',
    Autenticação: PAID.id,
  })
  const returns = { D1: { state: 'booked', cents: 567_89 } } as const
  const refunded = cashInReceipt({ ...PAID, facts: { ...PAID.facts, returns } }, MERCHANT)
  assert.equal(refunded.returned, 'Devolvido: R$\u00a0567,89 de R$\u00a01.234.567,89')
})

test('[receipt.3] a payout: the recipient as reported, else as given, the key, and what came back', () => {
  const receipt = cashOutReceipt(PAYOUT, MERCHANT)
  assert.deepEqual(factsOf(receipt.payer), { CNPJ: '11.222.333/0001-81', Instituição: 'EFÍ S.A. - IP' })
  assert.deepEqual(
    [receipt.title, receipt.payee.name, factsOf(receipt.payee)],
    [
      'Pix enviado',
      'João Souza',
      { CPF: '***.533.447-**', Instituição: 'ITAÚ UNIBANCO S.A.', 'Chave Pix': 'joao@example.com' },
    ],
  )
  const { recipientName: _, recipientDocument: __, ...unreported } = PAYOUT.facts
  const { payee } = cashOutReceipt({ ...PAYOUT, facts: unreported } as CashOut, MERCHANT)
  assert.deepEqual([payee.name, factsOf(payee).CPF], ['João', '***.982.247-**'])
  const reversed = { ...PAYOUT, facts: { ...PAYOUT.facts, returns: { D1: Number(PAYOUT.valueCents) } } } as CashOut
  assert.equal(cashOutReceipt(reversed, MERCHANT).returned, 'Devolvido por inteiro: R$\u00a030,00')
})

test('[receipt.3] a refund: its return id, and the payment that went back', () => {
  const receipt = refundReceipt(REFUND, PAID, MERCHANT)
  assert.deepEqual(
    [receipt.title, receipt.payer.name, receipt.payee.name, factsOf(receipt.payer).Instituição],
    ['Devolução de Pix', 'Loja Exemplo', 'Maria Conceição', 'EFÍ S.A. - IP'],
  )
  assert.deepEqual(Object.fromEntries(receipt.details), {
    Motivo: 'Produto devolvido',
    'ID da devolução': REFUND.facts.returnId,
    'ID do Pix devolvido': PAID.endToEndId,
    'Pix devolvido': 'R$\u00a01.234.567,89 em 21/11/2026 às 23:59:59',
    Referência: 'refund-3001',
    Autenticação: REFUND.id,
  })
})

test('[receipt.3] what is unknown is left out, and an unknown institution is its ISPB', () => {
  const nobody = { ...REFUND, externalId: REFUND.id, detail: { ...REFUND.detail, cashInId: null, reason: null } }
  const bare = refundReceipt(
    { ...nobody, endToEndId: 'E9999901020261122025959aB3dE5fG7' } as RefundIn,
    undefined,
    MERCHANT,
  )
  assert.deepEqual(factsOf(bare.payee), { Instituição: '99999010' })
  const labels = bare.details.map(([label]) => label)
  assert.deepEqual(labels, ['ID da devolução', 'ID do Pix devolvido', 'Autenticação'])
  const another = refundReceipt({ ...REFUND, endToEndId: 'E-another' } as RefundIn, PAID, MERCHANT)
  assert.deepEqual([another.payee.name === 'Maria Conceição', factsOf(another.payee)], [false, {}])
  const erased = { ...PAID, facts: { ...PAID.facts, payerName: null, payerDocument: null, payerIspb: null } } as CashIn
  assert.deepEqual(factsOf(cashInReceipt(erased, MERCHANT).payer), { Instituição: 'NU PAGAMENTOS - IP' })
})

test('[receipt.3] the merchant is known by PIXGATE_MERCHANT_DOCUMENT, else by a Pix key that is a document', () => {
  const payeeOf = (pixKey: string, document?: string) => {
    const paid = { ...PAID, detail: { ...PAID.detail, merchant: { ...PAID.detail.merchant, pixKey } } }
    return factsOf(cashInReceipt(paid, { document }).payee)
  }
  assert.deepEqual(payeeOf('loja@example.com'), { 'Chave Pix': 'loja@example.com' })
  assert.deepEqual(payeeOf('11222333000181'), { CNPJ: '11.222.333/0001-81' })
  assert.deepEqual(payeeOf('52998224725', '11222333000181'), {
    CNPJ: '11.222.333/0001-81',
    'Chave Pix': '***.982.247-**',
  })
})

test('[receipt.4] keys that are documents, and documents as the bank masked them', () => {
  const keyed = (pixKey: string) => ({
    ...PAYOUT,
    detail: { ...PAYOUT.detail, recipient: { ...PAYOUT.detail.recipient, pixKey } },
  })
  const keyOf = (pixKey: string) => factsOf(cashOutReceipt(keyed(pixKey) as CashOut, MERCHANT).payee)['Chave Pix']
  assert.deepEqual(['52998224725', '11222333000181'].map(keyOf), ['***.982.247-**', '11.222.333/0001-81'])
  const masked = { ...PAID, facts: { ...PAID.facts, payerDocument: '***.111.222-**' } } as CashIn
  assert.equal(factsOf(cashInReceipt(masked, MERCHANT).payer).CPF, '***.111.222-**')
})

test('[receipt.5] the PDF and the page have the same texts, and equal operations make equal bytes', async () => {
  const receipts = [
    cashInReceipt(PAID, MERCHANT),
    cashOutReceipt(PAYOUT, MERCHANT),
    refundReceipt(REFUND, PAID, MERCHANT),
    LONGEST,
  ]
  for (const receipt of receipts) {
    const pdf = await receiptPdf(receipt)
    assert.ok(pdf.equals(await receiptPdf(receipt)))
    const { title, language, lines } = readPdf(pdf)
    assert.deepEqual([title, language], [`Comprovante de Pix – ${receipt.title}`, 'pt-BR'])
    const { payer, payee, details, amount, at, issuer } = receipt
    const texts = [
      amount,
      at,
      issuer,
      ...[payer, payee].flatMap(({ name, facts }) => [name, ...facts.flat()]),
      ...details.flat(),
    ]
    const [drawn, page] = [lines.map(({ text }) => text).join(''), receiptPage(receipt)]
    for (const text of texts) {
      assert.ok(drawn.replaceAll(' ', '').includes(text.replaceAll(' ', '')), text)
      assert.ok(page.includes(`>${text}<`), text)
    }
  }
})

test('[receipt.5] the longest texts stay on the page, which grows, and do not overlap', async () => {
  const { width, height, lines } = readPdf(await receiptPdf(LONGEST))
  assert.ok(height > 842)
  const places = lines.map(({ x, y }) => `${x} ${y}`)
  assert.equal(new Set(places).size, places.length)
  assert.ok(lines.every(({ x, y }) => x > 50 && x < width - 50 && y > 50 && y < height - 50))
  const short = await linesOf(cashInReceipt(PAID, MERCHANT))
  assert.ok(
    short.every(({ y }) => y < 790),
    'an ordinary one needs no second look',
  )
})

test('[receipt.6] texts of others are escaped, and the page may run nothing', async (t) => {
  const detail = { ...PAID.detail, description: `<img src=x onerror="a('&')">` }
  const receipt = cashInReceipt({ ...PAID, detail }, MERCHANT)
  assert.ok(receiptPage(receipt).includes('&lt;img src=x onerror=&quot;a(&#39;&amp;&#39;)&quot;&gt;'))
  assert.doesNotMatch(receiptPage(receipt), /<(?:script|img|link|iframe)|https?:/)
  const pix = await world(t, {}, { isStepped: true })
  const { headers } = await receiptOf(pix, `/api/pix/cash-in/${(await pix.paid('10')).id}`, '?format=html')
  assert.match(
    headers.get('content-security-policy') ?? '',
    /^default-src 'none'; style-src 'sha256-[\w+/]+=*'; base-uri/,
  )
})

async function receiptOf(pix: World, path: string, query = '', accept = '*/*') {
  const response = await fetch(`${pix.url}${path}/receipt${query}`, {
    headers: { authorization: `Bearer ${pix.apiKey}`, accept },
  })
  const { status, headers } = response
  return { status, headers, type: headers.get('content-type'), bytes: Buffer.from(await response.arrayBuffer()) }
}

test('[receipt.1] [receipt.3] each kind is answered as `format`, else `Accept`, says', async (t) => {
  const pix = await world(t)
  const paid = await pix.paid('100.00')
  const out = await pix.cashOut({ value: 30 })
  const back = await pix.refundIn(paid.id, 40)
  const paths = [`/api/pix/cash-in/${paid.id}`, `/api/pix/cash-out/${out.id}`, `/api/pix/refund/${back.id}`] as const
  await pix.until(paths[1], ({ status }) => status === 'CONFIRMED')
  const { returnId } = await pix.until(paths[2], ({ status }) => status === 'CONFIRMED')
  const wanted = ['Devolvido: R$\u00a040,00 de R$\u00a0100,00', 'João Pereira', returnId]
  for (const [index, path] of paths.entries()) {
    const pdf = await receiptOf(pix, path)
    assert.deepEqual([pdf.status, pdf.type, pdf.headers.get('vary')], [200, 'application/pdf', 'accept'])
    const { lines } = readPdf(pdf.bytes)
    assert.ok(
      lines.some(({ text }) => text === wanted[index]),
      wanted[index],
    )
    const page = await receiptOf(pix, path, '?format=html', 'application/pdf')
    assert.deepEqual([page.status, page.type], [200, 'text/html; charset=utf-8'])
    assert.ok(page.bytes.toString().includes(`>${wanted[index]}<`))
    assert.match(page.headers.get('content-disposition') ?? '', /^inline; filename="comprovante-[\w-]+\.html"$/)
  }
  const types = ['text/html,application/xhtml+xml,*/*;q=0.8', 'application/pdf, text/html', 'TEXT/HTML', 'image/png']
  const answered = await Promise.all(types.map(async (accept) => (await receiptOf(pix, paths[0], '', accept)).type))
  assert.deepEqual(
    answered.map((type) => type?.split(';')[0]),
    ['text/html', 'application/pdf', 'text/html', 'application/pdf'],
  )
  const { status, body } = await pix.call('GET', `${paths[0]}/receipt?format=png`)
  assert.deepEqual([status, body.code], [400, 'validation_error'])
})

test('[receipt.2] a reversed payout has one; what has not moved money has none', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const refused = async (path: string) => {
    const { status, body } = await pix.call('GET', `${path}/receipt`)
    return [status, body.code, body.existing?.status]
  }
  const charge = await pix.charge('10.00', { expirationTime: 60 })
  assert.deepEqual(await refused(`/api/pix/cash-in/${charge.id}`), [409, 'not_possible_in_state', 'PENDING'])
  const { id: paidId } = await pix.paid('100.00')
  const out = await pix.cashOut()
  assert.deepEqual(await refused(`/api/pix/cash-out/${out.id}`), [409, 'not_possible_in_state', 'RESERVED'])
  const back = await pix.refundIn(paidId, 1)
  assert.deepEqual(await refused(`/api/pix/refund/${back.id}`), [409, 'not_possible_in_state', 'PENDING'])
  await pix.until(`/api/pix/cash-out/${out.id}`, ({ status }) => status === 'CONFIRMED')
  await pix.bankAction(`payouts/${out.id}/reverse`)
  await pix.until(`/api/pix/cash-out/${out.id}`, ({ status }) => status === 'REVERSED')
  const { lines } = readPdf((await receiptOf(pix, `/api/pix/cash-out/${out.id}`)).bytes)
  assert.ok(lines.some(({ text }) => text === 'Devolvido por inteiro: R$\u00a030,00'))
  await pix.later(60_001)
  assert.deepEqual(await refused(`/api/pix/cash-in/${charge.id}`), [409, 'not_possible_in_state', 'EXPIRED'])
  assert.deepEqual(await refused('/api/pix/cash-in/none'), [404, 'not_found', undefined])
  assert.deepEqual(await refused(`/api/pix/refund/${paidId}`), [404, 'not_found', undefined], 'of another kind')
})

test('[receipt.7] beyond the queue receipts are 503 with Retry-After, and afterwards they are made again', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const path = `/api/pix/cash-in/${(await pix.paid('10.00')).id}`
  const asked = 4 * (limits.receiptsAtOnce + limits.receiptsWaiting)
  const answers = await Promise.all(Array.from({ length: asked }, () => receiptOf(pix, path)))
  const refused = answers.filter(({ status }) => status === 503)
  const made = answers.filter(({ status }) => status === 200)
  assert.ok(made.length >= limits.receiptsAtOnce + limits.receiptsWaiting)
  assert.ok(refused.length > 0 && made.length + refused.length === asked)
  for (const { bytes, headers } of refused) {
    assert.deepEqual([JSON.parse(bytes.toString()).code, headers.get('retry-after')], ['overloaded', '1'])
  }
  assert.equal((await receiptOf(pix, path)).status, 200)
})
