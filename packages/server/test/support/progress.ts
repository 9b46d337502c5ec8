import { type Database, statement } from '../../src/platform/db/database.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import type { ProcessWorld } from './process-world.ts'

/** What a charge leaves behind on its way from the create to the notification. */
export type Milestone =
  | 'intent'
  | 'charge at the bank'
  | 'charge accepted'
  | 'event stored'
  | 'event acknowledged'
  | 'booked'
  | 'event marked'
  | 'fanned out'
  | 'claimed'
  | 'received'
  | 'recorded'

const selectReached = statement<[], { milestone: Milestone }>(
  'test.reached',
  `SELECT 'intent' AS milestone WHERE EXISTS (SELECT FROM operation)
   UNION ALL SELECT 'charge accepted' WHERE EXISTS (SELECT FROM operation WHERE transaction_id IS NOT NULL)
   UNION ALL SELECT 'event stored' WHERE EXISTS (SELECT FROM inbox)
   UNION ALL SELECT 'booked' WHERE EXISTS (SELECT FROM entry)
   UNION ALL SELECT 'event marked' WHERE EXISTS (SELECT FROM inbox WHERE processed_at IS NOT NULL)
   UNION ALL SELECT 'fanned out' WHERE EXISTS (SELECT FROM delivery)
   UNION ALL SELECT 'claimed' WHERE EXISTS (SELECT FROM delivery WHERE attempts > 0)
   UNION ALL SELECT 'recorded' WHERE EXISTS (SELECT FROM delivery_attempt)`,
)

/** The milestones that the only charge of a world has behind it. */
export async function milestones({ database, bank, receiver }: ProcessWorld): Promise<ReadonlySet<Milestone>> {
  const reached = new Set((await database.rows(selectReached, [])).map(({ milestone }) => milestone))
  const [event] = bank.book.events.values()
  if (bank.book.charges.size > 0) reached.add('charge at the bank')
  if (event?.deliveredAt !== undefined) reached.add('event acknowledged')
  if (receiver.received.length > 0) reached.add('received')
  return reached
}

const selectUnfinished = statement<[], { rows: bigint }>(
  'test.unfinished',
  `SELECT (SELECT count(*) FROM operation WHERE status NOT IN ('PAID', 'FAILED'))
        + (SELECT count(*) FROM inbox WHERE processed_at IS NULL)
        + (SELECT count(*) FROM notification WHERE fanned_out_at IS NULL)
        + (SELECT count(*) FROM delivery WHERE state = 'PENDING') AS rows`,
)

const GLANCE_MS = 20

/** Resolves when every charge has ended, every event was taken and applied, and every notification was delivered. */
export async function finished({ database, bank }: ProcessWorld): Promise<void> {
  const isFinished = async () =>
    [...bank.book.events.values()].every(({ deliveredAt }) => deliveredAt !== undefined) &&
    (await unfinishedRows(database)) === 0n
  while (!(await isFinished())) await realPause.for(GLANCE_MS)
}

async function unfinishedRows(database: Database): Promise<bigint | undefined> {
  return (await database.rows(selectUnfinished, []))[0]?.rows
}
