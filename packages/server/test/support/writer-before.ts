import { administer } from './database.ts'

/**
 * Books a payment of R$ 100.00 as a process does that knows no movements: an operation that is there is paid, or one is
 * made. Nothing but the entries, the accounts and the operation.
 */
export function payAsBefore(url: string, operationId: string, endToEndId: string): Promise<void> {
  return administer(
    url,
    `WITH paid AS (
       INSERT INTO operation (id, kind, external_id, status, version, value_cents, fee_cents, correlation_id, body_hash, detail,
                              facts, created_at, updated_at)
       VALUES ('${operationId}', 'cash_in', '${operationId}', 'PAID', 1, 10000, 0, 'c', '', '{}', '{}', now(), now())
       ON CONFLICT DO NOTHING
     ), moved AS (
       UPDATE account a SET version = a.version + 1, balance_cents = a.balance_cents + d.cents
         FROM (VALUES ('available', 10000, 0), ('settlement', -10000, 1)) AS d (code, cents, posting)
        WHERE a.code = d.code
       RETURNING a.id, a.version, d.cents, a.balance_cents, d.posting
     )
     INSERT INTO entry (account_id, version, amount_cents, balance_after_cents, operation_id, journal, reference, posting, at)
     SELECT id, version, cents, balance_cents, '${operationId}', 'cash_in_paid', '${endToEndId}', posting, now() FROM moved`,
  )
}
