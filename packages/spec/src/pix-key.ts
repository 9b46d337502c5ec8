import { normaliseCnpj, normaliseCpf } from './document.ts'
import { limits } from './limits.ts'

/**
 * Pix keys, the addresses to which money is sent, in the form in which DICT, the directory of keys, knows them.
 */

/** The types of a Pix key, as clients write and read them. @source rules#pix-key.1 */
export const pixKeyTypes = ['cpf', 'cnpj', 'email', 'phone', 'evp'] as const

/** A type of Pix key. */
export type PixKeyType = (typeof pixKeyTypes)[number]

/** What other APIs call a type. @source rules#pix-key.1 */
export const pixKeyTypeAliases: Readonly<Record<string, PixKeyType>> = {
  telefone: 'phone',
  celular: 'phone',
  cellphone: 'phone',
  random: 'evp',
  random_key: 'evp',
  aleatoria: 'evp',
  chave_aleatoria: 'evp',
}

/** {@link pixKeyTypes} and {@link pixKeyTypeAliases} in any case, as a client may write them. @source rules#pix-key.1 */
export const PIX_KEY_TYPE = `^(?:${[...pixKeyTypes, ...Object.keys(pixKeyTypeAliases)].map(inAnyCase).join('|')})$`

function inAnyCase(word: string): string {
  return [...word].map((letter) => (letter === '_' ? letter : `[${letter.toUpperCase()}${letter}]`)).join('')
}

/** DICT's pattern. No `%`: DICT refuses it. */
const EMAIL =
  /^[a-z0-9.!#$&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i

/** Eleven digits from the area code on; the number of digits tells the country code 55 from the area code 55. */
const BRAZILIAN_MOBILE = /^(?:\+?55 ?)?(?:\([1-9]\d\)|[1-9]\d) ?9 ?\d{4}[ -]?\d{4}$/

/** DICT's pattern, without Brazil: there only a mobile can be a key. */
const FOREIGN_PHONE = /^\+(?!55)[1-9]\d{1,14}$/

/** The shape of a UUID; DICT does not look at its version. */
const EVP = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const NORMALISERS: Readonly<Record<PixKeyType, (text: string) => string | null>> = {
  cpf: normaliseCpf,
  cnpj: normaliseCnpj,
  email: normaliseEmail,
  phone: normalisePhone,
  evp: normaliseEvp,
}

/**
 * Reads the type of a Pix key.
 * @param text in any case, or one of {@link pixKeyTypeAliases}
 * @returns `null` where there is no such type
 * @source rules#pix-key.1
 */
export function readPixKeyType(text: string): PixKeyType | null {
  const name = text.toLowerCase()
  const alias = Object.hasOwn(pixKeyTypeAliases, name) ? pixKeyTypeAliases[name] : undefined
  return pixKeyTypes.find((type) => type === name) ?? alias ?? null
}

/**
 * Turns every spelling of a Pix key into the one that DICT knows. A mask and the case of letters are all that may
 * differ: white space around the key and look-alikes of its characters are refused, because money follows this text.
 * @returns at most 77 characters of ASCII, or `null` where the text is no key of this type
 * @source rules#pix-key.2
 * @source rules#pix-key.3
 */
export function normalisePixKey(type: PixKeyType, text: string): string | null {
  return NORMALISERS[type](text)
}

/**
 * Turns a spelling of a Pix key whose type nobody tells, as in a QR code, into the text that {@link normalisePixKey} makes
 * of it. Eleven bare digits can be a CPF and a mobile with its area code: they are the CPF where its holder is paid, or where
 * nobody tells who is.
 * @param document of whoever the key belongs to, normalised, or masked where the mask shows another than the text; `null`: it is not known
 * @returns `null` where the text is a key of no type
 * @source rules#pix-key.7
 */
export function normaliseUntypedPixKey(text: string, document: string | null): string | null {
  const [first, ...others] = pixKeyTypes.flatMap((type) => normalisePixKey(type, text) ?? [])
  if (first === undefined) return null
  return document === null || document === first ? first : (others[0] ?? first)
}

/**
 * Matched before it is lower-cased: the Kelvin sign would become a `k`.
 * @source rules#pix-key.4
 */
function normaliseEmail(text: string): string | null {
  return text.length <= limits.pixKeyMaxLength && EMAIL.test(text) ? text.toLowerCase() : null
}

/** @source rules#pix-key.5 */
function normalisePhone(text: string): string | null {
  if (FOREIGN_PHONE.test(text)) return text
  return BRAZILIAN_MOBILE.test(text) ? `+55${text.replace(/\D/g, '').slice(-11)}` : null
}

/** @source rules#pix-key.6 */
function normaliseEvp(text: string): string | null {
  return EVP.test(text) ? text.toLowerCase() : null
}
