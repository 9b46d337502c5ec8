import { type Endpoint, type ErrorCode, errorHelp, errors, errorsOf } from '@pixgate/spec'

/** Everything that a reader is told of an error. */
export interface ErrorEntry {
  readonly code: ErrorCode
  readonly status: number
  readonly title: string
  /** The exact text, unless the answer names the faulty field. */
  readonly message: string
  readonly cause: string
  readonly cure: string
  /** Operations as `POST /webhook`, or the sentence that stands for all of them. */
  readonly answeredBy: readonly string[] | string
}

/**
 * Every error, as a page or a document tells it.
 * @param all the endpoints that may answer them
 * @source rules#reference.3
 */
export function errorEntries(all: readonly Endpoint[]): readonly ErrorEntry[] {
  return (Object.keys(errors) as ErrorCode[]).map((code) => {
    const { status, title, message } = errors[code]
    return { code, status, title, message, ...errorHelp[code], answeredBy: answeredBy(code, all) }
  })
}

/** Sets of endpoints that answer the same error for the same reason. */
const GROUPS: readonly (readonly [name: string, isMember: (endpoint: Endpoint) => boolean])[] = [
  ['every endpoint', () => true],
  ['every endpoint that asks for credentials', ({ auth }) => auth !== 'none'],
  ['every endpoint that asks for a token', ({ auth }) => auth === 'api-key' || auth === 'admin'],
  ['every endpoint that takes a body', ({ body }) => body !== undefined],
  [
    'every endpoint that takes a body, but for the bank’s events',
    ({ body, auth }) => body !== undefined && auth !== 'partner',
  ],
]

/** What does not depend on an endpoint. */
const OF_ANY_PATH: Partial<Record<ErrorCode, string>> = {
  not_found: 'paths that do not exist',
  method_not_allowed: 'every path, for the methods that it does not have',
}

function answeredBy(code: ErrorCode, all: readonly Endpoint[]): readonly string[] | string {
  const answering = all.filter((endpoint) => errorsOf(endpoint).includes(code))
  const [group] =
    GROUPS.find(([, isMember]) => all.every((endpoint) => isMember(endpoint) === answering.includes(endpoint))) ?? []
  if (group !== undefined && answering.length > 0) return group
  const elsewhere = OF_ANY_PATH[code]
  return [...answering.map(({ method, path }) => `${method} ${path}`), ...(elsewhere === undefined ? [] : [elsewhere])]
}
