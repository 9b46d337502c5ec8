import type { Inbound } from '../../banks/inbound.ts'
import type { Command } from '../../engine/operation.ts'
import { eventCommand, type Receivers } from '../receivers.ts'
import { namingOf, reportedCents } from '../rules.ts'
import type { SetAsideRow, SetAsideStore } from './store.ts'

/** What an operator reads of events that were set aside, and orders of them. */
export interface SetAsideDesk {
  /** An event with its bytes as they came. */
  read(key: SetAsideKey): Promise<SetAsideEvent | undefined>
  /**
   * What applying an event again comes to, to be rehearsed: to the operation that the operator names, or else to the one that it
   * names itself. `undefined`: it names none, or several, or nobody knows before it is done.
   * @source rules#desk.57, rules#desk.58
   */
  command(
    key: SetAsideKey,
    attributedTo: string | null,
  ): Promise<Command<{ readonly result: string } | undefined> | undefined>
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
    command: async (key, attributedTo) => {
      const row = await store.get(key.inboxId, key.ordinal)
      const event = row && eventOf(row, key.ordinal)
      if (event === undefined || event.kind === 'unreadable') return undefined
      const [meaning] = await receivers[event.subject].match([event.references])
      const id = attributedTo ?? meaning?.id
      return id === undefined ? undefined : eventCommand(receivers, id, event)
    },
    accepts: async (key, operationId) => {
      const row = await store.get(key.inboxId, key.ordinal)
      const event = row && eventOf(row, key.ordinal)
      const naming = event && namingOf(event)
      return naming ? receivers[naming.subject].exists(operationId) : false
    },
  }
}
