import { type Endpoint, endpoints, errors, errorsOf } from '@pixgate/spec'
import { code, type GeneratedDocument, markdown, table } from './document.ts'

const all: readonly Endpoint[] = Object.values(endpoints)

/** Sets of endpoints that answer the same error for the same reason. */
const groups: readonly (readonly [name: string, members: readonly Endpoint[]])[] = [
  ['every endpoint', all],
  ['every endpoint that asks for credentials', all.filter(({ auth }) => auth !== 'none')],
  ['every endpoint that asks for a token', all.filter(({ auth }) => auth === 'api-key' || auth === 'admin')],
  ['every endpoint that takes a body', all.filter(({ body }) => body !== undefined)],
]

/** Every error the service answers, and which endpoints answer it. */
export function errorsDocument(): GeneratedDocument {
  return markdown(
    'docs/generated/errors.md',
    'Errors',
    'Every error is `application/problem+json`; `code` is stable, `message` (also in `detail`) is exactly this text ' +
      'unless it names the faulty field. `not_found` and `method_not_allowed` also answer paths and methods that do not ' +
      'exist.',
    table(
      ['code', 'HTTP', 'title', 'message', 'answered by'],
      Object.entries(errors).map(([name, { status, title, message }]) => [
        code(name),
        status,
        title,
        message,
        answeredBy(name),
      ]),
    ),
  )
}

function answeredBy(name: string): string {
  const answering = all.filter((endpoint) => errorsOf(endpoint).some((it) => it === name))
  const [group] =
    groups.find(
      ([, members]) => members.length === answering.length && members.every((it) => answering.includes(it)),
    ) ?? []
  return group ?? answering.map(({ method, path }) => code(`${method} ${path}`)).join('<br>')
}
