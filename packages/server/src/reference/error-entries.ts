import { type Endpoint, type ErrorCode, errorHelp, errorHelpPtBr, errors, errorsOf } from '@pixgate/spec'
import { type EndpointGroup, type ErrorWords, errorWords, type Language } from './error-words.ts'

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

const HELP = { en: errorHelp, 'pt-BR': errorHelpPtBr }

/**
 * Every error, as a page or a document tells it. Title and message are the service's own, in any language.
 * @param all the endpoints that may answer them
 * @source rules#reference.3
 */
export function errorEntries(all: readonly Endpoint[], language: Language): readonly ErrorEntry[] {
  return (Object.keys(errors) as ErrorCode[]).map((code) => {
    const { status, title, message } = errors[code]
    return {
      code,
      status,
      title,
      message,
      ...HELP[language][code],
      answeredBy: answeredBy(code, all, errorWords[language]),
    }
  })
}

/** Who belongs to a set; the first one that fits is told. */
const GROUPS: readonly (readonly [EndpointGroup, isMember: (endpoint: Endpoint) => boolean])[] = [
  ['all', () => true],
  ['withCredentials', ({ auth }) => auth !== 'none'],
  ['withBody', ({ body }) => body !== undefined],
  ['withBodyOfClients', ({ body, auth }) => body !== undefined && auth !== 'partner'],
]

function answeredBy(code: ErrorCode, all: readonly Endpoint[], words: ErrorWords): readonly string[] | string {
  const answering = all.filter((endpoint) => errorsOf(endpoint).includes(code))
  const [group] =
    GROUPS.find(([, isMember]) => all.every((endpoint) => isMember(endpoint) === answering.includes(endpoint))) ?? []
  if (group !== undefined && answering.length > 0) return words.everyEndpoint[group]
  // What does not depend on an endpoint.
  const elsewhere: Partial<Record<ErrorCode, string>> = {
    not_found: words.unknownPaths,
    method_not_allowed: words.everyPath,
  }
  return [...answering.map(({ method, path }) => `${method} ${path}`), elsewhere[code] ?? []].flat()
}
