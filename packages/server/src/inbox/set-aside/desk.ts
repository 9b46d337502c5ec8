import type { Inbound } from '../../banks/inbound.ts'
import type { Receivers } from '../receivers.ts'
import { namingOf, reportedCents } from '../rules.ts'
import type { SetAsideRow, SetAsideStore } from './store.ts'

/** What an operator reads of events that were set aside, and orders of them. */
export interface SetAsideDesk {
  /** An event with its bytes as they came. */
  read(key: SetAsideKey): Promise<SetAsideEvent | undefined>
  /** Whether an operation is of the kind that an event is about. */
  accepts(key: SetAsideKey, operationId: string): Promise<boolean>
}

/** What tells an event from every other. */
export interface SetAsideKey {
  readonly inboxId: string
  /** Its place in its callback, from 0. */
  readonly ordinal: number
}

/** An event that was set aside. Instants are epoch milliseconds. */
export interface SetAsideEvent extends SetAsideKey {
  readonly is: 'event'
  readonly endpoint: string
  /** As it came; `null`: erased. */
  readonly body: Buffer | null
  readonly receivedAt: number
  readonly state: string
  readonly outcome: string | null
  /** `null`: it is being applied. */
  readonly setAsideAt: number | null
  readonly isReadable: boolean
  /** The money that it tells of, centavos; `null`: nobody knows. */
  readonly valueCents: bigint | null
}

/** What the desk works with. */
export interface SetAsideOptions {
  readonly store: SetAsideStore
  readonly inbound: Pick<Inbound, 'parse'>
  readonly receivers: Receivers
}

/** Makes the desk. */
export function createSetAsideDesk({ store, inbound, receivers }: SetAsideOptions): SetAsideDesk {
  const eventOf = ({ endpoint, body, is_erased }: SetAsideRow, ordinal: number) =>
    is_erased ? undefined : inbound.parse(endpoint, body)[ordinal]

  return {
    read: async (key) => {
      const row = await store.get(key.inboxId, key.ordinal)
      if (!row) return undefined
      const event = eventOf(row, key.ordinal)
      return {
        is: 'event',
        ...key,
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
      const row = await store.get(key.inboxId, key.ordinal)
      const event = row && eventOf(row, key.ordinal)
      const naming = event && namingOf(event)
      return naming ? receivers[naming.subject].exists(operationId) : false
    },
  }
}
