import type { Match } from '../engine/operation-store.ts'

/**
 * Which operation an event means, by everything that its references name. Pure. References agree, or the event is applied to
 * none of what they name: one that is believed against another could move the money of somebody else.
 * @source rules#partner-inbox.12, failure-modes#EV-26, failure-modes#EV-34
 */

/** What an event could mean. */
export interface Meaning {
  /** The one operation on which all references agree; `undefined` where they name none, or several. */
  readonly id: string | undefined
  /** All that are named. */
  readonly among: readonly string[]
}

/** Nothing that we know. */
export const NOTHING: Meaning = { id: undefined, among: [] }

/** What an event could mean whose references name operations of one kind. */
export function meaningOf(matches: readonly Match[]): Meaning {
  return agreeing(distinct(withoutNamesakes(matches).map(({ id }) => id)))
}

/**
 * What a reversal of a cash-in could mean: a refund of ours, which its cash-in may be named beside; or else a cash-in, of
 * which the bank gave something back by itself, once or several times.
 * @source rules#partner-inbox.10
 */
export function meaningOfReversal(refunds: readonly Match[], cashIns: readonly Match[]): Meaning {
  const found = withoutNamesakes([...refunds, ...cashIns])
  const isRefund = (match: Match) => refunds.includes(match)
  const ours = distinct(found.filter((match) => isRefund(match) && !match.isBanks).map(({ id }) => id))
  // A refund of a payment to the bare Pix key is of no cash-in.
  const cashInIds = distinct(found.flatMap((match) => (isRefund(match) ? (match.of ?? []) : match.id)))
  if (cashInIds.length > 1 || ours.length > 1) {
    const ofOurs = found.filter(({ id }) => ours.includes(id)).map(({ of }) => of)
    return { id: undefined, among: [...ours, ...cashInIds.filter((id) => !ofOurs.includes(id))] }
  }
  return agreeing([...ours, ...cashInIds].slice(0, 1))
}

/** The order id stands where the client's reference may stand: an operation whose client called it the same is not meant. */
function withoutNamesakes(matches: readonly Match[]): readonly Match[] {
  return matches.some(({ by }) => by === 'orderId') ? matches.filter(({ by }) => by !== 'externalId') : matches
}

function agreeing(among: readonly string[]): Meaning {
  return { id: among.length === 1 ? among[0] : undefined, among }
}

function distinct(ids: readonly string[]): string[] {
  return [...new Set(ids)]
}
