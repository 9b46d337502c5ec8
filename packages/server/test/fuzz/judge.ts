import type { ErrorCode } from '@pixgate/spec'
import type { FuzzCase } from './cases.ts'
import type { Answer } from './connection.ts'
import type { DocumentedAnswer } from './document.ts'
import { headerFaults } from './header-faults.ts'

/** What no answer may contain: our inside, and what must stay secret. */
const INSIDES = [
  /\bat .+:\d+:\d+/,
  /node_modules|\.ts\b|\/packages\//,
  /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM) .+ (?:FROM|VALUES|SET|WHERE)\b/,
  /\bECONN|\bpg_|postgres|syntax error|violates|relation "|invalid input/i,
]

/** The bank is told to fall silent, and payouts are switched off, now and then. */
const OUR_DOING: readonly ErrorCode[] = ['partner_unavailable', 'cash_out_suspended']

/** Finds everything that is wrong with an answer. Each complaint begins with words that are the same for its kind. */
export function complaintsAbout(
  { operation, request }: FuzzCase,
  answer: Answer,
  secrets: readonly string[],
): string[] {
  const { status, headers, body } = answer
  const text = body.toString()
  const documented =
    (request.isElsewhere && status === 404 ? undefined : operation.answers.get(status)) ?? CONVENTION[status]
  const isOurDoing = status === 503 && OUR_DOING.some((code) => codeIn(text) === code && documented?.codes.has(code))
  const complaints: string[] = []
  const expect = (isRight: boolean, complaint: string) => {
    if (!isRight) complaints.push(complaint)
  }

  expect(status < 500 || isOurDoing, `the server failed: ${status}`)
  expect(documented !== undefined, `a status that is not documented: ${status}`)
  expect(status >= 400 || !request.isInvalid, `an invalid request succeeded: ${status}`)
  expect(
    request.statuses.includes(status) || (isOurDoing && !request.isInvalid),
    `not the status that was due: ${status} instead of ${request.statuses}`,
  )

  const echoed = headers.get('x-correlation-id')
  expect(echoed !== undefined && /^[ -~]{1,256}$/.test(echoed), `no correlation id: ${echoed}`)
  expect(request.correlationId === undefined || echoed === request.correlationId, `another correlation id: ${echoed}`)
  expect(headers.get('x-content-type-options') === 'nosniff', 'no X-Content-Type-Options')
  const isImage = headers.get('content-type')?.startsWith('image/')
  const caching = isImage ? /no-store|^private, max-age=\d+$/ : /no-store|max-age=300/
  expect(caching.test(headers.get('cache-control') ?? ''), 'no Cache-Control')
  complaints.push(...headerFaults(documented?.headers ?? {}, headers.keys()))
  expect(status !== 429 || /^[1-9]\d*$/.test(headers.get('retry-after') ?? ''), 'a 429 without Retry-After')
  expect(!headers.has('server') && !headers.has('x-powered-by'), 'the server names itself')
  if (documented && request.method !== 'HEAD') complaints.push(...contentComplaints(answer, documented, text))

  if (status >= 400) for (const inside of INSIDES) expect(!inside.test(text), `our inside in an answer: ${inside}`)
  for (const secret of secrets) expect(!text.includes(secret), 'a secret in an answer')
  expect(!text.includes('"polluted":'), 'a polluted prototype')
  return complaints
}

function codeIn(text: string): unknown {
  const problem = parsed(text)
  return typeof problem === 'object' && problem !== null && 'code' in problem ? problem.code : undefined
}

const STANDARD_HEADERS = { 'X-Correlation-ID': {}, 'Cache-Control': {}, 'X-Content-Type-Options': {} }

/** What the document cannot say of one operation: paths that are none, methods they do not have, too long a head. */
const CONVENTION: Readonly<Record<number, DocumentedAnswer | undefined>> = {
  404: { contents: new Map(), codes: new Set(['not_found']), headers: STANDARD_HEADERS },
  405: { contents: new Map(), codes: new Set(['method_not_allowed']), headers: { ...STANDARD_HEADERS, Allow: {} } },
  431: { contents: new Map(), codes: new Set(), headers: STANDARD_HEADERS },
}

/** Statuses whose answers have no body: by HTTP, or as nothing of the request was read. */
const BODILESS: ReadonlySet<number> = new Set([204, 304, 431])

const PROBLEM = 'application/problem+json'

function contentComplaints({ status, headers }: Answer, { contents, codes }: DocumentedAnswer, text: string): string[] {
  const type = headers.get('content-type')?.split(';')[0]
  if (BODILESS.has(status)) return text === '' && type === undefined ? [] : [`a ${status} with a body`]
  const isValid = type === undefined ? undefined : contents.get(type)
  const isProblem = type === PROBLEM
  if (!isValid && !(isProblem && contents.size === 0)) return [`a content type that is not documented: ${type}`]
  const value = type?.endsWith('json') ? parsed(text) : text
  if (value === undefined) return ['JSON that is none']
  const faults =
    isValid && !isValid(value) ? isValid.errors?.map((it) => `${it.instancePath} ${it.message}`) : undefined
  return [
    ...(faults ? [`a body that is not documented: ${faults.join(', ')}`] : []),
    ...(isProblem ? problemComplaints(value as Record<string, unknown>, status, headers, codes) : []),
  ]
}

function problemComplaints(
  { status: told, code, detail, message, correlationId }: Record<string, unknown>,
  status: number,
  headers: Answer['headers'],
  codes: ReadonlySet<string>,
): string[] {
  return [
    ...(codes.has(String(code)) ? [] : [`a code that is not documented: ${status} ${code}`]),
    ...(told === status && detail === message ? [] : ['a problem that contradicts itself']),
    ...(correlationId === headers.get('x-correlation-id') ? [] : ['two correlation ids']),
  ]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
