import { maskDocument, normaliseDocument, normalisePixKey, type PixKeyType } from '@pixgate/spec'

/** What a data subject is looked for by. */
export interface Identifier {
  readonly kind: 'document' | 'pixKey'
  /** Normalised. */
  readonly value: string
  /** For people and for the audit trail: too little to be used. */
  readonly masked: string
  /**
   * Finds it in any text, masked or not and in any case, and not within something longer. For PostgreSQL and for JavaScript
   * alike.
   */
  readonly pattern: string
}

/** Keys that are no document. A Brazilian number is a phone only with its `+55`: without, it may be anybody's CPF. */
const KEY_TYPES: readonly PixKeyType[] = ['email', 'phone', 'evp']

/**
 * Reads what somebody says that they are known by. A CPF or CNPJ finds the Pix key of the same digits, too.
 * @returns `undefined` where it is neither CPF, CNPJ nor Pix key
 * @source rules#privacy.7
 */
export function readIdentifier(text: string): Identifier | undefined {
  const document = normaliseDocument(text)
  if (document !== null) {
    return { kind: 'document', value: document, masked: maskDocument(document), pattern: patternOfDocument(document) }
  }
  const keys = KEY_TYPES.filter((type) => type !== 'phone' || text.startsWith('+'))
  const value = keys.map((type) => normalisePixKey(type, text)).find((key) => key !== null)
  if (value === undefined) return undefined
  // A point that ends a sentence does not go on with letters.
  const pattern = `(?<![0-9A-Za-z._%+-])${escaped(value)}(?![.]?[0-9A-Za-z-])`
  return { kind: 'pixKey', value, masked: `key ending in ${value.slice(-4)}`, pattern }
}

function patternOfDocument(document: string): string {
  const parts = document.length === 11 ? /^(...)(...)(...)(..)$/ : /^(..)(...)(...)(....)(..)$/
  const [, ...groups] = parts.exec(document) ?? []
  // In JSON a slash may be escaped.
  const separators = document.length === 11 ? ['[.]?', '[.]?', '-?'] : ['[.]?', '[.]?', '(?:\\\\?/)?', '-?']
  const text = groups.map((group, index) => group + (separators[index] ?? '')).join('')
  return `(?<![0-9A-Za-z])${text}(?![0-9A-Za-z])`
}

function escaped(text: string): string {
  return text.replace(/[^0-9A-Za-z]/g, '\\$&')
}
