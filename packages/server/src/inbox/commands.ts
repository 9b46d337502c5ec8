import type { Inbound, Naming } from '../banks/inbound.ts'
import type { Clock } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import { createBatcher } from '../platform/jobs/batcher.ts'
import type { Receivers } from './receivers.ts'
import { contentHashOf, dedupeKeyOf, namingOf } from './rules.ts'
import type { InboxEvent, InboxStore, NewInboxRow } from './store.ts'

/** Taking events in: committed before they are answered. */
export interface InboxCommands {
  /**
   * Stores what an authentic callback tells. When this resolves it is committed, or was before.
   * @throws DatabaseUnavailable · QueueFull the partner must send it again
   * @source rules#partner-inbox.3, failure-modes#EV-1, failure-modes#EV-2, failure-modes#EV-8, failure-modes#EV-8b
   */
  accept(route: string, body: Buffer): Promise<void>
  /**
   * Commits «ask the partner now» on the operations that a stale callback names, so that its news is not lost.
   * @source rules#partner-inbox.2, failure-modes#EV-9
   */
  askInstead(route: string, body: Buffer): Promise<void>
}

/** A stored event is this process's to apply for so long; then anybody's. */
export const LEASE_MS = 60_000

/** An event that contradicts a stored one is looked at when that one must have been dealt with. */
const CONFLICT_DELAY_MS = 1_000

/** What the commands need. */
export interface InboxCommandsOptions {
  readonly store: InboxStore
  readonly inbound: Pick<Inbound, 'parse'>
  readonly receivers: Receivers
  readonly clock: Clock
  readonly ids: Ids
  /** Called with what was stored new, to be applied at once. */
  readonly onStored: (events: readonly InboxEvent[]) => void
}

/** Makes the commands. */
export function createInboxCommands(options: InboxCommandsOptions): InboxCommands {
  const { store, inbound, receivers, clock, ids, onStored } = options

  const batcher = createBatcher<NewEvent, void>(
    async (rows) => {
      const now = clock.now()
      const fresh = await store.insert(rows, now, now + LEASE_MS)
      await keepContradictions(
        rows.filter(({ id }) => !fresh.has(id)),
        now,
      )
      onStored(rows.filter(({ id }) => fresh.has(id)).map(asStored))
      return rows.map(() => ({ result: undefined }))
    },
    { batchMax: 256, queueMax: 5_000 },
  )

  /**
   * The same event again is nothing; the same event with other content is evidence of a contradiction.
   * @source rules#partner-inbox.7
   */
  async function keepContradictions(repeated: readonly NewInboxRow[], now: number): Promise<void> {
    if (repeated.length === 0) return
    const hashes = await store.hashes(repeated.map(({ dedupeKey }) => dedupeKey))
    const contradicting = repeated.filter(({ dedupeKey, bodyHash }) => !hashes.get(dedupeKey)?.equals(bodyHash))
    if (contradicting.length > 0) await store.insertConflicts(contradicting, now, now + CONFLICT_DELAY_MS)
    // Nothing may have been written, and the bank, told 200, tells it never again.
    await store.untilReplicated()
  }

  async function ask({ subject, references }: Naming): Promise<void> {
    const receiver = receivers[subject]
    const [meaning] = await receiver.match([references])
    for (const id of meaning?.among ?? []) await receiver.ask(id)
  }

  return {
    accept: async (endpoint, body) => {
      const events = inbound.parse(endpoint, body).map((event): NewEvent => {
        const kept = { dedupeKey: dedupeKeyOf(endpoint, event), bodyHash: contentHashOf(event) }
        return { id: ids.uuid(), endpoint, body, ...kept, event }
      })
      await Promise.all(events.map((event) => batcher.submit(event)))
    },
    askInstead: async (route, body) => {
      for (const naming of inbound.parse(route, body).map(namingOf)) if (naming) await ask(naming)
    },
  }
}

type NewEvent = NewInboxRow & Pick<InboxEvent, 'event'>

function asStored(event: NewEvent): InboxEvent {
  return { ...event, state: 'NEW', attempts: 1, failures: 0, parkings: 0 }
}
