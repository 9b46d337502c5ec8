import { setImmediate as turn } from 'node:timers/promises'
import { type FieldError, IN_A_FILE, type LooseCase, limits, Refusal } from '@pixgate/spec'
import pLimit from 'p-limit'
import type { Operator } from '../../audit/operator.ts'
import type { StatementEntry } from '../../banks/port.ts'
import type { Clock } from '../../platform/clock.ts'
import { sha256 } from '../../platform/crypto.ts'
import type { Ids } from '../../platform/ids.ts'
import { type LiveRequest, refuseLapsed } from '../../platform/live-request.ts'
import { boundsOf, instantOf, isDay } from '../../platform/sao-paulo.ts'
import type { EntryStore } from '../desk/store.ts'
import { bookedFacts, contradictedBy } from '../differences.ts'
import { MISSING, type Settled, UNEXPLAINED } from '../entries/store.ts'
import type { Receivers } from '../receivers.ts'
import { judge, keyOf, type OpenEntry, type Verdict } from '../rules.ts'
import { withTariffNames } from '../tariff-names.ts'
import type { Difference, TripWire } from '../trip-wire/wire.ts'
import { BALANCES, type ContradictingFile } from './balances/store.ts'
import { balancesWithin } from './balances/within.ts'
import type { FileDifference } from './bound/bound.ts'
import { createFileReports, type FileReports } from './bound/reports.ts'
import type { ImportGap } from './bound/store.ts'
import { FAULTS_MAX, readStatementFile, type StatementFile } from './file.ts'
import type { Contradiction, ImportRow, ImportStore } from './store.ts'

/**
 * Statements of the bank that operators bring in files. They are judged by the same rules as the bank's own, and are not its word:
 * no operation takes anything from them. The bank is asked; what it does not confirm is a case.
 * @source rules#import.3
 */
export interface StatementImports {
  /**
   * Keeps a file and matches its rows, as far as there is time; the rest is matched later.
   * @throws validation_error (400) every fault with its line; nothing is kept
   * @source rules#import.1, rules#import.4
   */
  bring(bytes: Buffer, operator: Operator, live: LiveRequest): Promise<ImportRow>
  /** Judges the rows that are not settled. @returns false: there is nothing more to do for now @source rules#import.3 */
  processNext(): Promise<boolean>
}

/** What they need. */
export interface ImportsOptions {
  readonly store: ImportStore
  /** What operators decided of movements that no statement had. */
  readonly decided: Pick<EntryStore, 'contradicted'>
  readonly receivers: Receivers
  readonly tripWire: TripWire
  readonly clock: Clock
  readonly ids: Ids
}

/** How often rows that are not settled are judged again. */
export const MATCH_EVERY_MS = 60_000

/** As long as a request waits for it. */
const MATCH_MS = 10_000

const BATCH = 500
const CONCURRENT = 20

const DIFFERS = 'statement_differs'

/** Makes them. */
export function createStatementImports(options: ImportsOptions): StatementImports {
  const { store, clock, ids } = options
  const reporting = createFileReports(options)

  async function keep(file: StatementFile, hash: Buffer, operator: Operator): Promise<void> {
    const [since, until] = [boundsOf(file.firstDay).from, boundsOf(file.lastDay).to]
    const entries = withTariffNames(file.entries, await store.keptTariffs(file.entries))
    const kept = { ...file, entries, balances: balancesWithin(file), id: ids.uuid(), sha256: hash, since, until }
    const contradicting = await store.keep(kept, operator, ids.uuid(), clock.now())
    await reporting.report(contradicting.map((found) => contradiction(found, 'another imported statement')))
    await store.noteGaps(kept, clock.now())
  }

  return {
    bring: async (bytes, operator, live) => {
      const hash = sha256(bytes)
      const known = await store.find(hash)
      if (known) return known
      const file = await usable(bytes, clock.now())
      refuseLapsed(live)
      await keep(file, hash, operator)
      await match(options, reporting, MATCH_MS)
      await reporting.reportRests()
      const row = await store.find(hash)
      if (!row) throw new Error('the import that was just kept is missing')
      return row
    },
    processNext: async () => {
      await match(options, reporting, MATCH_EVERY_MS)
      await reporting.reportRests()
      return false
    },
  }
}

/** @throws validation_error (400) */
async function usable(bytes: Buffer, nowMs: number): Promise<StatementFile> {
  const file = await readStatementFile(bytes, { instantOf, isDay, pause: () => turn() })
  if ('faults' in file) throw refusal(file.faults)
  if (boundsOf(file.lastDay).to > nowMs) {
    throw refusal([{ field: 'lines', code: 'invalid', message: 'the last day of the file is not over' }])
  }
  return file
}

function refusal(faults: readonly FieldError[]): Refusal {
  const [first] = faults
  const inAll = faults.length < FAULTS_MAX ? 'in all' : 'by there; more were not looked for'
  const more = faults.length > 1 ? `; ${faults.length} faults ${inAll}` : ''
  const message = `nothing was imported: ${first?.message ?? 'the file has no rows'}${more}`
  return new Refusal('validation_error', { message, fields: faults })
}

async function match(
  { store, decided, receivers, tripWire, clock }: ImportsOptions,
  reporting: FileReports,
  mostMs: number,
): Promise<void> {
  const until = clock.now() + mostMs
  await store.settleConfirmed(clock.now())
  await store.fillGaps(clock.now())
  await tripWire.report((await decided.contradicted()).map(contradictedBy))
  await tripWire.report((await store.contradictingFiles()).map(otherBalances))
  const denied = await store.denied(BATCH)
  await reporting.report(denied.map((found) => contradiction(found, 'the bank’s own statement')))
  await store.settle(denied.map(differing), clock.now())
  const gaps = await reporting.report((await store.gapsToReport()).map(missing))
  await store.noteGapsReported([...gaps], clock.now())
  for (let after: OpenEntry | undefined; clock.now() <= until; ) {
    const entries = await store.open(after, BATCH)
    await matchBatch({ store, receivers, reporting }, entries, clock.now())
    after = entries.at(-1)
    if (entries.length < BATCH) return
  }
}

async function matchBatch(
  { store, receivers, reporting }: Pick<ImportsOptions, 'store' | 'receivers'> & { readonly reporting: FileReports },
  entries: readonly OpenEntry[],
  nowMs: number,
): Promise<void> {
  const verdicts = withOwnAdjustments(entries).map((entry) => ({ entry, verdict: judgeImported(entry, nowMs) }))
  const asked = verdicts.flatMap(({ entry, verdict }) =>
    verdict.is === 'ASK' ? [{ entry, operationId: verdict.operationId }] : [],
  )
  const limit = pLimit(CONCURRENT)
  await Promise.all(asked.map(({ entry, operationId }) => limit(() => receivers[entry.kind].ask(operationId))))
  await store.noteAsked(
    asked.map(({ entry }) => entry),
    nowMs,
  )
  const references = await reporting.report(verdicts.flatMap(({ entry, verdict }) => differenceOf(entry, verdict)))
  const isReported = (entry: OpenEntry) => references.has(inAFile(entry))
  await store.noteReported(entries.filter(isReported), nowMs)
  await store.settle(
    // What differs and has no case yet is looked at again.
    verdicts.flatMap(({ entry, verdict }) =>
      verdict.is !== 'DIFFERS' || isReported(entry) ? settledBy(entry, verdict) : [],
    ),
    nowMs,
  )
}

/** The same rules as for the bank's own statement; a tariff that is not booked is not booked by a file. @source rules#import.3 */
function judgeImported(entry: OpenEntry, nowMs: number): Verdict {
  const verdict = judge(entry, nowMs)
  if (verdict.is !== 'TARIFF') return verdict
  const isOverdue = entry.reportedAt === null && nowMs - entry.seenAt >= limits.statementDifferenceMs
  return { is: 'UNEXPLAINED', reason: 'our books do not have this tariff, and a file books none', isOverdue }
}

/** An adjustment explains one row: of several that it could explain, the first one. */
function withOwnAdjustments(entries: readonly OpenEntry[]): OpenEntry[] {
  const explaining = new Set<string>()
  return entries.map((entry) => {
    if (entry.adjustmentId === null || !explaining.has(entry.adjustmentId)) {
      if (entry.adjustmentId !== null) explaining.add(entry.adjustmentId)
      return entry
    }
    return { ...entry, adjustmentId: null }
  })
}

const UNCONFIRMED = 'only an imported statement has it; the bank did not confirm it when it was asked'

function differenceOf(entry: OpenEntry, verdict: Verdict): FileDifference[] {
  switch (verdict.is) {
    case 'DIFFERS':
      return [difference(DIFFERS, entry, verdict.reason, verdict.operationId)]
    case 'UNEXPLAINED':
      return verdict.isOverdue ? [difference(UNEXPLAINED, entry, verdict.reason, null)] : []
    case 'HAND_OVER':
      return verdict.isOverdue ? [difference(UNEXPLAINED, entry, UNCONFIRMED, verdict.operationId)] : []
    default:
      return []
  }
}

/** No danger in itself: whoever forges a file shall not stop payouts by it either. */
function difference(kind: LooseCase, entry: OpenEntry, reason: string, operationId: string | null): FileDifference {
  const { kind: moved, direction, movementId, endToEndId, reference, valueCents, occurredAt, importId = '' } = entry
  const told = {
    entry: moved,
    direction,
    movementId,
    endToEndId,
    reference,
    valueCents: Number(valueCents),
    occurredAt,
  }
  const facts = { reason, operationId, source: 'import', importId, ...told, ...bookedFacts(entry) }
  return { kind, reference: inAFile(entry), facts, isDanger: false, importId }
}

/** What a case is known by that a file tells of. @source rules#import.6 */
function inAFile(entry: Pick<StatementEntry, 'kind' | 'movementId' | 'valueCents'>): string {
  return `${keyOf(entry)}${IN_A_FILE}${entry.valueCents}`
}

function contradiction(found: Contradiction, other: string): FileDifference {
  const {
    kind,
    id,
    direction,
    value_cents,
    other_cents,
    end_to_end_id,
    other_end_to_end_id,
    import_id: importId,
  } = found
  const before = { valueCents: Number(other_cents), endToEndId: other_end_to_end_id }
  const told = { entry: kind, direction, movementId: id, endToEndId: end_to_end_id, valueCents: Number(value_cents) }
  const facts = { reason: `${other} has it otherwise`, source: 'import', importId, ...told, before }
  const reference = inAFile({ kind, movementId: id, valueCents: value_cents })
  return { kind: DIFFERS, reference, facts, isDanger: false, importId }
}

/** Of files that tell different balances none counts. @source rules#import.5 */
function otherBalances({ id, first_day: firstDay, last_day: lastDay, days }: ContradictingFile): Difference {
  const reason = 'another imported statement has other balances'
  const facts = { reason, source: 'import', importId: id, firstDay, lastDay, days }
  return { kind: DIFFERS, reference: `${BALANCES}${id}`, facts, isDanger: false }
}

function missing({
  direction,
  id,
  operation_id: operationId,
  value_cents,
  import_id: importId,
}: ImportGap): FileDifference {
  const facts = { direction, movementId: id, operationId, valueCents: Number(value_cents), source: 'import', importId }
  const reference = `${direction} ${id}${IN_A_FILE}${value_cents}`
  return { kind: MISSING, reference, facts, isDanger: false, importId }
}

function differing({ kind, id, direction }: Contradiction): Settled {
  return { entry: { kind, movementId: id, direction }, outcome: 'DIFFERS', operationId: null }
}

function settledBy(entry: StatementEntry, verdict: Verdict): Settled[] {
  switch (verdict.is) {
    case 'MATCHED':
    case 'DIFFERS':
    case 'KEPT':
      return [{ entry, outcome: verdict.is, operationId: verdict.operationId }]
    default:
      return []
  }
}
