import { Refusal } from '@pixgate/spec'
import type { Inbound, Naming } from '../banks/inbound.ts'
import type { Clock } from '../platform/clock.ts'
import { sha256 } from '../platform/crypto.ts'
import type { BoundEndpoint } from '../platform/http/endpoint-route.ts'
import type { Authenticators, Caller } from '../platform/http/handler.ts'
import type { Ids } from '../platform/ids.ts'
import { createBatcher } from '../platform/jobs/batcher.ts'
import type { InboxReports } from './jobs.ts'
import type { Receivers } from './receivers.ts'
import { dedupeKeyOf, namingOf } from './rules.ts'
import type { Callback, InboxEvent, InboxStore } from './store.ts'

/** Lease of a stored event; afterwards any process may apply it. */
export const LEASE_MS = 60_000

/**
 * Age at which a stored event that the bank repeats is applied at once: the process that stored it may have lost the answer
 * of the database, and does not know that it has the event.
 */
const REPEATED_AFTER_MS = 5_000

/** Delay of an event that contradicts another, until that one has been processed. */
const CONFLICT_DELAY_MS = 1_000

const BEGUN = { state: 'NEW', failures: 0, parkings: 0, attributedTo: null } as const

export interface InboxCommandsOptions {
  readonly store: InboxStore
  readonly inbound: Pick<Inbound, 'parse' | 'unread'>
  readonly receivers: Receivers
  readonly clock: Clock
  readonly ids: Ids
  readonly reports: Pick<InboxReports, 'contradicting' | 'unreadPart'>
  readonly onStored: (events: readonly InboxEvent[]) => void
}

export type InboxCommands = ReturnType<typeof createInboxCommands>

export function createInboxCommands(options: InboxCommandsOptions) {
  const { store, inbound, receivers, clock, ids, reports, onStored } = options

  const batcher = createBatcher<readonly InboxEvent[], void>(
    async (callbacks) => {
      const events = callbacks.flat()
      const now = clock.now()
      const fresh = await store.insert(events, now, now + LEASE_MS)
      const known = new Set(fresh)
      const repeated = events.filter((event) => !known.has(event))
      if (repeated.length > 0) await keepContradictions(repeated, now)
      onStored(fresh)
      return callbacks.map(() => ({ result: undefined }))
    },
    { batchMax: 256, queueMax: 5_000 },
  )

  /**
   * A duplicate with the same content is ignored; other content is stored as a contradiction.
   * @source rules#partner-inbox.7
   */
  async function keepContradictions(repeated: readonly InboxEvent[], now: number): Promise<void> {
    const keys = repeated.map(({ dedupeKey }) => dedupeKey)
    const hashes = await store.hashes(keys, now, now + LEASE_MS - REPEATED_AFTER_MS)
    const contradicting = repeated.filter(({ dedupeKey, contentHash }) => !hashes.get(dedupeKey)?.equals(contentHash))
    if (contradicting.length > 0) {
      await store.insertConflicts(contradicting, now, now + CONFLICT_DELAY_MS)
      for (const event of contradicting) reports.contradicting(event)
    }
    // Nothing may have been written here, and after a 200 the bank never sends the event again.
    await store.untilReplicated()
  }

  return {
    /**
     * Stores the events of a callback. Resolves once they are committed, now or earlier.
     * @throws DatabaseUnavailable · QueueFull the bank must send it again
     * @source rules#partner-inbox.3, rules#partner-inbox.16, failure-modes#EV-1, failure-modes#EV-2
     * @source failure-modes#EV-8, failure-modes#EV-8b, failure-modes#EV-48
     */
    accept: async (given: Omit<Callback, 'id'>): Promise<void> => {
      const callback = { ...given, id: ids.uuid() }
      const events = inbound.parse(given.endpoint, given.body).map((event, ordinal): InboxEvent => {
        const known = { dedupeKey: dedupeKeyOf(callback, event), contentHash: sha256(event.content) }
        return { callback, ordinal, ...known, event, ...BEGUN }
      })
      const unread = inbound.unread?.(given.body)
      if (unread !== undefined) reports.unreadPart(given.endpoint, unread)
      if (events.length > 0) await batcher.submit(events)
    },
    /**
     * Requests a query of the operations that a stale callback names, so that its news is not lost.
     * @source rules#partner-inbox.2, failure-modes#EV-9
     */
    queryInstead: async (route: string, body: Buffer): Promise<void> => {
      for (const naming of inbound.parse(route, body).map(namingOf)) if (naming) await requestQueries(receivers, naming)
    },
  }
}

async function requestQueries(receivers: Receivers, { subject, references }: Naming): Promise<void> {
  const receiver = receivers[subject]
  const [meaning] = await receiver.match([references])
  for (const id of meaning?.among ?? []) await receiver.ask(id)
}

const BANK: Caller = { credential: 'partner', id: 'partner' }
const ANYBODY: Caller = { credential: 'partner', id: 'unproven partner', isStranger: true }

/**
 * Authenticates the bank by the raw bytes, before anything is parsed or stored. An authentic callback outside its time
 * window is refused but triggers a query. Unproven callbacks are accepted only from banks without proofs, and only
 * trigger queries.
 * @throws unauthorized (401), the same in all cases
 * @source rules#partner-inbox.1, rules#partner-inbox.2, rules#partner-inbox.15
 */
export function createBankAuthenticator(
  { routes, authenticate }: Pick<Inbound, 'routes' | 'authenticate'>,
  clock: Clock,
  reports: Pick<InboxReports, 'callback'>,
  onStale: (route: string, body: Buffer) => Promise<void>,
): Authenticators['partner'] {
  return async ({ endpoint, headers, rawBody: body, remoteAddress, search }) => {
    const judged = authenticate({ headers, body, remoteAddress, search, nowMs: clock.now() })
    const judgement = typeof judged === 'string' ? { origin: judged } : judged
    const { origin } = judgement
    reports.callback(endpoint.path, judgement)
    if (origin === 'proven') return BANK
    if (origin === 'unproven') return ANYBODY
    if (origin === 'stale') {
      const route = routes.find((one) => one.endpoint === endpoint)
      if (route) await onStale(route.name, body)
    }
    throw new Refusal('unauthorized')
  }
}

/** Binds the bank's endpoints: store, then answer; everything accepted gets 200. */
export function createInboxRoutes({ routes }: Pick<Inbound, 'routes'>, { accept }: InboxCommands): BoundEndpoint[] {
  return routes.map(({ name, endpoint, acknowledgement }) => ({
    endpoint,
    handle: async ({ context }) => {
      await accept({ endpoint: name, body: context.rawBody, isProven: context.caller.id === BANK.id })
      return acknowledgement
    },
  }))
}
