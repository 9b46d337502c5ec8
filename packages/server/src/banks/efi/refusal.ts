import { printable } from '../answers.ts'
import { problemOf, type Refusals, STANDARD_REFUSALS } from '../api-pix/classify.ts'
import type { Rejected } from '../port.ts'
import { visibleText } from '../visible-text.ts'
import { isNamedError } from './bodies.ts'

/** Reads a refusal in either form that Efí has: the standard's, and `nome` with `mensagem`. @source rules#efi.1 */
export function refusalOf(json: unknown): Omit<Rejected, 'kind'> | undefined {
  if (!isNamedError(json)) return problemOf(json)
  return { errorCode: visibleText(printable(json.nome)), errorMessage: printable(json.mensagem) }
}

/** How Efí refuses a PUT. */
export const EFI_REFUSALS: Refusals = { ...STANDARD_REFUSALS, read: refusalOf }
