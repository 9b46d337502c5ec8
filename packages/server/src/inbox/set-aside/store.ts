import { type Database, statement } from '../../platform/db/database.ts'

/** All SQL of events that were set aside and that an operator decides of. */
export interface SetAsideStore {
  get(inboxId: string, ordinal: number): Promise<SetAsideRow | undefined>
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

const selectEvent = statement<[inboxId: string, ordinal: number], SetAsideRow>(
  'set_aside.get',
  `SELECT i.endpoint, i.body, i.erased_at IS NOT NULL AS is_erased, i.received_at, e.state, e.outcome, e.processed_at
     FROM inbox_event e JOIN inbox i ON i.id = e.inbox_id WHERE e.inbox_id = $1 AND e.ordinal = $2`,
)

/** Makes the store of a database. */
export function createSetAsideStore(database: Database): SetAsideStore {
  return {
    get: async (inboxId, ordinal) => (await database.rows(selectEvent, [inboxId, ordinal]))[0],
  }
}
