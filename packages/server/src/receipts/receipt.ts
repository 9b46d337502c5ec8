import { formatReais, normaliseDocument, receiptDocument } from '@pixgate/spec'
import { type CashIn, isCashIn, paidCents, refundedCents } from '../cash-in/index.ts'
import { type CashOut, reversedCents } from '../cash-out/index.ts'
import type { Operation } from '../engine/operation.ts'
import { localTime } from '../platform/sao-paulo.ts'
import type { RefundIn } from '../refund-in/index.ts'
import { participants } from './participants.ts'

/** The text of a receipt, as banks in Brazil write it. Pure. */

export interface Receipt {
  readonly id: string
  readonly title: string
  readonly issuer: string
  readonly amount: string
  readonly at: string
  /** Amount returned since. */
  readonly returned: string | null
  readonly payer: Party
  readonly payee: Party
  readonly details: readonly Line[]
  readonly footer: string
  /** Epoch milliseconds. */
  readonly updatedAt: number
}

export interface Party {
  readonly role: string
  readonly name: string
  readonly facts: readonly Line[]
}

export type Line = readonly [label: string, value: string]

export const RECEIPT = 'Comprovante de Pix'

/** The merchant as configured. */
export interface Merchant {
  readonly name: string
  readonly pixKey: string
  readonly document: string | undefined
}

/** @source rules#receipt.1, rules#receipt.3 */
export function cashInReceipt(cashIn: CashIn, { document }: Pick<Merchant, 'document'>): Receipt {
  const { detail, facts, endToEndId } = cashIn
  const merchant = { ...detail.merchant, document }
  const value = paidCents(cashIn)
  return receiptOf(cashIn, merchant, facts.paidAt, {
    title: 'Pix recebido',
    value,
    returned: refundedCents(cashIn),
    payer: party('Pagador', facts.payerName, facts.payerDocument, facts.payerIspb ?? ispbOf(endToEndId)),
    payee: merchantParty('Recebedor', merchant, null, merchant.pixKey),
    details: [
      ['Descrição', detail.description],
      ['ID da transação', endToEndId],
      ['Referência', cashIn.externalId],
    ],
  })
}

/** @source rules#receipt.1, rules#receipt.3 */
export function cashOutReceipt(cashOut: CashOut, merchant: Merchant): Receipt {
  const { detail, facts, endToEndId, valueCents } = cashOut
  const { recipient } = detail
  return receiptOf(cashOut, merchant, facts.confirmedAt, {
    title: 'Pix enviado',
    value: valueCents,
    returned: reversedCents(facts),
    payer: merchantParty('Pagador', merchant, ispbOf(endToEndId)),
    payee: party(
      'Recebedor',
      facts.recipientName ?? recipient.name,
      facts.recipientDocument ?? recipient.document,
      facts.recipientIspb,
      recipient.pixKey,
    ),
    details: [
      ['Descrição', detail.description],
      ['ID da transação', endToEndId],
      ['Referência', cashOut.externalId],
    ],
  })
}

/**
 * @param from the charge whose payment went back; absent for a payment to the bare Pix key
 * @source rules#receipt.1, rules#receipt.3
 */
export function refundReceipt(refund: RefundIn, from: Operation | undefined, merchant: Merchant): Receipt {
  const { id, detail, facts, endToEndId, externalId, valueCents } = refund
  // Of a charge's further payments the payer is not kept.
  const paid = isCashIn(from) && from.endToEndId === endToEndId ? from : undefined
  return receiptOf(refund, merchant, facts.confirmedAt, {
    title: 'Devolução de Pix',
    value: valueCents,
    returned: 0n,
    payer: merchantParty('Devolvido por', merchant, ispbOf(facts.returnId)),
    payee: party(
      'Devolvido para',
      paid?.facts.payerName,
      paid?.facts.payerDocument,
      paid?.facts.payerIspb ?? ispbOf(endToEndId),
    ),
    details: [
      ['Motivo', detail.reason],
      ['Origem', detail.origin === 'PARTNER' ? 'Devolução feita pelo banco' : null],
      ['ID da devolução', facts.returnId],
      ['ID do Pix devolvido', endToEndId],
      ['Pix devolvido', paid && `${reais(paidCents(paid))} em ${momentText(paid.facts.paidAt ?? paid.updatedAt)}`],
      ['Referência', externalId === id ? null : externalId],
    ],
  })
}

interface Content {
  readonly title: string
  readonly value: bigint
  readonly returned: bigint
  readonly payer: Party
  readonly payee: Party
  readonly details: readonly (readonly [label: string, value: string | null | undefined])[]
}

function receiptOf(
  { id, updatedAt }: Operation,
  merchant: Pick<Merchant, 'name'>,
  at: number | undefined,
  { title, value, returned, payer, payee, details }: Content,
): Receipt {
  return {
    id,
    title,
    issuer: merchant.name,
    amount: reais(value),
    at: `${momentText(at ?? updatedAt)}, horário de Brasília`,
    returned: returned > 0n ? returnedText(returned, value) : null,
    payer,
    payee,
    details: present([...details, ['Autenticação', id]]),
    footer: `Situação em ${momentText(updatedAt)}, horário de Brasília.`,
    updatedAt,
  }
}

function returnedText(returned: bigint, value: bigint): string {
  return returned < value
    ? `Devolvido: ${reais(returned)} de ${reais(value)}`
    : `Devolvido por inteiro: ${reais(value)}`
}

function party(
  role: string,
  name: string | null | undefined,
  document: string | null | undefined,
  ispb: string | null | undefined,
  pixKey?: string,
): Party {
  const shown = receiptDocument(document)
  const facts = present([
    [shown?.startsWith('*') ? 'CPF' : 'CNPJ', shown],
    ['Instituição', ispb && (participants.get(ispb) ?? ispb)],
    ['Chave Pix', pixKey && shownKey(pixKey)],
  ])
  return { role, name: name ?? 'Nome não informado pelo banco', facts }
}

/** A key that is a CPF or CNPJ stands for the document as well. */
function merchantParty(
  role: string,
  { name, pixKey, document }: Merchant,
  ispb: string | null,
  shownPixKey?: string,
): Party {
  const isDocument = normaliseDocument(pixKey) !== null
  return party(role, name, document ?? pixKey, ispb, isDocument && document === undefined ? undefined : shownPixKey)
}

function shownKey(pixKey: string): string {
  return receiptDocument(pixKey) ?? pixKey
}

function present(lines: readonly (readonly [label: string, value: string | null | undefined])[]): Line[] {
  return lines.flatMap(([label, value]) => (value ? [[label, value] as const] : []))
}

/** The institution that sent a payment (`E…`) or a return (`D…`): its ISPB precedes the time. */
function ispbOf(id: string | null | undefined): string | null {
  return /^[ED]([0-9A-Z]{8})\d{12}/.exec(id ?? '')?.[1] ?? null
}

/** An amount that is not broken over two lines. */
function reais(cents: bigint): string {
  return formatReais(cents).replace(' ', '\u00a0')
}

/** @returns `21/11/2026 às 10:15:00` of America/Sao_Paulo */
function momentText(at: number): string {
  const { day, time } = localTime(at)
  return `${day.split('-').reverse().join('/')} às ${time}`
}
