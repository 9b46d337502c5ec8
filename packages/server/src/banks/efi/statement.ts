import {
  LISTED_WITHIN_MS as LISTED_BY_STANDARD,
  type ReadItem,
  readAs,
  type StatementList,
  unreadable,
} from '../api-pix/statement.ts'
import type { ListedWithin, StatementEntry } from '../port.ts'
import { centsOf, isId, itemsOf } from '../values.ts'
import { isSentItem, isSentReturn, type SentItem } from './bodies.ts'
import { endToEndIdOf, returnOf, settledAt } from './payout.ts'

/**
 * What left, and what came back of it. The list is by when it was ordered: what settles or comes back later is found by looking
 * again.
 * @source rules#efi.5
 */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const SENT: StatementList = { name: 'sent', path: '/gn/pix/enviados', readItem: readSent }

/** A payout that settles after its window was read comes with the hourly list, what came back of an old one with the daily list. */
export const LISTED_WITHIN_MS: ListedWithin = {
  ...LISTED_BY_STANDARD,
  PAYOUT_SENT: 2 * HOUR_MS,
  PAYOUT_RETURNED: 2 * DAY_MS,
}

/** Of the standard's paths these are besides. */
export const SENT_LISTS: readonly StatementList[] = [
  SENT,
  { ...SENT, name: 'sentlately', everyMs: HOUR_MS, windowAt: (now) => ({ from: now - 2 * DAY_MS, to: now }) },
  { ...SENT, name: 'sentlong', everyMs: DAY_MS, windowAt: (now) => ({ from: now - 100 * DAY_MS, to: now }) },
]

function readSent(item: unknown, offsetMs: number): ReadItem {
  return readAs(isSentItem, item, (sent) => (sent.status === 'REALIZADO' ? readSettled(sent, offsetMs) : NOTHING))
}

const NOTHING: ReadItem = { entries: [], unreadable: [] }

function readSettled(sent: SentItem, offsetMs: number): ReadItem {
  const [endToEndId, occurredAt] = [endToEndIdOf(sent), settledAt(sent, offsetMs)]
  if (endToEndId === undefined) return unreadable(sent, '/endToEndId')
  if (occurredAt === undefined) return unreadable(sent, '/horario')
  const named = { endToEndId, reference: isId(sent.idEnvio) ? sent.idEnvio : endToEndId }
  const left: StatementEntry = {
    kind: 'PAYOUT_SENT',
    direction: 'out',
    movementId: endToEndId,
    valueCents: centsOf(sent.valor),
    occurredAt,
    ...named,
  }
  const returns = itemsOf(sent.devolucoes).map((told) =>
    readAs(isSentReturn, told, ({ status = 'DEVOLVIDO' }): ReadItem => {
      if (status !== 'DEVOLVIDO' || !isSentReturn(told)) return NOTHING
      const returned = returnOf(told, offsetMs)
      if (!returned) return unreadable(told, isId(told.rtrId) ? '/horario' : '/rtrId')
      const { returnId, ...moved } = returned
      const entry = { kind: 'PAYOUT_RETURNED', direction: 'in', movementId: returnId, ...named, ...moved } as const
      return { entries: [entry], unreadable: [] }
    }),
  )
  return {
    entries: [left, ...returns.flatMap(({ entries }) => entries)],
    unreadable: returns.flatMap((read) => read.unreadable),
  }
}
