import type { StatementPage, UnreadableItem } from '../banks/port.ts'
import type { Clock } from '../platform/clock.ts'
import { sha256Hex } from '../platform/crypto.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import type { Logger } from '../platform/log.ts'
import type { Window } from './rules.ts'
import type { TripWire } from './trip-wire.ts'

interface UnreadableItemsOptions {
  readonly database: Database
  readonly report: TripWire['report']
  readonly clock: Clock
  readonly logger: Logger
}

const KIND = 'statement_unreadable'
const AGAIN_MS = 3_600_000

const ITEM_CHARS = 4_000

/** Open cases considered, and windows reread per reading. */
const OPEN_MAX = 1_000
const WINDOWS_MAX = 20

const selectOpen = statement<[limit: number], { reference: string; facts: { from: number; to: number; list: string } }>(
  'statement.unreadable',
  `SELECT reference, facts FROM "case" WHERE operation_id IS NULL AND kind = '${KIND}' AND closed_at IS NULL
    ORDER BY opened_at LIMIT $1`,
)

/** Includes closed cases: a closed item opens no new case. */
const selectKnown = statement<[references: readonly string[]], { reference: string }>(
  'statement.unreadable_known',
  `SELECT reference FROM "case" WHERE operation_id IS NULL AND kind = '${KIND}' AND reference = ANY($1)`,
)

const close = statement<[references: readonly string[], now: string]>(
  'statement.readable',
  `UPDATE "case" SET closed_at = $2
    WHERE operation_id IS NULL AND kind = '${KIND}' AND reference = ANY($1) AND closed_at IS NULL`,
)

export type UnreadableItems = ReturnType<typeof createUnreadableItems>

/**
 * Unreadable items of the bank's statement. Each opens a case with its bytes and hides no other item. Its window is
 * reread hourly until the item is readable or the case is closed.
 * @source rules#statement.12
 */
export function createUnreadableItems({ database, report, clock, logger }: UnreadableItemsOptions) {
  /** Last reread per case, by this process. */
  const readAt = new Map<string, number>()
  const open = () => database.rows(selectOpen, [OPEN_MAX])

  return {
    report: async ({ unreadable = [] }: StatementPage, { from, to }: Window): Promise<void> => {
      if (unreadable.length === 0) return
      const rows = await database.rows(selectKnown, [unreadable.map(referenceOf)])
      const known = new Set(rows.map(({ reference }) => reference))
      const fresh = unreadable.filter((item) => !known.has(referenceOf(item)))
      for (const { list, member } of fresh) {
        logger.warn({ event: 'statement.item_unreadable', list, member }, 'Unreadable item in the bank statement.')
      }
      await report(
        fresh.map((item) => {
          const { list, member, json } = item
          const facts = { rule: 'statement.12', list, member, item: json.slice(0, ITEM_CHARS).toWellFormed(), from, to }
          return { kind: KIND, reference: referenceOf(item), facts, isDanger: false }
        }),
      )
      for (const item of fresh) readAt.set(referenceOf(item), clock.now())
    },
    /** Windows due for rereading, each once an hour. */
    dueWindows: async (): Promise<readonly Window[]> => {
      const isDue = (reference: string) => clock.now() - (readAt.get(reference) ?? 0) >= AGAIN_MS
      const windows = new Map<string, Window>()
      for (const { reference, facts } of (await open()).filter((one) => isDue(one.reference))) {
        const { from, to } = facts
        const name = `${from} ${to}`
        if (!windows.has(name) && windows.size === WINDOWS_MAX) continue
        windows.set(name, { from, to })
        readAt.set(reference, clock.now())
      }
      return [...windows.values()]
    },
    /** Closes the cases of a completely read window whose items were readable. */
    ended: async ({ from, to }: Window, pages: readonly StatementPage[]): Promise<void> => {
      const lists = new Set(pages.map(({ list }) => list))
      const seen = new Set(pages.flatMap(({ unreadable = [] }) => unreadable.map(referenceOf)))
      const reachesBeforeWindow = new Set(pages.flatMap((page) => (page.reachesBeforeWindow ? [page.list] : [])))
      const readable = (await open()).filter(({ reference, facts }) => {
        const isCovered = reachesBeforeWindow.has(facts.list) || (from <= facts.from && facts.to <= to)
        return lists.has(facts.list) && isCovered && !seen.has(reference)
      })
      if (readable.length === 0) return
      await database.rows(close, [readable.map(({ reference }) => reference), instantParameter(clock.now())])
    },
  }
}

function referenceOf({ list, json }: UnreadableItem): string {
  return `${list} ${sha256Hex(json).slice(0, 32)}`
}
