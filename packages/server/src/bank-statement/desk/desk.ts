import type { StatementEntry } from '../../banks/port.ts'
import type { Command } from '../../engine/operation.ts'
import type { EntryKey } from '../entries/store.ts'
import type { Accepted, Receivers } from '../receivers.ts'
import { SUBJECT_KINDS } from '../rules.ts'
import type { EntryStore } from './store.ts'

/** What an operator orders of entries of the statement that the books do not have. */
export interface EntryDesk {
  /** Whether an operation is of the kind that takes entries of this kind. */
  accepts(entryKind: string, operationId: string): Promise<boolean>
  /**
   * What hands an entry over to an operation, which books it as something that the bank said: to be carried out with the
   * decision. `undefined`: the statement has no such entry, or nobody takes it. The next reading finds it booked.
   * @source rules#desk.53
   */
  command(entry: Named<EntryKey>, operationId: string): Promise<Command<Accepted> | undefined>
}

/** An entry by words that come from outside. */
type Named<Key extends EntryKey> = Omit<Key, 'kind'> & { readonly kind: string }

/** What the desk works with. */
export interface EntryDeskOptions {
  readonly store: Pick<EntryStore, 'entry' | 'kindOf'>
  readonly receivers: Receivers
}

/** Makes the desk. */
export function createEntryDesk({ store, receivers }: EntryDeskOptions): EntryDesk {
  return {
    accepts: async (kind, operationId) =>
      isEntryKind(kind) && (await store.kindOf(operationId)) === SUBJECT_KINDS[kind],
    command: async ({ kind, ...key }, operationId) => {
      const entry = isEntryKind(kind) ? await store.entry({ kind, ...key }) : undefined
      return entry && receivers[entry.kind].command(operationId, entry)
    },
  }
}

function isEntryKind(kind: string): kind is StatementEntry['kind'] {
  return kind !== 'TARIFF' && Object.hasOwn(SUBJECT_KINDS, kind)
}
