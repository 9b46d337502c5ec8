import type { Clock } from '../platform/clock.ts'
import { sha256 } from '../platform/crypto.ts'
import type { Ids } from '../platform/ids.ts'
import { createBatcher } from '../platform/jobs/batcher.ts'
import type { Receivers } from './receivers.ts'
import { contentOf, type InboxEndpoint, type Naming, readBody, referencesOf } from './rules.ts'
import type { InboxRow, InboxStore, NewInboxRow } from './store.ts'

/** Taking events in: committed before they are answered. */
export interface InboxCommands {
  /**
   * Stores an authentic body. When this resolves it is committed, or was before.
   * @throws DatabaseUnavailable · QueueFull the partner must send it again
   * @source rules#partner-inbox.3, failure-modes#EV-1, failure-modes#EV-2, failure-modes#EV-8, failure-modes#EV-8b
   */
  accept(endpoint: InboxEndpoint, body: Buffer): Promise<void>
  /**
   * Commits «ask the partner now» on the operation that an untimely event means, so that its news is not lost.
   * @source rules#partner-inbox.2, failure-modes#EV-9
   */
  askInstead(body: Buffer): Promise<void>
}

/** A stored event is this process's to apply for so long; then anybody's. */
export const LEASE_MS = 60_000

/** An event that contradicts a stored one is looked at when that one must have been dealt with. */
const CONFLICT_DELAY_MS = 1_000

/** What the commands need. */
export interface InboxCommandsOptions {
  readonly store: InboxStore
  readonly receivers: Receivers
  readonly clock: Clock
  readonly ids: Ids
  /** Called with what was stored new, to be applied at once. */
  readonly onStored: (rows: readonly InboxRow[]) => void
}

/** Makes the commands. */
export function createInboxCommands(options: InboxCommandsOptions): InboxCommands {
  const { store, receivers, clock, ids, onStored } = options

  const batcher = createBatcher<NewInboxRow, void>(
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

  return {
    accept: (endpoint, body) => {
      const reading = readBody(endpoint, body)
      return batcher.submit({
        id: ids.uuid(),
        endpoint,
        dedupeKey: reading.dedupeKey,
        body,
        bodyHash: sha256('event' in reading ? contentOf(reading.event) : body),
      })
    },
    askInstead: async (body) => {
      const naming = namingIn(body)
      if (!naming) return
      const receiver = receivers[naming.event]
      const [meaning] = await receiver.match([referencesOf(naming)])
      for (const id of meaning?.among ?? []) await receiver.ask(id)
    },
  }
}

/** What the event in a body names, whichever endpoint it was sent to. */
function namingIn(body: Buffer): Naming | undefined {
  const reading = readBody('cash-in', body)
  return 'event' in reading ? reading.event : reading.about
}

function asStored({ id, endpoint, dedupeKey, body, bodyHash }: NewInboxRow): InboxRow {
  return { id, endpoint, dedupeKey, body, bodyHash, state: 'NEW', attempts: 1, failures: 0, parkings: 0 }
}
