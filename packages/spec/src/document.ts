/**
 * CPF and CNPJ, the taxpayer numbers of people and companies. Since July 2026 a CNPJ may contain letters, so a document
 * is text, never a number.
 */

const CPF_WEIGHTS = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]
const CNPJ_WEIGHTS = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]

/**
 * Removes the mask of a CPF or CNPJ and verifies its check digits.
 * @param text with or without punctuation; letters of an alphanumeric CNPJ in either case
 * @returns 11 digits (CPF), 14 characters (CNPJ), or `null` for any other text
 * @source rules#documents.1
 */
export function normaliseDocument(text: string): string | null {
  return normaliseCpf(text) ?? normaliseCnpj(text)
}

/** Like {@link normaliseDocument}, for a CPF only: `529.982.247-25` or `52998224725`. */
export function normaliseCpf(text: string): string | null {
  if (!/^(?:\d{11}|\d{3}\.\d{3}\.\d{3}-\d{2})$/.test(text)) return null
  const cpf = text.replace(/[.-]/g, '')
  return isOneDigitRepeated(cpf) || !hasCheckDigits(cpf, CPF_WEIGHTS) ? null : cpf
}

/** Like {@link normaliseDocument}, for a CNPJ only: `12.ABC.345/01DE-35` or `12ABC34501DE35`. */
export function normaliseCnpj(text: string): string | null {
  if (!/^(?:[0-9A-Z]{12}\d{2}|[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\d{2})$/i.test(text)) return null
  const cnpj = text.replace(/[./-]/g, '').toUpperCase()
  return isOneDigitRepeated(cnpj) || !hasCheckDigits(cnpj, CNPJ_WEIGHTS) ? null : cnpj
}

/** Masks a document for a receipt: hides the middle of a CPF, the root of a CNPJ. @source rules#documents.2 */
export function maskDocument(document: string): string {
  return document.length === 11
    ? `***.${document.slice(3, 6)}.${document.slice(6, 9)}-**`
    : `**.${document.slice(2, 5)}.${document.slice(5, 8)}/${document.slice(8, 12)}-**`
}

/**
 * Masks a document reported by a bank, for a receipt.
 * @returns `null` for anything but a CPF or CNPJ, which is not shown at all
 * @source rules#documents.2
 */
export function maskReported(text: string | null | undefined): string | null {
  const document = text ? normaliseDocument(text) : null
  return document === null ? null : maskDocument(document)
}

/**
 * A document for a receipt, as banks print it: a CPF masked, a CNPJ whole. A CPF that the bank has masked stays.
 * @returns `null` for anything but a CPF or CNPJ
 * @source rules#receipt.4
 */
export function receiptDocument(text: string | null | undefined): string | null {
  const document = text ? normaliseDocument(text) : null
  if (document === null) return MASKED_CPF.test(text ?? '') ? (text ?? null) : null
  return document.length === 11 ? maskDocument(document) : document.replace(CNPJ_PARTS, '$1.$2.$3/$4-$5')
}

const MASKED_CPF = /^\*{3}\.\d{3}\.\d{3}-\*{2}$/
const CNPJ_PARTS = /^(.{2})(.{3})(.{3})(.{4})(.{2})$/

/** The last two characters are modulo-11 check digits over all characters before each. */
function hasCheckDigits(document: string, weights: readonly number[]): boolean {
  const base = document.slice(0, -2)
  const first = checkDigit(base, weights.slice(1))
  const second = checkDigit(base + first, weights)
  return document === base + first + second
}

/** A character counts as its ASCII code less 48: digits as themselves, `A` as 17. */
function checkDigit(text: string, weights: readonly number[]): string {
  let sum = 0
  for (const [index, weight] of weights.entries()) sum += (text.charCodeAt(index) - 48) * weight
  const remainder = sum % 11
  return String(remainder < 2 ? 0 : 11 - remainder)
}

function isOneDigitRepeated(document: string): boolean {
  return /^(\d)\1*$/.test(document)
}
