import type { PartnerEvent } from '@pixgate/spec'
import type { Notice } from './notices.ts'
import type { Records } from './records.ts'

/** Behaviours of the bank for one operation. */
type MarkedBehavior = 'reject' | 'timeout' | 'lost-response' | 'manual' | 'fail'

/** Behaviour of the bank for one operation, chosen by markers in its text. */
export interface Markers {
  /** Instead of the bank's behaviour. */
  readonly behavior?: MarkedBehavior
  /** Reason code of a failure. */
  readonly errorCode: string
  /** Whether a charge is paid by itself. */
  readonly isPaid: boolean
  /** Whether a payout comes back after it arrived. */
  readonly isReversed: boolean
  /** Delay of the events. */
  readonly lateMs: number
  /** Number of copies of each event. */
  readonly copies: number
}

const MARKER = /(?<!\S)bank:([a-z-]+)(?::(\w{1,8}))?(?!\S)/g

const BEHAVIORS: readonly string[] = ['reject', 'timeout', 'lost-response', 'manual', 'fail'] satisfies MarkedBehavior[]

const LATE_SECONDS = 30

/**
 * Reads the markers in the text of a charge, payout or refund: words such as `bank:fail:AB03`. Unknown ones are ignored.
 * The text is the only field that every client, connector and bank passes on unchanged.
 * @source rules#sandbox.21
 */
export function markersIn(text = ''): Markers {
  const values = new Map([...text.matchAll(MARKER)].map(([, name = '', value = '']) => [name, value]))
  const behavior = [...values.keys()].find((name) => BEHAVIORS.includes(name)) as MarkedBehavior | undefined
  const lateSeconds = values.has('late') ? Number(values.get('late') || LATE_SECONDS) : 0
  return {
    ...(behavior && { behavior }),
    errorCode: values.get('fail') || 'AC07',
    isPaid: values.has('pay'),
    isReversed: values.has('reverse'),
    lateMs: Number.isFinite(lateSeconds) ? lateSeconds * 1_000 : 0,
    copies: values.has('twice') ? 2 : 1,
  }
}

/** Markers of the operation that an event is about. */
export function markersOfEvent(book: Records, { event, externalId }: PartnerEvent): Markers {
  const id = externalId ?? ''
  if (event === 'CashIn') return markersIn(book.charges.get(id)?.terms.description)
  if (event === 'CashInReversal') return markersIn(book.refunds.get(id)?.order.reason)
  return markersIn(book.payouts.get(id)?.order.description)
}

/** Markers of the charge or payout that a callback is about. */
export function markersOfNotice(
  { charges, receipts, payouts }: Records,
  { received = '', sent = '' }: Notice,
): Markers {
  const charge = charges.get(receipts.get(received)?.chargeId ?? '')
  return markersIn(charge?.terms.description ?? payouts.get(sent)?.order.description)
}

/** Code and text of a failure. The text is that of AC07; other codes have none of their own here. */
export function failureOf(errorCode: string, closed: string) {
  return { errorCode, errorMessage: errorCode === 'AC07' ? closed : `the bank reports ${errorCode}` }
}
