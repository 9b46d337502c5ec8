import { HIDDEN_CHARACTER, limits } from '@pixgate/spec'

/** An answer with a larger share of hidden characters is no text. */
const UNREADABLE_SHARE = 0.1

/** Stands for what is not stored. */
const REMOVED = '***'

/** A value that is named as a secret, up to the end of the word. */
const NAMED_SECRET =
  /\b(authorization|password|passwd|senha|secret|token|api[_-]?key|cookie|session)(["']?\s?[:=]\s?["']?)(?:(?:bearer|basic) )?[^\s"'<>]{4,}/gi

/** The same in a header's words. */
const CREDENTIAL = /\b(bearer|basic) [\w.+/=~-]{8,}/gi

/** Keys and tokens: long, with a digit. A UUID is none, as its groups are short. */
const LONG_WORD = /\b(?=[A-Za-z_+=]{0,200}\d)[\w+=]{24,}/g

/** CPF, CNPJ, telephone and card, in any writing; a time is shorter, and a UUID is none. */
const LONG_NUMBER = /(\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b)|\d(?:[ ./-]?\d){10,}/gi

const EMAIL = /[^\s@<>"'=:]{1,64}@[^\s@<>"']{1,255}/gu

/**
 * The beginning of an answer, in one line that can be shown: no control or hidden characters, nothing that looks like a
 * secret or like a person's document, address or number, and no name that the notification had. It is to be shown as text.
 * @param beginning the first bytes of the answer
 * @param sent the notification
 * @returns at most {@link limits.webhookExcerptMaxLength} characters; `null` where there is no text
 * @source rules#webhooks.17
 */
export function excerptOf(beginning: Uint8Array, sent: Uint8Array): string | null {
  if (beginning.length === 0) return null
  const decoded = textOf(beginning)
  const hidden = decoded.match(HIDDEN_CHARACTER)?.filter((character) => !/\s/.test(character)).length ?? 0
  if (hidden > decoded.length * UNREADABLE_SHARE) return null
  const line = unescaped(decoded).replace(HIDDEN_CHARACTER, ' ').replaceAll(/\s+/g, ' ').trim()
  const shown = withoutNames(line, sent)
    .replace(NAMED_SECRET, `$1$2${REMOVED}`)
    .replace(CREDENTIAL, `$1 ${REMOVED}`)
    .replace(LONG_WORD, REMOVED)
    .replace(LONG_NUMBER, (_, uuid?: string) => uuid ?? REMOVED)
    .replace(EMAIL, REMOVED)
  // Half of a character is nothing that JSON in the database takes.
  return shown === '' ? null : [...shown].slice(0, limits.webhookExcerptMaxLength).join('').toWellFormed()
}

/** UTF-8, of which the last character may be cut off, or else what older servers write. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/** A character as JSON may write it; a JSON text within a JSON text has more backslashes. Any other backslash is of a path. */
const ESCAPED = /\\{1,7}(?:u([\da-fA-F]{4})|(["/]))/g

/** Decodes the escapes of JSON: many servers write every letter with an accent so. */
function unescaped(text: string): string {
  return text.replace(ESCAPED, (_, code: string | undefined, character: string) =>
    code === undefined ? character : String.fromCharCode(Number.parseInt(code, 16)),
  )
}

/** A receiver may answer with what it got: in either form in which Unicode writes an accent, in capitals or not. @source rules#events.3 */
function withoutNames(line: string, sent: Uint8Array): string {
  const [, name] = /"payer_name":("(?:[^"\\]|\\.)+")/.exec(Buffer.from(sent).toString()) ?? []
  const plain = String(JSON.parse(name ?? '""'))
    .replaceAll(/\s+/g, ' ')
    .trim()
  if (plain === '') return line
  const literal = plain.normalize().replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  return line.normalize().replaceAll(new RegExp(literal, 'giu'), REMOVED)
}
