import { type Database, statement } from '../../src/platform/db/database.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import type { ProcessWorld } from './process-world.ts'

/** What an operation leaves behind on its way from the create to the notification. */
export type Milestone =
  | 'intent'
  | 'claimed for sending'
  | 'order at the bank'
  | 'order accepted'
  | 'event stored'
  | 'event acknowledged'
  | 'booked'
  | 'event marked'
  | 'fanned out'
  | 'delivery claimed'
  | 'received'
  | 'recorded'

/** How often each milestone was passed in a world. */
export type Progress = Readonly<Record<Milestone, number>>

type InDatabase = Exclude<Milestone, 'order at the bank' | 'event acknowledged' | 'received'>

const selectProgress = statement<[], { milestone: InDatabase; times: number }>(
  'test.progress',
  `SELECT milestone, times::integer FROM (
     SELECT 'intent' AS milestone, count(*) AS times FROM move WHERE trigger = 'create'
     UNION ALL SELECT 'claimed for sending', count(*) FROM move WHERE trigger = 'send.claimed'
     UNION ALL SELECT 'order accepted', count(*) FROM move WHERE trigger IN ('charge.accepted', 'send.accepted')
     UNION ALL SELECT 'event stored', count(*) FROM inbox_event
     UNION ALL SELECT 'booked', count(*) FROM move WHERE trigger IN ('partner.confirmed', 'partner.returned', 'return.told')
     UNION ALL SELECT 'event marked', count(*) FROM inbox_event WHERE processed_at IS NOT NULL
     UNION ALL SELECT 'fanned out', count(*) FROM delivery
     UNION ALL SELECT 'delivery claimed', count(*) FROM delivery WHERE leased_until IS NOT NULL OR attempts > 0
     UNION ALL SELECT 'recorded', count(*) FROM delivery_attempt
   ) AS counted`,
)

/** What a world has behind it. */
export async function progress({ database, bank, receiver }: ProcessWorld): Promise<Progress> {
  const [rows, { charges, payouts, refunds, events }] = await Promise.all([
    database.rows(selectProgress, []),
    bank.book(),
  ])
  const inDatabase = Object.fromEntries(rows.map(({ milestone, times }) => [milestone, times]))
  return {
    ...(inDatabase as Record<InDatabase, number>),
    'order at the bank': charges.length + payouts.length + refunds.length,
    'event acknowledged': events.delivered.length,
    received: receiver.received.length,
  }
}

/** How much is unfinished, what was done so far, and when the next of it is due; epoch milliseconds. */
interface Work {
  readonly unfinished: number
  readonly done: number
  readonly dueAt: number | null
}

const selectWork = statement<[], Work>(
  'test.work',
  `SELECT count(*)::integer AS unfinished, min(due_at) AS "dueAt",
          (SELECT count(*) + (SELECT coalesce(sum(attempts), 0) FROM inbox_event)
                + (SELECT coalesce(sum(attempts), 0) FROM delivery) FROM move)::integer AS done
     FROM (
       SELECT due_at FROM operation
        WHERE status IN ('PENDING', 'RESERVED', 'DISPATCHED', 'PROVIDER_RESULT_UNKNOWN')
           OR status = 'RECONCILIATION_REQUIRED' AND due_at IS NOT NULL
       UNION ALL SELECT due_at FROM inbox_event WHERE processed_at IS NULL
       UNION ALL SELECT created_at FROM notification WHERE fanned_out_at IS NULL
       UNION ALL SELECT due_at FROM delivery WHERE state = 'PENDING'
     ) AS open`,
)

const GLANCE_MS = 30

/** Nothing happened for so long that it is a matter of time. */
const STILL_MS = 500

/** Time is put forward by so much at least, or a bank that knows nothing would be asked all too often. */
const LEAP_MS = 150_000

/** Whoever waits longer waits in vain. */
const PATIENCE_MS = 60_000

/**
 * Resolves when every operation has ended, every event was taken and applied, and every notification was delivered. Time
 * is put forward while nothing happens and nothing is due.
 * @throws Error with what is unfinished and will not end
 */
export async function finished(world: ProcessWorld): Promise<void> {
  const begunAt = performance.now()
  let before: string | undefined
  let stillSince = 0
  for (;;) {
    const [work, { events, payouts, refunds }] = await Promise.all([workOf(world.database), world.bank.book()])
    const atTheBank = [...payouts, ...refunds].filter(({ status }) => status === 'PROCESSING').length
    if (work.unfinished + events.pending.length + atTheBank === 0) return
    const now = JSON.stringify({ ...work, pending: events.pending, atTheBank })
    if (performance.now() - begunAt > PATIENCE_MS) throw new Error(`unfinished: ${now}`)
    if (now !== before) stillSince = performance.now()
    before = now
    const leapMs = Math.max((work.dueAt ?? 0) - world.now(), LEAP_MS)
    const isDue = work.dueAt !== null && work.dueAt <= world.now()
    if (performance.now() - stillSince >= STILL_MS && !isDue) await world.advance(leapMs)
    else await realPause.for(GLANCE_MS)
  }
}

async function workOf(database: Database): Promise<Work> {
  const [work] = await database.rows(selectWork, [])
  if (!work) throw new Error('a count has a row')
  return work
}
