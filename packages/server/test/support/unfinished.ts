import { type Database, statement } from '../../src/platform/db/database.ts'

const UNFINISHED = statement<[], { what: string }>(
  'test.unfinished',
  `SELECT concat_ws(' ', kind, id, status) AS what FROM operation
    WHERE status IN ('PENDING', 'RESERVED', 'DISPATCHED', 'PROVIDER_RESULT_UNKNOWN')
       OR status = 'RECONCILIATION_REQUIRED' AND due_at IS NOT NULL
   UNION ALL SELECT concat_ws(' ', 'event', inbox_id, state) FROM inbox_event WHERE processed_at IS NULL`,
)

/** Operations that have not ended, and events that were not applied. */
export async function unfinishedIn(database: Database): Promise<readonly string[]> {
  return (await database.rows(UNFINISHED, [])).map(({ what }) => what)
}

/** What became of an operation: its status, its notifications, its open cases. */
export interface Outcome {
  readonly id: string
  readonly status: string
  readonly notified: readonly string[]
  readonly cases: readonly string[]
}

const OUTCOMES = statement<[ids: readonly string[]], Outcome>(
  'test.outcomes',
  `SELECT o.id, o.status,
          ARRAY(SELECT n.event_type || ' ' || n.status FROM notification n WHERE n.operation_id = o.id ORDER BY 1) AS notified,
          ARRAY(SELECT c.kind FROM "case" c WHERE c.operation_id = o.id AND c.closed_at IS NULL ORDER BY 1) AS cases
     FROM operation o WHERE o.id = ANY ($1) ORDER BY o.id`,
)

/** See {@link Outcome}. */
export function outcomesOf(database: Database, ids: readonly string[]): Promise<Outcome[]> {
  return database.rows(OUTCOMES, [ids])
}
