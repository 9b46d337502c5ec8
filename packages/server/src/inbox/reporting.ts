import type { Judgement, Origin } from '../banks/inbound.ts'
import type { CallbackOrigin, EventOutcome } from '../health/index.ts'
import type { Logger } from '../platform/log.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../platform/runtime.ts'
import type { OnPreviousSecret } from '../platform/secrets.ts'
import type { InboxEvent, InboxResult } from './store.ts'

/** Is told of what the bank sends. Throws nothing. */
export interface InboxObserver {
  /** Who a callback came from, as far as it was proven. */
  onCallback(origin: CallbackOrigin): void
  /** What became of an event, for now. */
  onEvent(outcome: EventOutcome): void
  /** A previous secret proved a callback, by the variable that it stands in. */
  onPreviousSecret?: OnPreviousSecret
}

/** Reports of the inbox, to the log and to whoever counts. */
export interface InboxReports {
  /** @param path where it came to, as declared */
  callback(path: string, judgement: Exclude<Judgement, Origin> | { readonly origin: Origin }): void
  /** A callback did not arrive whole, or was too large to be read: nobody knows what it was. */
  unread(path: string, reason: string): void
  /** A part of a callback that was taken could not be read, and is not kept: the bank's statement has it. */
  unreadPart(route: string, reason: string): void
  /** An event that contradicts one under the same key was stored. */
  contradicting(event: Pick<InboxEvent, 'callback' | 'ordinal'>): void
  /** What became of an event was noted. */
  marked(result: InboxResult): void
}

/** Makes the reports. @source rules#logs.3, rules#partner-inbox.13 */
export function createInboxReports(
  logger: Logger,
  observer?: InboxObserver,
  heartbeat: Heartbeat = createHeartbeat(),
): InboxReports {
  return {
    callback: (path, judgement) => {
      const { origin } = judgement
      observer?.onCallback(origin)
      if ('previousSecret' in judgement) observer?.onPreviousSecret?.(judgement.previousSecret)
      const sentence = REFUSALS[origin]
      if (sentence === undefined) return
      const reason = 'reason' in judgement ? judgement.reason : undefined
      heartbeat.report(`${path} ${origin} ${reason}`, (more) =>
        logger.warn({ path, ...judgement }, sentence + andMore(more)),
      )
    },
    unread: (path, reason) => {
      observer?.onCallback('unreadable')
      heartbeat.report(`${path} unreadable ${reason}`, (more) =>
        logger.warn({ path, origin: 'unreadable', reason }, UNREADABLE + andMore(more)),
      )
    },
    unreadPart: (route, reason) => {
      observer?.onCallback('unreadable')
      heartbeat.report(`${route} unread ${reason}`, (more) =>
        logger.warn(
          { event: 'callback.unreadable', route, reason },
          `part of a callback cannot be read${andMore(more)}`,
        ),
      )
    },
    contradicting: ({ callback, ordinal }) => {
      observer?.onEvent('contradicting')
      logger.warn(
        { inboxId: callback.id, ordinal },
        'an event of the bank contradicts one that was stored before: it is kept, and looked at after that one',
      )
    },
    marked: (result) => {
      const outcome = outcomeOf(result)
      observer?.onEvent(outcome)
      const { inboxId, ordinal, operationId, dueAt } = result
      const event = { inboxId, ordinal, reason: result.outcome, operationId }
      if (outcome === 'quarantined') {
        logger.error(event, 'an event of the bank was put in quarantine: it is applied to nothing, and a case is open')
      }
      if (outcome === 'given_up') {
        logger.error(event, 'an event of the bank still matches nothing: it is not tried again, and a case is open')
      }
      if (outcome === 'parked') {
        const next = dueAt === null ? undefined : new Date(dueAt).toISOString()
        logger.warn({ ...event, nextAttemptAt: next }, 'an event of the bank is parked and matched again later')
      }
    },
  }
}

/** Callbacks that were answered 401. */
const REFUSALS: Readonly<Partial<Record<Origin, string>>> = {
  refused:
    'a callback was refused, as nothing proves that the bank sent it; if it did, check the secret that is shared with it',
  stale: 'a signed event of the bank is out of its time window, and was refused: the bank is asked instead',
}

const UNREADABLE = 'a callback could not be read and was refused; if the bank sent it, it has to send it again'

/** What an event has come to, by the outcome that is kept of it; any other is the reason of a quarantine. */
const ENDED: ReadonlyMap<string, EventOutcome> = new Map([
  ['APPLIED', 'applied'],
  ['IGNORED', 'ignored'],
  ['IN_PROGRESS', 'ignored'],
  ['KNOWN', 'ignored'],
  ['ASKED', 'queried'],
  ['UNPROVEN', 'unproven'],
  ['CASE_OPENED', 'given_up'],
])

/** What contradicts another event keeps its state, whatever becomes of it. */
function outcomeOf({ outcome, dueAt }: InboxResult): EventOutcome {
  if (outcome === 'WAITING') return 'retried'
  return dueAt === null ? (ENDED.get(outcome) ?? 'quarantined') : 'parked'
}
