import { isUtf8 } from 'node:buffer'
import type { Operation } from './document.ts'
import type { Draft, Flaw } from './draft.ts'

/** What has to become of a request. */
export interface Verdict {
  /** The only statuses it may get. */
  readonly statuses: readonly number[]
  /** Whether it must not succeed. */
  readonly isInvalid: boolean
  /** Whether its path is none of this operation. */
  readonly isElsewhere: boolean
}

/** Finds out what is wrong with a request, by the document and by the rules that are the same for every operation. */
export function verdictOn(draft: Draft, body: Buffer): Verdict {
  const { operation, query } = draft
  const flaws = new Set(draft.flaws.values())
  if (operation.body && body.length > BODY_MAX_BYTES) flaws.add('size')
  const isSigned = operation.credential === 'partnerSignature'
  // Whatever the bank signed is taken.
  if (!isSigned && operation.body && !isValidBody(operation.body, body, draft)) flaws.add('shape')
  if (!operation.body && !isBlank(body)) flaws.add('shape')
  // What cannot be split is anybody's guess; what needs no credentials is called with anything.
  const isReadable = query.every(({ raw }) => raw === undefined)
  const isStrict = !isSigned && (operation.credential !== 'none' || Object.keys(operation.query).length > 0)
  if (isStrict && isReadable && !isValidQuery(operation, query)) flaws.add('shape')

  const isOpen = draft.isSpoiled || draft.contentTypes.length > 1 || (query.length > 0 && !isReadable)
  return {
    statuses: statusesFor(operation, flaws, isOpen && !isSigned),
    isInvalid: flaws.size > 0,
    isElsewhere: flaws.has('path'),
  }
}

const BODY_MAX_BYTES = 65_536
const NESTING_MAX = 16

function isValidQuery(operation: Operation, query: Draft['query']): boolean {
  const names = new Set(query.map(({ name }) => name))
  const values = query.map(({ name, value }) => [name, typed(value, operation.query[name]?.type)])
  // A page is told by its number or by what stands before it.
  const isTwice = names.has('page') && names.has('cursor')
  return names.size === query.length && !isTwice && operation.isValidQuery(Object.fromEntries(values))
}

/** A whole number has one spelling. */
function typed(text: string, type: string | undefined): string | number {
  return type === 'integer' && /^(?:0|-?[1-9]\d{0,14})$/.test(text) ? Number(text) : text
}

function isValidBody(
  { isValid }: NonNullable<Operation['body']>,
  body: Buffer,
  { contentTypes: [contentType = ''], headers }: Draft,
): boolean {
  if (body.length === 0) return isValid({})
  if (!/^application\/json\s*(?:;|$)/i.test(contentType) || !isUtf8(body)) return false
  if (/charset=(?!"?utf-8)/i.test(contentType) || headers.some(([name]) => name === 'Content-Encoding')) return false
  const json = body.toString()
  try {
    const value: unknown = JSON.parse(json)
    return (
      nestingOf(value) <= NESTING_MAX &&
      keysOf(value) === keysIn(json) &&
      (isValid(value) || isValid(withoutNulls(value)))
    )
  } catch {
    return false
  }
}

/** Null counts as absent. @source rules#http.16 */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isHolder(value)) return value
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]))
}

/** Where no body is documented, an empty object is none, of whatever type. */
function isBlank(body: Buffer): boolean {
  return body.length === 0 || body.equals(Buffer.from('{}'))
}

function nestingOf(value: unknown): number {
  return isHolder(value) ? 1 + Math.max(0, ...Object.values(value).map(nestingOf)) : 0
}

/** How many keys a value has; one that was written twice is there once. */
function keysOf(value: unknown): number {
  if (!isHolder(value)) return 0
  const members = Object.values(value)
  return members.map(keysOf).reduce((sum, keys) => sum + keys, Array.isArray(value) ? 0 : members.length)
}

function keysIn(json: string): number {
  return [...json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined).length
}

function isHolder(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** What is answered to each flaw, in the order in which they are judged. */
const ANSWERS: readonly (readonly [flaw: Flaw, status: number])[] = [
  ['head', 431],
  ['transport', 400],
  ['address', 400],
  ['path', 404],
  ['method', 405],
  ['credentials', 401],
  ['size', 413],
  ['shape', 400],
  ['id', 404],
]

/** Statuses that have one cause. */
const ONE_CAUSE = [401, 403, 405, 413, 429]

/** Whose bodies may say what no schema refuses: a network that is none, an expiry that is over. */
const JUDGED_BY_MEANING = ['generateApiKey']

/** Which are refused to whoever is not independent of who asked for it, too: 403 has two causes there. */
const JUDGED_BY_CALLER = ['decideApproval', 'decideCaseProposal']

function statusesFor(operation: Operation, flaws: ReadonlySet<Flaw>, isOpen: boolean): readonly number[] {
  const [flaw, status] = ANSWERS.find(([candidate]) => flaws.has(candidate)) ?? []
  // Whether an address is decoded depends on what is found there.
  if (flaw === 'address' && (flaws.has('path') || flaws.has('method'))) return [400, 404, 405]
  // All of these paths are of the console's pages, which are read.
  if (flaw === 'path' && operation.path.startsWith('/console/')) return [404, 405]
  // A page says of whatever it does not know that it is not there.
  if (flaw === 'shape' && operation.path.startsWith('/pay/')) return [400, 404]
  if (flaw === 'credentials') {
    // Who guesses administrative tokens is slowed down; the bank's bytes are read before its proof is.
    if (operation.credential === 'adminToken') return [401, 429]
    return operation.credential === 'partnerSignature' && flaws.has('size') ? [413] : [401]
  }
  // Where nothing is not found, an unknown id is one of the things that are refused.
  const isRefused = flaw === 'id' && !operation.answers.has(404)
  if (status !== undefined && !isRefused && !(isOpen && (flaw === 'shape' || flaw === 'id'))) return [status]
  const hasOneCause = (it: number) => ONE_CAUSE.includes(it) && !(it === 403 && JUDGED_BY_CALLER.includes(operation.id))
  const documented = [...operation.answers.keys()].filter((it) => it < 500 && !hasOneCause(it))
  return isOpen || JUDGED_BY_MEANING.includes(operation.id) ? documented : documented.filter((it) => it !== 400)
}
