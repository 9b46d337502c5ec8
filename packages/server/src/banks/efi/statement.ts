import { dashedId } from '../api-pix/ids.ts'
import { centsOf } from '../api-pix/money.ts'
import type { ReadList, StatementList } from '../api-pix/statement.ts'
import { placeOf } from '../api-pix/statement.ts'
import type { StatementEntry } from '../port.ts'
import { isSentPage, type SentPage } from './bodies.ts'
import { endToEndIdOf, returnOf, settledAt } from './payout.ts'

/**
 * What left, and what came back of it. The list is by when it was ordered: what settles or comes back later is found by looking
 * again.
 * @source rules#efi.5
 */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const SENT: StatementList = { name: 'sent', path: '/gn/pix/enviados', read: sentPageOf }

/** What came back of an old payout is in the statement after so long, whichever process reads it. */
export const SENT_WITHIN_MS = 2 * DAY_MS

/** Of the standard's paths these are besides. */
export const SENT_LISTS: readonly StatementList[] = [
  SENT,
  { ...SENT, name: 'sentlately', everyMs: HOUR_MS, windowAt: (now) => ({ from: now - 2 * DAY_MS, to: now }) },
  { ...SENT, name: 'sentlong', everyMs: DAY_MS, windowAt: (now) => ({ from: now - 100 * DAY_MS, to: now }) },
]

function sentPageOf(json: unknown): ReadList | string {
  if (!isSentPage(json)) return 'unreadable list of sent Pix'
  const read = json.pix.map(entriesOf)
  const fault = read.find((entries) => typeof entries === 'string')
  if (typeof fault === 'string') return fault
  return { entries: read.flatMap((entries) => (typeof entries === 'string' ? [] : entries)), ...placeOf(json) }
}

function entriesOf(sent: SentPage['pix'][number]): readonly StatementEntry[] | string {
  if (sent.status !== 'REALIZADO') return []
  const [endToEndId, occurredAt] = [endToEndIdOf(sent), settledAt(sent)]
  if (endToEndId === undefined || occurredAt === undefined) return 'REALIZADO without an end-to-end id or a time'
  const named = { endToEndId, reference: sent.idEnvio ? dashedId(sent.idEnvio) : endToEndId }
  const left = {
    kind: 'PAYOUT_SENT',
    direction: 'out',
    movementId: endToEndId,
    valueCents: centsOf(sent.valor),
    occurredAt,
  } as const
  const told = (sent.devolucoes ?? []).filter(({ status = 'DEVOLVIDO' }) => status === 'DEVOLVIDO')
  const back = told.flatMap(returnOf)
  // Leaving one out would hide money.
  if (back.length < told.length) return 'DEVOLVIDO without an rtrId or a time'
  return [
    { ...left, ...named },
    ...back.map(
      ({ returnId, ...moved }) =>
        ({ kind: 'PAYOUT_RETURNED', direction: 'in', movementId: returnId, ...named, ...moved }) as const,
    ),
  ]
}
