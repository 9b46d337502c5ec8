import { HIDDEN_CHARACTER } from '@pixgate/spec'
import type { Party } from './port.ts'

/** What a bank writes for people to read. It is no reason to refuse what it tells: money moved, whatever a name is like. */

/** In place of each character: a reader sees that there was one. */
const REPLACED = '\ufffd'

/** The same text, with nothing in it that nobody sees, or that hides other text. @source rules#text.3 */
export function visibleText(text: string): string
export function visibleText(text: string | undefined): string | undefined
export function visibleText(text: string | undefined): string | undefined {
  return text?.toWellFormed().replaceAll(HIDDEN_CHARACTER, REPLACED)
}

/** Whom a bank tells at the other end of a movement. @source rules#text.3 */
export function visibleParty(told: Partial<Party> | null | undefined): Party {
  const { name, document, ispb } = told ?? {}
  return { name: visibleText(name), document: visibleText(document), ispb: visibleText(ispb) }
}
