import type { AccountCode } from '@pixgate/spec'
import type { DatabaseClock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import { Cache } from './cache.ts'
import { Draft } from './draft.ts'
import { Loader } from './loader.ts'
import type { Case, Command, Notification } from './operation.ts'
import type { Entry } from './postings.ts'
import { createReader } from './reader.ts'

/** What a command would change as things are. Nothing is written. */
export interface Rehearsal {
  /** Its postings, with those that repay debts. */
  readonly entries: readonly Entry[]
  readonly moves: readonly { readonly id: string; readonly from: string | null; readonly to: string }[]
  readonly notifications: readonly Notification[]
  readonly opens: readonly Case[]
  /** The ids of the cases that close. */
  readonly closes: readonly string[]
}

/** Decides a command on what the database has now, and says what would be written. @throws Refusal what it refuses */
export type Rehearse = (command: Command<unknown>) => Promise<Rehearsal>

/** @source rules#desk.34 */
export function createRehearsal(options: {
  readonly database: Database
  readonly clock: DatabaseClock
  readonly ids: Ids
}): Rehearse {
  const { database, clock, ids } = options
  return async (command) => {
    const loader = new Loader(clock, createReader(database), new Cache(1))
    const loaded = await loader.loadAnew([command])
    const now = clock.now()
    const draft = new Draft(loaded, now, ids)
    draft.add(command, command.decide(draft, now))
    return rehearsalOf(draft)
  }
}

function rehearsalOf({ accountChanges, moves, notifications, cases }: Draft): Rehearsal {
  return {
    entries: [...accountChanges.values()].flatMap(({ entries }) => entries),
    moves: moves.map(({ before, after }) => ({ id: after.id, from: before?.status ?? null, to: after.status })),
    notifications,
    opens: cases.opened.filter(({ isClosed }) => !isClosed),
    closes: cases.closedIds,
  }
}

/** What postings do to each account, all of them together, centavos. */
export function changesOf(entries: readonly Entry[]): Map<AccountCode, bigint> {
  const changes = new Map<AccountCode, bigint>()
  for (const { account, amountCents } of entries) changes.set(account, (changes.get(account) ?? 0n) + amountCents)
  return changes
}
