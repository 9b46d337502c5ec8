import type { Inbound } from '../banks/inbound.ts'
import type { EventKey, SetAsideEvents } from '../cases/without-operation.ts'
import { type Database, statement } from '../platform/db/database.ts'
import type { Receivers } from './receivers.ts'
import { namingOf, reportedCents } from './rules.ts'

interface SetAsideRow {
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

export function createSetAsideEvents({
  database,
  inbound,
  receivers,
}: {
  readonly database: Database
  readonly inbound: Pick<Inbound, 'parse'>
  readonly receivers: Receivers
}): SetAsideEvents {
  const get = async ({ inboxId, ordinal }: EventKey) => (await database.rows(selectEvent, [inboxId, ordinal]))[0]
  const eventOf = ({ endpoint, body, is_erased }: SetAsideRow, ordinal: number) =>
    is_erased ? undefined : inbound.parse(endpoint, body)[ordinal]

  return {
    read: async ({ inboxId, ordinal }) => {
      const row = await get({ inboxId, ordinal })
      if (!row) return undefined
      const event = eventOf(row, ordinal)
      return {
        is: 'event',
        inboxId,
        ordinal,
        endpoint: row.endpoint,
        body: row.is_erased ? null : row.body,
        receivedAt: row.received_at,
        state: row.state,
        outcome: row.outcome,
        setAsideAt: row.processed_at,
        isReadable: event !== undefined && event.kind !== 'unreadable',
        valueCents: event === undefined || event.kind === 'unreadable' ? null : reportedCents(event),
      }
    },
    accepts: async (key, operationId) => {
      const row = await get(key)
      const event = row && eventOf(row, key.ordinal)
      const naming = event && namingOf(event)
      return naming ? receivers[naming.subject].exists(operationId) : false
    },
  }
}
