import { endpoints } from '@pixgate/spec'
import { type ErrorEntry, errorEntries } from '../../packages/server/src/reference/error-entries.ts'
import { code, type GeneratedDocument, markdown, table } from './document.ts'

/** Every error the service answers: its cause, its cure, and which endpoints answer it. The service serves the same. */
export function errorsDocument(): GeneratedDocument {
  const entries = errorEntries(Object.values(endpoints))
  return markdown(
    'docs/generated/errors.md',
    'Errors',
    'Every error is `application/problem+json`; `code` is stable, `message` (also in `detail`) is exactly this text ' +
      'unless it names the faulty field. `type` is the address of the error’s section at the service itself: ' +
      '`/docs/errors#duplicate_external_id`.',
    table(
      ['code', 'HTTP', 'message'],
      entries.map((entry) => [`[${code(entry.code)}](#${entry.code})`, entry.status, entry.message]),
    ),
    ...entries.flatMap(errorSection),
  )
}

function errorSection({ code: name, status, title, cause, cure, answeredBy }: ErrorEntry): string[] {
  return [
    `## ${name}`,
    `**${status} ${title}.** ${cause}`,
    `**What to do:** ${cure}`,
    `Answered by ${typeof answeredBy === 'string' ? answeredBy : answeredBy.map(operationText).join(', ')}.`,
  ]
}

/** `POST /webhook` is code, a sentence is none. */
function operationText(text: string): string {
  return /^[A-Z]+ \//.test(text) ? code(text) : text
}
