import { type Database, instantParameter, statement } from '../../platform/db/database.ts'

/** All SQL of events that were set aside and that an operator decides of. */
export interface SetAsideStore {
  get(inboxId: string, ordinal: number): Promise<SetAsideRow | undefined>
  /**
   * Makes an event due again, where it and its case are as they were read.
   * @returns whether it did
   */
  applyAgain(order: StoredOrder): Promise<boolean>
}

/** An event with the callback that it came in. */
export interface SetAsideRow {
  readonly endpoint: string
  readonly body: Buffer
  readonly is_erased: boolean
  readonly received_at: number
  readonly state: string
  readonly outcome: string | null
  readonly processed_at: number | null
}

/** What an operator orders of an event. */
export interface StoredOrder {
  readonly inboxId: string
  readonly ordinal: number
  readonly caseId: string
  readonly setAsideAt: number
  readonly attributedTo: string | null
  readonly nowMs: number
}

const selectEvent = statement<[inboxId: string, ordinal: number], SetAsideRow>(
  'set_aside.get',
  `SELECT i.endpoint, i.body, i.erased_at IS NOT NULL AS is_erased, i.received_at, e.state, e.outcome, e.processed_at
     FROM inbox_event e JOIN inbox i ON i.id = e.inbox_id WHERE e.inbox_id = $1 AND e.ordinal = $2`,
)

const holdCase = statement<[caseId: string], { id: string }>(
  'set_aside.hold_case',
  'SELECT id FROM "case" WHERE id = $1 AND closed_at IS NULL FOR UPDATE',
)

/** An event that contradicts another stays marked as that. */
const applyAgain = statement<
  [inboxId: string, ordinal: number, setAsideAt: string, now: string, attributedTo: string | null],
  { inbox_id: string }
>(
  'set_aside.apply_again',
  `UPDATE inbox_event
      SET state = CASE state WHEN 'CONFLICT' THEN state ELSE 'PARKED' END, outcome = 'ORDERED', operation_id = NULL,
          failures = 0, parkings = 0, due_at = $4, processed_at = NULL, attributed_to = $5
    WHERE inbox_id = $1 AND ordinal = $2 AND date_trunc('milliseconds', processed_at) = $3
   RETURNING inbox_id`,
)

/** Rolls back what was begun. */
class Changed extends Error {}

/** Makes the store of a database. */
export function createSetAsideStore(database: Database): SetAsideStore {
  return {
    get: async (inboxId, ordinal) => (await database.rows(selectEvent, [inboxId, ordinal]))[0],
    applyAgain: async ({ inboxId, ordinal, caseId, setAsideAt, attributedTo, nowMs }) => {
      const order = [inboxId, ordinal, instantParameter(setAsideAt), instantParameter(nowMs), attributedTo] as const
      try {
        await database.transaction(async (queries) => {
          if ((await queries.rows(holdCase, [caseId])).length === 0) throw new Changed()
          if ((await queries.rows(applyAgain, [...order])).length === 0) throw new Changed()
        })
        return true
      } catch (error) {
        if (error instanceof Changed) return false
        throw error
      }
    },
  }
}
