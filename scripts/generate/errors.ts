import { endpoints } from '@pixgate/spec'
import type { Language } from '../../packages/server/src/reference/frame.ts'
import {
  type ErrorEntry,
  type ErrorWords,
  errorEntries,
  errorWords,
} from '../../packages/server/src/reference/pages.ts'
import { code, type GeneratedDocument, markdown, table } from './document.ts'

/** All errors with cause, remedy and endpoints, in both languages. The service serves the same. */
export function errorsDocuments(): GeneratedDocument[] {
  return [
    errorsDocument('docs/generated/errors.md', 'en', '[Em português](errors.pt-BR.md)'),
    errorsDocument('docs/generated/errors.pt-BR.md', 'pt-BR', '[English](errors.md)'),
  ]
}

function errorsDocument(path: string, language: Language, otherLanguage: string): GeneratedDocument {
  const entries = errorEntries(Object.values(endpoints), language)
  const words = errorWords[language]
  const rows = entries.map((entry) => [`[${code(entry.code)}](#${entry.code})`, entry.status, entry.message])
  const sections = entries.flatMap((entry) => errorSection(entry, words))
  return markdown(path, words.title, otherLanguage, words.intro, table(words.columns, rows), ...sections)
}

function errorSection({ code: name, status, title, cause, cure, answeredBy }: ErrorEntry, words: ErrorWords): string[] {
  return [
    `## ${name}`,
    `**${status} ${title}.** ${cause}`,
    `**${words.whatToDo}** ${cure}`,
    `${words.answeredBy} ${typeof answeredBy === 'string' ? answeredBy : answeredBy.map(operationText).join(', ')}.`,
  ]
}

function operationText(text: string): string {
  return /^[A-Z]+ \//.test(text) ? code(text) : text
}
