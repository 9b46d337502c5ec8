import type { getLedgerEntry } from '@pixgate/spec'
import type { Static } from 'typebox'
import { entryId } from './entry-id.ts'
import type { LedgerRow } from './store.ts'

type LedgerEntry = Static<(typeof getLedgerEntry)['responses'][200]['schema']>

/** An entry as the merchant reads it. @source rules#ledger.entries */
export function entryView(row: LedgerRow, accountId: string): LedgerEntry {
  const isCredit = row.amount_cents > 0n
  return {
    id: entryId(accountId, row.version),
    type: isCredit ? 'CREDIT' : 'DEBIT',
    operation: row.operation,
    amountCents: Number(isCredit ? row.amount_cents : -row.amount_cents),
    balanceAfterCents: Number(row.balance_after_cents),
    currency: row.currency,
    referenceId: row.reference_id,
    externalId: row.external_id,
    transactionId: row.transaction_id,
    endToEndId: row.end_to_end_id,
    description: row.description,
    createdAt: new Date(row.at).toISOString(),
  }
}

/** The place after an entry, as a client sends it back. @source rules#ledger.list */
export function cursorAfter(row: LedgerRow): string {
  return Buffer.from(`${CURSOR_PREFIX}${row.version}`).toString('base64url')
}

/** The version in a cursor, or `undefined` where it is none of ours. */
export function cursorVersion(cursor: string): bigint | undefined {
  const digits = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1]
  return digits === undefined ? undefined : BigInt(digits)
}

const CURSOR_PREFIX = 'v1:'
const CURSOR = /^v1:(\d{1,18})$/
