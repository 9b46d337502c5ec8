import { limits } from '@pixgate/spec'
import type { BalancePartner } from '../banks/port.ts'
import type { Document } from '../engine/operation.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queries } from '../platform/db/database.ts'
import { workAsApplication } from '../platform/db/login.ts'
import { withSnapshot } from '../platform/db/snapshot.ts'
import type { Ids } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import { boundsOf, dayAfter, dayOf } from '../platform/sao-paulo.ts'
import type { EncryptionKeys } from '../platform/sealing.ts'
import { closeKeys, hashOfClose, NO_CLOSE, proofOf } from './chain.ts'
import { type Carried, type CloseContent, contentOf, lacksMore } from './content.ts'
import { readFigures } from './figures.ts'
import {
  CLOSE_DIFFERS,
  type Close,
  closedDays,
  closeOfDay,
  firstBalanceAt,
  firstEntryAt,
  insertClose,
  insertSignature,
  isBalanceKnown,
  keepBalance,
  lastClose,
  readHead,
  reservedNow,
  signaturesOf,
  statementReadUntil,
  unexplainedBefore,
  unsignedBy,
} from './store.ts'

/** Closes days that are over, and closes those anew of which more became known. */
export interface Closer {
  /**
   * Closes the first day that is over and not closed; where there is none, looks each hour whether one of the last seven has to
   * be closed anew, and signs what only the key of before has signed.
   * @returns whether more may be due right away
   * @source rules#close.1, rules#close.4, rules#close.7
   */
  processNext(): Promise<boolean>
  /** Gives up a close under way: it is made again. */
  stop(): void
}

/** What it needs. */
export interface CloserOptions {
  readonly databaseUrl: string
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly encryptionKeys: EncryptionKeys
  /** A day waits for the bank's statement and balance, where it has them. */
  readonly partner: BalancePartner
  /** Opens a case about what a close leaves unexplained, and suspends payouts and refunds where that is a danger. */
  readonly report: (differences: readonly CloseDifference[]) => Promise<void>
  /** Others pay from the account too: what it lacks may be theirs. */
  readonly isBankAccountShared: boolean
}

/** What a close leaves unexplained. */
export interface CloseDifference {
  readonly kind: typeof CLOSE_DIFFERS
  readonly reference: string
  readonly facts: Document & { readonly rule: string }
  readonly isDanger: boolean
}

/** How often a worker that has nothing to do looks. */
export const CLOSE_EVERY_MS = 60_000

const LOOK_BACK_EVERY_MS = 3_600_000

/** So many days are looked at again. */
const LOOK_BACK_DAYS = 7

/** Longest wait for a comparable balance: after the end of the day or, for a missed day, after the first balance since. */
const BALANCE_WAIT_MS = 3_600_000

const SIGNED_AT_ONCE = 100

/** Makes it. */
export function createCloser(options: CloserOptions): Closer {
  const { database, clock } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const readBalance = createBalanceReader(options)
  let lookedBackAt = Number.NEGATIVE_INFINITY

  const make = (day: string) => makeClose(options, day, signal)

  async function lookBack(): Promise<boolean> {
    if (clock.now() - lookedBackAt < LOOK_BACK_EVERY_MS) return false
    for (const day of (await closedDays(database, LOOK_BACK_DAYS)).reverse()) await make(day)
    lookedBackAt = clock.now()
    return false
  }

  async function step(): Promise<boolean> {
    const day = await nextDay(options, readBalance)
    if (day === undefined) {
      await signAnew(options)
      return lookBack()
    }
    // What came late for a day before is in its opening balance.
    lookedBackAt = Number.NEGATIVE_INFINITY
    return make(day)
  }

  return {
    processNext: async () => {
      try {
        return await step()
      } catch (error) {
        if (signal.aborted) return false
        throw error
      }
    },
    stop: () => stopping.abort(),
  }
}

/** Reads and stores the bank's balance, at most once a minute. Without a statement there is nothing to compare it with. */
function createBalanceReader({ database, clock, partner }: CloserOptions): () => Promise<void> {
  let readAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (!hasBalance(partner) || clock.now() - readAt < CLOSE_EVERY_MS) return
    readAt = clock.now()
    const reservedCents = await reservedNow(database)
    const answer = await partner.readBalance()
    if (answer.kind === 'READ') await keepBalance(database, answer.balance, reservedCents, clock.now())
  }
}

function hasBalance({ capabilities }: BalancePartner): boolean {
  return capabilities.has('statement') && capabilities.has('balance')
}

/** Whether a day still waits for a balance. @param dayEnd epoch milliseconds @source rules#close.4 */
async function waitsForBalance({ partner, database, clock }: CloserOptions, dayEnd: number): Promise<boolean> {
  if (!hasBalance(partner)) return false
  return clock.now() < ((await firstBalanceAt(database, dayEnd)) ?? dayEnd) + BALANCE_WAIT_MS
}

/** The first day that is not closed, where it is over and everything of it is known. @source rules#close.1, rules#close.4 */
async function nextDay(options: CloserOptions, readBalance: () => Promise<void>): Promise<string | undefined> {
  const { database, clock, partner } = options
  const [last] = await closedDays(database, 1)
  const firstAt = last === undefined ? await firstEntryAt(database) : undefined
  if (last === undefined && firstAt === undefined) return undefined
  const day = last === undefined ? dayOf(firstAt ?? 0) : dayAfter(last)
  const { to } = boundsOf(day)
  if (clock.now() < to) return undefined
  await readBalance()
  const knownFrom = to + limits.statementClockSkewMs
  if (clock.now() < knownFrom) return undefined
  if (!partner.capabilities.has('statement')) return day
  const readUntil = await statementReadUntil(database)
  if (readUntil === undefined || readUntil < knownFrom) return undefined
  const isReady = (await isBalanceKnown(database, to)) || !(await waitsForBalance(options, to))
  return isReady ? day : undefined
}

/** @returns whether a close was made: not where the day is closed as it is, nor where another process was first */
async function makeClose(options: CloserOptions, day: string, signal: AbortSignal): Promise<boolean> {
  const { databaseUrl, database, report, ids, logger, encryptionKeys } = options
  const made = await withSnapshot({ url: databaseUrl, name: 'pixgate close', signal }, async (queries) => {
    await workAsApplication(queries)
    return prepared(queries, day, options.clock.now())
  })
  if (made === undefined) return false
  const { close, content, carried } = made
  // Orders under way may explain the difference of every balance so far.
  if (content.bank === null && (await waitsForBalance(options, boundsOf(day).to))) return false
  // First: whoever dies in between opens it again, under the same reference.
  if (content.caseReference !== null) {
    const isDanger =
      !options.isBankAccountShared && lacksMore(content.unexplainedCents, carried, options.partner.unlistedFees)
    await report([{ kind: CLOSE_DIFFERS, reference: content.caseReference, facts: factsOf(content), isDanger }])
  }
  const [key] = closeKeys(encryptionKeys)
  const signature = { keyId: key.id, mac: key.sign(close.hash) }
  if (!(await insertClose(database, { close, content, signature, auditId: ids.uuid() }))) return false
  const level = content.status === 'DIFFERS' ? 'warn' : 'info'
  const { status, unexplainedCents, changed } = content
  logger[level]({ day, version: close.version, status, unexplainedCents, changed }, 'the day was closed')
  return true
}

/** The close of a day as it has to be now; `undefined` where it is closed so. */
async function prepared(
  queries: Queries,
  day: string,
  nowMs: number,
): Promise<{ close: Close; content: CloseContent; carried: Carried } | undefined> {
  const bounds = boundsOf(day)
  const [last, same, audit] = [await lastClose(queries), await closeOfDay(queries, day), await readHead(queries)]
  if (audit === undefined) throw new Error('the head of the audit trail is missing')
  const before = {
    same: same && { version: same.version, content: JSON.parse(same.content) as CloseContent },
    carried: await unexplainedBefore(queries, bounds, day),
  }
  const content = contentOf(day, bounds, await readFigures(queries, bounds), before)
  if (same !== undefined && content.changed.length === 0) return undefined
  const close = {
    seq: (last?.seq ?? 0n) + 1n,
    day,
    version: (same?.version ?? 0) + 1,
    supersedes: same?.seq ?? null,
    previousHash: last?.hash ?? NO_CLOSE,
    audit,
    madeAt: nowMs,
    content: JSON.stringify(content),
  }
  return { close: { ...close, hash: hashOfClose(close) }, content, carried: before.carried }
}

/** What its case tells. */
function factsOf({ day, unexplainedCents, bank, booksCents, differenceCents }: CloseContent) {
  return {
    rule: 'close.3',
    reason: 'at the end of the day the bank had another balance than our books, and no open case explains it',
    day,
    valueCents: unexplainedCents,
    differenceCents,
    bankCents: bank?.closingCents ?? null,
    booksCents,
  }
}

/** Signs with the present key what the key of before has signed. @source rules#close.6 */
async function signAnew({ database, clock, logger, encryptionKeys }: CloserOptions): Promise<void> {
  const [current, ...before] = closeKeys(encryptionKeys)
  if (before.length === 0) return
  let signed = 0
  for (let after = 0n; ; ) {
    const closes = await unsignedBy(database, current.id, after, SIGNED_AT_ONCE)
    const signatures = await signaturesOf(database, closes)
    for (const close of closes) {
      // Nothing is signed anew that was changed since the key of before signed it.
      const isGenuine = proofOf(close.hash, signatures.get(close.seq) ?? [], before) === 'SIGNED'
      if (!isGenuine || !hashOfClose(close).equals(close.hash)) continue
      await insertSignature(database, close, { keyId: current.id, mac: current.sign(close.hash) }, clock.now())
      signed += 1
    }
    const last = closes.at(-1)
    if (closes.length < SIGNED_AT_ONCE || last === undefined) break
    after = last.seq
  }
  if (signed > 0)
    logger.info({ closes: signed }, 'the closes that the key of before signed are signed with the present one')
}
