import { maskDocument, normaliseDocument, normalisePixKey, type PixKeyType } from '@pixgate/spec'
import { type Queries, statement } from '../platform/db/database.ts'

export interface Identifier {
  readonly kind: 'document' | 'pixKey'
  /** Normalised. */
  readonly value: string
  /** For people and the audit trail: too short to be used. */
  readonly masked: string
  /**
   * Finds the identifier in any text, masked or not, in any case, but not inside something longer. Works in PostgreSQL
   * and JavaScript.
   */
  readonly pattern: string
}

/** Pix keys other than documents. A Brazilian phone number needs `+55`: without it, it may be someone's CPF. */
const KEY_TYPES: readonly PixKeyType[] = ['email', 'phone', 'evp']

/**
 * Reads an identifier. A CPF or CNPJ also matches the Pix key with the same digits.
 * @returns `undefined` for anything but a CPF, CNPJ or Pix key
 * @source rules#privacy.7
 */
export function readIdentifier(text: string): Identifier | undefined {
  const document = normaliseDocument(text)
  if (document !== null) {
    return { kind: 'document', value: document, masked: maskDocument(document), pattern: patternOfDocument(document) }
  }
  const keys = KEY_TYPES.filter((type) => type !== 'phone' || text.startsWith('+'))
  const value = keys.map((type) => normalisePixKey(type, text)).find((key) => key !== null)
  if (value === undefined) return undefined
  // A full stop at the end of a sentence is not followed by letters.
  const pattern = `(?<![0-9A-Za-z._%+-])${escaped(value)}(?![.]?[0-9A-Za-z-])`
  return { kind: 'pixKey', value, masked: `key ending in ${value.slice(-4)}`, pattern }
}

function patternOfDocument(document: string): string {
  const parts = document.length === 11 ? /^(...)(...)(...)(..)$/ : /^(..)(...)(...)(....)(..)$/
  const [, ...groups] = parts.exec(document) ?? []
  // JSON may escape a slash.
  const separators = document.length === 11 ? ['[.]?', '[.]?', '-?'] : ['[.]?', '[.]?', '(?:\\\\?/)?', '-?']
  const text = groups.map((group, index) => group + (separators[index] ?? '')).join('')
  return `(?<![0-9A-Za-z])${text}(?![0-9A-Za-z])`
}

function escaped(text: string): string {
  return text.replace(/[^0-9A-Za-z]/g, '\\$&')
}

/** The part of a document about one person. An operation may involve two: the requested and the actual payer. Pure. */

export type Json = string | number | boolean | null | readonly Json[] | JsonObject

export type JsonObject = { readonly [key: string]: Json }

/** Owner of parts of an operation that name no person. */
export interface Ownership {
  /** The request names the subject as payer or recipient. */
  readonly isRequested: boolean
  /** The bank reported the subject as payer or recipient. */
  readonly isReported: boolean
}

/** Replaces parts about someone else, or about an unknown person. */
const WITHHELD = '(withheld: not known to be about this person)'

/** Whether a party is the subject; `undefined` if unknown. */
type Verdict = boolean | undefined

const PARTIES: ReadonlySet<string> = new Set(['payer', 'recipient'])
const PARTY_FIELDS: ReadonlySet<string> = new Set([
  ...['payerName', 'payerDocument', 'payerIspb', 'payer_name'],
  ...['recipientName', 'recipientDocument', 'recipientIspb'],
])
const TEXTS: ReadonlySet<string> = new Set(['description', 'reason', 'note', 'failureReason', 'errorMessage', 'error'])

function ownershipOf(detail: JsonObject, facts: JsonObject, subject: Identifier): Ownership {
  const isRequested = isParty(detail.payer, subject) === true || isParty(detail.recipient, subject) === true
  const paid = isDocument(facts.payerDocument, subject)
  const received = facts.recipientName === undefined ? undefined : isDocument(facts.recipientDocument, subject)
  // A payment to the subject's key is theirs, unless the bank says otherwise.
  return {
    isRequested,
    isReported: paid === true || (received ?? (isRequested && isParty(detail.recipient, subject) === true)),
  }
}

/** One of our own documents, without parts about others. @source rules#privacy.8 */
function ownPart(value: Json, subject: Identifier, owner: Ownership): Json {
  if (Array.isArray(value)) return value.map((item: Json) => ownPart(item, subject, owner))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, part === null ? null : ownField(key, part, subject, owner)]),
  )
}

function ownField(key: string, part: Json, subject: Identifier, owner: Ownership): Json {
  if (PARTIES.has(key)) return (isParty(part, subject) ?? owner.isRequested) ? part : WITHHELD
  if (PARTY_FIELDS.has(key)) return owner.isReported ? part : WITHHELD
  if (key === 'qrCode') return owner.isRequested ? part : WITHHELD
  if (TEXTS.has(key) && typeof part === 'string') return isOwnText(part, subject, owner) ? part : WITHHELD
  return ownPart(part, subject, owner)
}

function isOwnText(text: string, subject: Identifier, { isRequested }: Ownership): boolean {
  return isRequested || names(text, subject)
}

/** Fields of a bank's body that contain no personal data. */
const PLAIN: ReadonlySet<string> = new Set([
  ...['event', 'eventId', 'transactionId', 'externalId', 'status', 'endToEndId', 'returnId'],
  ...['valueCents', 'feeCents', 'occurredAt', 'errorCode', 'currency'],
])

/**
 * A bank's body, which may contain anything: unknown parts are withheld.
 * @param body `undefined` if it is not a JSON object
 */
function ownBody(body: JsonObject | undefined, subject: Identifier, owner: Ownership): Json {
  if (body === undefined) return WITHHELD
  return Object.fromEntries(
    Object.entries(body).map(([key, part]) => {
      if (PLAIN.has(key) && !isObject(part)) return [key, part]
      if (PARTIES.has(key)) return [key, (isParty(part, subject) ?? owner.isReported) ? part : WITHHELD]
      return [key, typeof part === 'string' && names(part, subject) ? part : WITHHELD]
    }),
  )
}

function names(text: string, { pattern }: Identifier): boolean {
  return new RegExp(pattern, 'i').test(text)
}

function isParty(party: Json | undefined, subject: Identifier): Verdict {
  if (!isObject(party)) return undefined
  const { pixKey, document } = party
  if (typeof pixKey === 'string' && names(pixKey, subject)) return true
  const isOther = typeof pixKey === 'string' && subject.kind === 'pixKey'
  return isDocument(document, subject) ?? (isOther ? false : undefined)
}

function isDocument(document: Json | undefined, subject: Identifier): Verdict {
  if (typeof document !== 'string' || subject.kind !== 'document') return undefined
  return (normaliseDocument(document) ?? document) === subject.value || document === maskDocument(subject.value)
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * SQL that searches for a person. Each statement scans its table, in a snapshot on a connection of its own: there is no
 * index to look up people, and nothing waits for the result.
 */

export interface OperationRow {
  readonly id: string
  readonly kind: string
  readonly external_id: string
  readonly status: string
  readonly value_cents: string
  readonly transaction_id: string | null
  readonly end_to_end_id: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly erased_at: string | null
  readonly detail: JsonObject
  readonly facts: JsonObject
  readonly moves: readonly { readonly facts: JsonObject; readonly evidence: JsonObject | null }[]
  readonly cases: readonly { readonly facts: JsonObject }[]
  readonly notifications: readonly { readonly body: JsonObject | null }[]
}

export interface CallbackRow {
  readonly id: string
  readonly endpoint: string
  readonly received_at: string
  readonly erased_at: string | null
  readonly operation_ids: readonly string[]
  /** `null` if it is not a JSON object. */
  readonly body: JsonObject | null
}

export interface CaseRow {
  readonly id: string
  readonly kind: string
  readonly opened_at: string
  readonly closed_at: string | null
  readonly facts: JsonObject
}

export interface CaseStepRow {
  readonly id: string
  readonly case_id: string
  readonly step: string
  readonly at: string
  readonly content: JsonObject
}

export interface AuditTextRow {
  readonly id: string
  readonly at: string
  readonly action: string
  readonly subject: string
  readonly facts: JsonObject
}

const BODY_TEXT = `concat_ws(' ', encode(body, 'escape'), json_or_null(body)::text)`

const selectIds = statement<[pattern: string], { id: string }>(
  'subject.operation_ids',
  `WITH found AS (
     SELECT id FROM operation WHERE concat_ws(' ', external_id, detail::text, facts::text) ~* $1
      UNION
     SELECT operation_id FROM move WHERE concat_ws(' ', facts::text, evidence::text) ~* $1
      UNION
     SELECT operation_id FROM "case" WHERE facts::text ~* $1
      UNION
     SELECT c.operation_id FROM case_step s JOIN "case" c ON c.id = s.case_id WHERE s.content::text ~* $1
      UNION
     SELECT operation_id FROM notification WHERE ${BODY_TEXT} ~* $1
      UNION
     SELECT e.operation_id FROM inbox i JOIN inbox_event e ON e.inbox_id = i.id WHERE ${BODY_TEXT} ~* $1
   )
   SELECT id FROM found WHERE id IS NOT NULL
    UNION
   SELECT r.id FROM operation r JOIN found f ON r.detail ->> 'cashInId' = f.id::text WHERE r.kind = 'refund_in'`,
)

/** Operations that contain an identifier anywhere, and their refunds. */
async function operationIdsOf(queries: Queries, pattern: string): Promise<string[]> {
  return (await queries.rows(selectIds, [pattern])).map(({ id }) => id)
}

const selectOperations = statement<[ids: readonly string[]], OperationRow>(
  'subject.operations',
  `SELECT o.id, kind, external_id, status, value_cents::text, transaction_id, end_to_end_id, created_at, updated_at, erased_at,
          detail, facts,
          (SELECT coalesce(jsonb_agg(to_jsonb(m) - 'operation_id' - 'kind' - 'batch_id' ORDER BY version), '[]')
             FROM move m WHERE m.operation_id = o.id) AS moves,
          (SELECT coalesce(jsonb_agg(to_jsonb(c) - 'operation_id' ORDER BY opened_at, c.id), '[]')
             FROM "case" c WHERE c.operation_id = o.id) AS cases,
          (SELECT coalesce(jsonb_agg(jsonb_build_object(
                    'id', n.id, 'eventType', n.event_type, 'createdAt', n.created_at, 'erasedAt', n.erased_at,
                    'body', json_or_null(n.body), 'sentTo', ARRAY(
                      SELECT split_part(split_part(e.url, '/', 3), ':', 1) FROM delivery d
                        JOIN endpoint e ON e.id = d.endpoint_id
                       WHERE d.notification_id = n.id AND d.attempts > 0 ORDER BY 1))
                  ORDER BY n.created_at, n.id), '[]')
             FROM notification n WHERE n.operation_id = o.id) AS notifications
     FROM operation o WHERE id = ANY ($1::uuid[]) ORDER BY created_at, id`,
)

/** Operations with everything linked to them, oldest first. */
function operationsBy(queries: Queries, ids: readonly string[]): Promise<OperationRow[]> {
  return queries.rows(selectOperations, [ids])
}

const selectCallbacks = statement<[pattern: string, ids: readonly string[]], CallbackRow>(
  'subject.callbacks',
  `SELECT id, endpoint, received_at, erased_at,
          ARRAY(SELECT DISTINCT operation_id::text FROM inbox_event e
                 WHERE e.inbox_id = i.id AND operation_id IS NOT NULL ORDER BY 1) AS operation_ids,
          CASE WHEN jsonb_typeof(json_or_null(body)) = 'object' THEN json_or_null(body) END AS body
     FROM inbox i
    WHERE ${BODY_TEXT} ~* $1
       OR EXISTS (SELECT FROM inbox_event e WHERE e.inbox_id = i.id AND e.operation_id = ANY ($2::uuid[]))
    ORDER BY received_at, id`,
)

function callbacksOf(queries: Queries, pattern: string, ids: readonly string[]): Promise<CallbackRow[]> {
  return queries.rows(selectCallbacks, [pattern, ids])
}

const selectCases = statement<[pattern: string], CaseRow>(
  'subject.cases',
  `SELECT id, kind, opened_at, closed_at, facts FROM "case"
    WHERE operation_id IS NULL AND facts::text ~* $1 ORDER BY opened_at, id`,
)

function casesOf(queries: Queries, pattern: string): Promise<CaseRow[]> {
  return queries.rows(selectCases, [pattern])
}

const selectCaseSteps = statement<[pattern: string], CaseStepRow>(
  'subject.case_steps',
  `SELECT id, case_id, step, at, content FROM case_step WHERE content::text ~* $1 ORDER BY at, id`,
)

/** Steps of cases that contain the identifier, in a reason or in the bank's statement. */
function caseStepsOf(queries: Queries, pattern: string): Promise<CaseStepRow[]> {
  return queries.rows(selectCaseSteps, [pattern])
}

const selectAudits = statement<[pattern: string], AuditTextRow>(
  'subject.audits',
  `SELECT id, at, action, subject, facts FROM audit WHERE concat_ws(' ', subject, facts::text) ~* $1 ORDER BY at, id`,
)

/** Audit rows that contain the identifier, written by an operator as a reason. */
function auditsOf(queries: Queries, pattern: string): Promise<AuditTextRow[]> {
  return queries.rows(selectAudits, [pattern])
}

const selectNow = statement<[], { now: string }>('subject.now', 'SELECT transaction_timestamp() AS now')

async function takenAt(queries: Queries): Promise<Date> {
  return new Date((await queries.rows(selectNow, []))[0]?.now ?? Number.NaN)
}

/** All stored data about a person, for that person. */
export interface SubjectExport {
  readonly takenAt: string
  readonly subject: string
  readonly operations: readonly object[]
  readonly callbacks: readonly object[]
  readonly cases: readonly object[]
  /** Operators' decisions and proposals that mention the person. */
  readonly caseSteps: readonly object[]
  readonly audit: readonly object[]
}

const NOBODYS: Ownership = { isRequested: false, isReported: false }

/**
 * Exports all data about a person, and nothing about others.
 * @param queries a snapshot
 * @source rules#privacy.7, rules#privacy.8
 */
export async function exportOf(queries: Queries, subject: Identifier): Promise<SubjectExport> {
  const { pattern } = subject
  const operations = await operationsBy(queries, await operationIdsOf(queries, pattern))
  const callbacks = await callbacksOf(
    queries,
    pattern,
    operations.map(({ id }) => id),
  )
  const owners = ownersOf(operations, subject)
  const cases = await casesOf(queries, pattern)
  return {
    takenAt: (await takenAt(queries)).toISOString(),
    subject: subject.value,
    operations: operations.map((operation) => operationPart(operation, subject, owners.get(operation.id) ?? NOBODYS)),
    callbacks: callbacks.map((callback) => callbackPart(callback, subject, owners)),
    cases: cases.map(({ facts, ...rest }) => ({ ...rest, facts: ownPart(facts, subject, NOBODYS) })),
    caseSteps: (await caseStepsOf(queries, pattern)).map(({ content, ...rest }) => ({
      ...rest,
      content: ownPart(content, subject, NOBODYS),
    })),
    audit: (await auditsOf(queries, pattern)).map(({ facts, ...rest }) => ({
      ...rest,
      facts: ownPart(facts, subject, NOBODYS),
    })),
  }
}

/** Owner of each operation; a refund goes to the payer. */
function ownersOf(operations: readonly OperationRow[], subject: Identifier): Map<string, Ownership> {
  const owners = new Map(operations.map(({ id, detail, facts }) => [id, ownershipOf(detail, facts, subject)]))
  for (const { id, detail } of operations) {
    const paid = typeof detail.cashInId === 'string' ? owners.get(detail.cashInId) : undefined
    if (paid) owners.set(id, { isRequested: paid.isReported, isReported: paid.isReported })
  }
  return owners
}

function operationPart(operation: OperationRow, subject: Identifier, owner: Ownership): object {
  const own = (document: JsonObject) => ownPart(document, subject, owner)
  const { detail, facts, moves, cases, notifications, ...rest } = operation
  return {
    ...rest,
    detail: own(detail),
    facts: own(facts),
    moves: moves.map((move) => ({ ...move, facts: own(move.facts), evidence: move.evidence && own(move.evidence) })),
    cases: cases.map((it) => ({ ...it, facts: own(it.facts) })),
    notifications: notifications.map((it) => ({ ...it, body: it.body && own(it.body) })),
  }
}

function callbackPart(
  { body, ...rest }: CallbackRow,
  subject: Identifier,
  owners: ReadonlyMap<string, Ownership>,
): object {
  const [only] = rest.operation_ids
  const owner = rest.operation_ids.length === 1 && only !== undefined ? owners.get(only) : undefined
  return { ...rest, body: ownBody(body ?? undefined, subject, owner ?? NOBODYS) }
}
