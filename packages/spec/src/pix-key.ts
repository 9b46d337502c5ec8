import { normaliseCnpj, normaliseCpf } from './document.ts'
import { limits } from './limits.ts'

/** Pix keys, the addresses of recipients, in the form of DICT, the directory of keys. */

/** Types of Pix keys in the API. @source rules#pix-key.1 */
export const pixKeyTypes = ['cpf', 'cnpj', 'email', 'phone', 'evp'] as const

export type PixKeyType = (typeof pixKeyTypes)[number]

/** Names of types in other APIs. @source rules#pix-key.1 */
export const pixKeyTypeAliases: Readonly<Record<string, PixKeyType>> = {
  telefone: 'phone',
  celular: 'phone',
  cellphone: 'phone',
  random: 'evp',
  random_key: 'evp',
  aleatoria: 'evp',
  chave_aleatoria: 'evp',
}

/** Pattern of {@link pixKeyTypes} and {@link pixKeyTypeAliases} in any case. @source rules#pix-key.1 */
export const PIX_KEY_TYPE = `^(?:${[...pixKeyTypes, ...Object.keys(pixKeyTypeAliases)].map(inAnyCase).join('|')})$`

function inAnyCase(word: string): string {
  return [...word].map((letter) => (letter === '_' ? letter : `[${letter.toUpperCase()}${letter}]`)).join('')
}

/** DICT's pattern. DICT refuses `%`. */
const EMAIL =
  /^[a-z0-9.!#$&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i

/** Eleven digits from the area code on; their number distinguishes country code 55 from area code 55. */
const BRAZILIAN_MOBILE = /^(?:\+?55 ?)?(?:\([1-9]\d\)|[1-9]\d) ?9 ?\d{4}[ -]?\d{4}$/

/** DICT's pattern, without Brazil, where only a mobile number can be a key. */
const FOREIGN_PHONE = /^\+(?!55)[1-9]\d{1,14}$/

/** The shape of a UUID; DICT ignores its version. */
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
 * @returns `null` for an unknown type
 * @source rules#pix-key.1
 */
export function readPixKeyType(text: string): PixKeyType | null {
  const name = text.toLowerCase()
  const alias = Object.hasOwn(pixKeyTypeAliases, name) ? pixKeyTypeAliases[name] : undefined
  return pixKeyTypes.find((type) => type === name) ?? alias ?? null
}

/**
 * Normalises a Pix key to DICT's spelling. Only a mask and the case of letters may differ: surrounding white space and
 * look-alike characters are refused, because money follows this text.
 * @returns at most 77 characters of ASCII, or `null` for text that is no key of this type
 * @source rules#pix-key.2
 * @source rules#pix-key.3
 */
export function normalisePixKey(type: PixKeyType, text: string): string | null {
  return NORMALISERS[type](text)
}

/**
 * Normalises a Pix key without a known type, as in a QR code, like {@link normalisePixKey}. Eleven bare digits can be a
 * CPF or a mobile number with its area code: they are a CPF if its holder is the recipient, or if the recipient is
 * unknown.
 * @param document of the recipient, normalised, or masked where the mask shows another than the text; `null` if unknown
 * @returns `null` for text that is no key of any type
 * @source rules#pix-key.7
 */
export function normaliseUntypedPixKey(text: string, document: string | null): string | null {
  const [first, ...others] = pixKeyTypes.flatMap((type) => normalisePixKey(type, text) ?? [])
  if (first === undefined) return null
  return document === null || document === first ? first : (others[0] ?? first)
}

/** Matched before lower-casing: the Kelvin sign would become a `k`. @source rules#pix-key.4 */
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
