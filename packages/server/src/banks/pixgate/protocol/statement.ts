import { type PartnerStatement, partnerEntrySigns } from '@pixgate/spec'
import type { StatementEntry, StatementPage, StatementQuery } from '../../port.ts'
import { isStatement } from './bodies.ts'

/** The path of `GET /statement` for a page of a window. @source partner-protocol#statement */
export function statementPath({ from, to, cursor }: StatementQuery): string {
  const window = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  return `/statement?${new URLSearchParams({ ...window, ...(cursor === null ? {} : { cursor }) })}`
}

/**
 * Reads the answer of `GET /statement`. One entry that cannot be right makes the page wrong: leaving it out would hide
 * money.
 * @returns the page, or, in words for people, why it is none
 */
export function statementPageOf(json: unknown): StatementPage | string {
  if (!isStatement(json)) return 'unreadable statement'
  const faults = json.entries.flatMap((entry) => faultOf(entry) ?? [])
  if (faults[0] !== undefined) return faults[0]
  return { entries: json.entries.map(entryOf), nextCursor: json.nextCursor }
}

type ReportedEntry = PartnerStatement['entries'][number]

/** Only these give back what moved before, and have an id of their own besides the end-to-end id. */
const RETURNS: ReadonlySet<ReportedEntry['kind']> = new Set(['PAYMENT_TAKEN_BACK', 'REFUND_SENT', 'PAYOUT_RETURNED'])

function faultOf({ kind, sign, returnId }: ReportedEntry): string | undefined {
  if (sign !== partnerEntrySigns[kind]) return `${kind} with the sign ${sign}`
  if (RETURNS.has(kind) && returnId === undefined) return `${kind} without a returnId`
  return undefined
}

function entryOf({
  kind,
  endToEndId,
  returnId,
  reference,
  valueCents,
  sign,
  occurredAt,
}: ReportedEntry): StatementEntry {
  return {
    kind,
    direction: sign === '+' ? 'in' : 'out',
    movementId: kind === 'TARIFF' ? reference : (RETURNS.has(kind) && returnId) || endToEndId,
    endToEndId,
    reference,
    valueCents: BigInt(valueCents),
    occurredAt: Date.parse(occurredAt),
  }
}
