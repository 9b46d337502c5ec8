import { type Database, statement } from '../platform/db/database.ts'

/** All SQL of retention. What may be erased, and never earlier than its floor, the database says itself. */

/** What is erased, each by the database's own function of that name. */
export const ERASABLE = ['callbacks', 'notifications', 'deliveries', 'ended_operations'] as const

/** One of {@link ERASABLE}. */
export type Erasable = (typeof ERASABLE)[number]

type Erase = [days: number, limit: number]

const statements = {
  callbacks: statement<Erase, { erased: number }>(
    'retention.erase_callbacks',
    'SELECT erase_callbacks($1, $2) AS erased',
  ),
  notifications: statement<Erase, { erased: number }>(
    'retention.erase_notifications',
    'SELECT erase_notifications($1, $2) AS erased',
  ),
  deliveries: statement<Erase, { erased: number }>(
    'retention.erase_deliveries',
    'SELECT erase_deliveries($1, $2) AS erased',
  ),
  ended_operations: statement<Erase, { erased: number }>(
    'retention.erase_ended_operations',
    'SELECT erase_ended_operations($1, $2) AS erased',
  ),
} as const satisfies Readonly<Record<Erasable, unknown>>

/**
 * Erases what is over its time, the oldest first.
 * @param days how long it is kept; the floor where that is more
 * @param limit how many rows at most
 * @returns how many were erased
 * @source rules#privacy.1, rules#privacy.2, rules#privacy.3, rules#privacy.10
 */
export async function erase(database: Database, what: Erasable, days: number, limit: number): Promise<number> {
  return (await database.rows(statements[what], [days, limit]))[0]?.erased ?? 0
}
