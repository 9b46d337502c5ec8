import type { StatementEntry } from '../../banks/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Receivers } from '../receivers.ts'
import { SUBJECT_KINDS } from '../rules.ts'
import type { EntryKey } from '../store.ts'
import type { EntryStore } from './store.ts'

/** What an operator orders of entries of the statement that the books do not have. */
export interface EntryDesk {
  /** Whether an operation is of the kind that takes entries of this kind. */
  accepts(entryKind: string, operationId: string): Promise<boolean>
  /**
   * Hands an entry over to an operation, which books it as something that the bank said; its case closes where it did.
   * @returns `APPLIED`, or in words why not
   * @source rules#desk.53
   */
  handOver(entry: Named<EntryKey>, operationId: string): Promise<string>
}

/** An entry by words that come from outside. */
type Named<Key extends EntryKey> = Omit<Key, 'kind'> & { readonly kind: string }

/** What the desk works with. */
export interface EntryDeskOptions {
  readonly store: EntryStore
  readonly receivers: Receivers
  readonly clock: Clock
}

/** Makes the desk. */
export function createEntryDesk({ store, receivers, clock }: EntryDeskOptions): EntryDesk {
  return {
    accepts: async (kind, operationId) =>
      isEntryKind(kind) && (await store.kindOf(operationId)) === SUBJECT_KINDS[kind],
    handOver: async ({ kind, ...key }, operationId) => {
      const entry = isEntryKind(kind) ? await store.entry({ kind, ...key }) : undefined
      if (!entry) return 'the statement has no such entry'
      // Of two operations that are named at the same time one gets it.
      if (!(await store.claim(entry, operationId))) return 'it is handed over to another operation'
      const result = await receivers[entry.kind].take(operationId, entry)
      const isBooked = await store.settleBooked(entry, clock.now())
      if (!isBooked) await store.giveUp(entry, operationId)
      return isBooked ? 'APPLIED' : result === 'APPLIED' ? 'it books no money of it yet' : result
    },
  }
}

function isEntryKind(kind: string): kind is StatementEntry['kind'] {
  return kind !== 'TARIFF' && Object.hasOwn(SUBJECT_KINDS, kind)
}
