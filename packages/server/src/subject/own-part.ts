import { maskDocument, normaliseDocument } from '@pixgate/spec'
import type { Identifier } from './identifier.ts'

/**
 * What of a document is about one person. One operation may know two: who was asked to pay and who did. Pure.
 */

/** JSON as it was read of the database. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** An object of it. */
export type JsonObject = { readonly [key: string]: Json }

/** Whose the parts of an operation are that do not say so themselves. */
export interface Ownership {
  /** The request names the subject: as payer, or as recipient. */
  readonly isRequested: boolean
  /** The bank reported the subject: as who paid, or who was paid. */
  readonly isReported: boolean
}

/** What stands where something is about somebody else, or nobody knows about whom. */
const WITHHELD = '(withheld: not known to be about this person)'

/** Whether somebody is the subject; `undefined` where nothing tells. */
type Verdict = boolean | undefined

const PARTIES: ReadonlySet<string> = new Set(['payer', 'recipient'])
const PARTY_FIELDS: ReadonlySet<string> = new Set([
  ...['payerName', 'payerDocument', 'payerIspb', 'payer_name'],
  ...['recipientName', 'recipientDocument', 'recipientIspb'],
])
const TEXTS: ReadonlySet<string> = new Set(['description', 'reason', 'note', 'failureReason', 'errorMessage', 'error'])

/** Finds out whose an operation is. */
export function ownershipOf(detail: JsonObject, facts: JsonObject, subject: Identifier): Ownership {
  const isRequested = isParty(detail.payer, subject) === true || isParty(detail.recipient, subject) === true
  const paid = isDocument(facts.payerDocument, subject)
  const received = facts.recipientName === undefined ? undefined : isDocument(facts.recipientDocument, subject)
  // A payment to somebody's key is theirs, where the bank does not say otherwise.
  return {
    isRequested,
    isReported: paid === true || (received ?? (isRequested && isParty(detail.recipient, subject) === true)),
  }
}

/**
 * A document of our own without what is about others.
 * @source rules#privacy.8
 */
export function ownPart(value: Json, subject: Identifier, owner: Ownership): Json {
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

/** What of a body of the bank is known to tell of no person. */
const PLAIN: ReadonlySet<string> = new Set([
  ...['event', 'eventId', 'transactionId', 'externalId', 'status', 'endToEndId', 'returnId'],
  ...['valueCents', 'feeCents', 'occurredAt', 'errorCode', 'currency'],
])

/**
 * The same of what the bank sent, which may have anything in it: what is not known is withheld.
 * @param body `undefined` where it is no JSON object
 */
export function ownBody(body: JsonObject | undefined, subject: Identifier, owner: Ownership): Json {
  if (body === undefined) return WITHHELD
  return Object.fromEntries(
    Object.entries(body).map(([key, part]) => {
      if (PLAIN.has(key) && !isObject(part)) return [key, part]
      if (PARTIES.has(key)) return [key, (isParty(part, subject) ?? owner.isReported) ? part : WITHHELD]
      return [key, typeof part === 'string' && names(part, subject) ? part : WITHHELD]
    }),
  )
}

/** Whether a text names the subject. */
function names(text: string, { pattern }: Identifier): boolean {
  return new RegExp(pattern, 'i').test(text)
}

/** What names somebody tells who they are: by document, by Pix key. */
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

/** Whether a value is a JSON object. */
function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
