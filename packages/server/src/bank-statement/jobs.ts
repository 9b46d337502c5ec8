import { limits } from '@pixgate/spec'
import type { StatementPage, StatementPartner } from '../banks/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import type { Differences } from './differences.ts'
import { firstFrom, markAfter, type Window, windowAt, windowsOf } from './rules.ts'
import type { FinishedReading, Mark, StatementStore } from './store.ts'
import type { UnreadableItems } from './unreadable.ts'

interface StatementJobsOptions {
  readonly store: StatementStore
  readonly partner: StatementPartner
  readonly differences: Differences
  readonly unreadable: UnreadableItems
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
}

/** Lease after each page: longer than a page with all its processing. */
const LEASE_MS = 60_000

/** Limit of the matching per reading; the rest waits for the next one. */
const MATCH_MS = 30_000

const PAGES_AGAIN_MAX = 100

const REREAD_MAX = 500

/** Beyond this time without a readable statement, errors are logged instead of warnings. */
const BLIND_MS = 900_000

/** A reading in progress, kept in memory: after a crash the window is read again. */
interface Reading {
  readonly leaseId: string
  readonly startedAt: number
  readonly readFrom: number
  readonly mark: Mark
  readonly window: Window
  readonly cursors: Set<string>
  readonly pages: StatementPage[]
  cursor: string | null
}

/**
 * Reads the bank's statement page by page, with no transaction open during bank calls. `processNext` starts a due
 * reading or reads its next page, and returns whether more may be due now.
 * @source rules#statement.1
 */
export function createStatementJobs(options: StatementJobsOptions) {
  const { store, partner, differences, unreadable, clock } = options
  let underWay: Reading | undefined

  const isOurs = ({ leaseId }: Reading) => store.extend(leaseId, clock.now() + LEASE_MS)

  /** @returns the reading to continue, or whether another is due now */
  async function step(reading: Reading): Promise<Reading | boolean> {
    const answer = await partner.readStatement({ ...reading.window, cursor: reading.cursor })
    if (answer.kind !== 'READ') return broken(reading, answer.reason)
    const { page } = answer
    await differences.keep(newsOf(page, reading), clock.now())
    reading.pages.push({ ...page, entries: [] })
    await unreadable.report(page, reading.window)
    if (!(await isOurs(reading))) return false
    if (page.nextCursor === null) return ended(reading)
    // Detects a bank whose cursors form a cycle.
    if (reading.cursors.has(page.nextCursor)) return broken(reading, 'the same cursor twice')
    reading.cursors.add(page.nextCursor)
    reading.cursor = page.nextCursor
    return reading
  }

  async function ended(reading: Reading): Promise<boolean> {
    const { startedAt, readFrom, window } = reading
    const isOfThePast = window.to < startedAt
    await unreadable.ended(window, reading.pages)
    // Movements after a past window may be listed in later windows.
    if (!isOfThePast) {
      await readAgain(options, reading, () => isOurs(reading))
      // Before the match, which may take long.
      await differences.findGaps(startedAt, readFrom)
    }
    const waiting = await differences.match(clock.now(), matching(options, reading))
    // Past windows follow each other at once, unless an entry has to wait.
    const isMore = isOfThePast && waiting.length === 0
    return (await store.finish(reading.leaseId, finishOf(options, reading, waiting, isMore))) && isMore
  }

  /** Pages read before the failure count; only the mark stays. @source rules#statement.3, rules#trip-wire.8 */
  async function broken(reading: Reading, reason: string): Promise<boolean> {
    tellBroken(options.logger, reading, reason)
    await differences.match(clock.now(), matching(options, reading))
    await store.giveUp(reading.leaseId, reading.startedAt + limits.statementReadEveryMs)
    return false
  }

  return {
    processNext: async (): Promise<boolean> => {
      const reading = underWay ?? (await begin(options))
      underWay = undefined
      if (!reading) return false
      const next = await step(reading)
      if (typeof next === 'boolean') return next
      underWay = next
      return true
    },
  }
}

async function begin({ store, partner, clock, ids }: StatementJobsOptions): Promise<Reading | undefined> {
  const startedAt = clock.now()
  const leaseId = ids.uuid()
  const mark = await store.claim(leaseId, startedAt, startedAt + LEASE_MS)
  if (!mark) return undefined
  const readFrom = mark.readFrom ?? firstFrom(startedAt, await store.oldestOperationAt())
  if (mark.readFrom === null) await store.readFrom(leaseId, readFrom)
  if (mark.stampOffsetMs !== null) partner.clockOffset?.assume(mark.stampOffsetMs)
  const window = windowAt(startedAt, readFrom, mark.matchedUntil)
  return { leaseId, startedAt, readFrom, mark, window, cursors: new Set(), pages: [], cursor: null }
}

async function readAgain(
  { store, partner, differences, unreadable, clock }: StatementJobsOptions,
  reading: Reading,
  isOurs: () => Promise<boolean>,
): Promise<void> {
  const lacking = windowsOf(await store.toReread(reading.startedAt, REREAD_MAX))
  for (const window of [...(await unreadable.dueWindows()), ...lacking]) {
    const pages: StatementPage[] = []
    for (let cursor: string | null = null; pages.length < PAGES_AGAIN_MAX && (await isOurs()); ) {
      const answer = await partner.readStatement({ ...window, cursor })
      if (answer.kind !== 'READ') break
      await differences.keep(newsOf(answer.page, reading), clock.now())
      await unreadable.report(answer.page, window)
      pages.push({ ...answer.page, entries: [] })
      cursor = answer.page.nextCursor
      if (cursor !== null) continue
      await unreadable.ended(window, pages)
      break
    }
  }
}

/** Lists that look back beyond the first window contain older movements, which are skipped. */
function newsOf({ entries, reachesBeforeWindow }: StatementPage, { readFrom }: Reading): StatementPage['entries'] {
  return reachesBeforeWindow ? entries.filter(({ occurredAt }) => occurredAt >= readFrom) : entries
}

/** @returns whether to go on matching; extends the lease */
function matching({ store, clock }: StatementJobsOptions, { leaseId }: Reading): () => Promise<boolean> {
  const until = clock.now() + MATCH_MS
  return async () => clock.now() < until && store.extend(leaseId, clock.now() + LEASE_MS)
}

function finishOf(
  { partner }: StatementJobsOptions,
  { startedAt, mark, window }: Reading,
  waiting: readonly number[],
  isMore: boolean,
): FinishedReading {
  const matchedUntil = markAfter(window, mark.matchedUntil, waiting, startedAt)
  const dueAt = isMore ? startedAt : startedAt + limits.statementReadEveryMs
  return { matchedUntil, readAt: startedAt, dueAt, stampOffsetMs: partner.clockOffset?.offsetMs() }
}

function tellBroken(logger: Logger, { startedAt, mark, window }: Reading, reason: string): void {
  const isBlind = mark.readAt !== null && startedAt - mark.readAt >= BLIND_MS
  const facts = {
    event: 'statement.read_failed',
    reason,
    from: iso(window.from),
    to: iso(window.to),
    lastReadAt: iso(mark.readAt),
  }
  logger[isBlind ? 'error' : 'warn'](facts, 'the bank’s statement could not be read; it is read again in a minute')
}

function iso(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString()
}
