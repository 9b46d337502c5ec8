/** What merchants asked for, and what was replied: what the judge goes by. */

/** What can be asked for. */
export type RequestKind = 'cash_in' | 'cash_out' | 'refund_in' | 'adjustment'

/** A reply; `lost` where none came in time. */
export type Reply =
  | 'lost'
  | {
      readonly status: number
      /** Of a refusal. */
      readonly code?: string
      /** Of what was created, or exists already. */
      readonly id?: string
    }

/** One request of a merchant, under one `externalId` (an adjustment: one reason), however often it was sent. */
export interface MerchantRequest {
  readonly kind: RequestKind
  readonly marker: string
  /** In the order of asking; one after the other, at either server. */
  readonly replies: Reply[]
}

/** What a merchant must believe in the end. */
export type Belief = 'exists' | 'absent' | 'unknown'

/**
 * What the replies say of one request. A refusal says that it is not there, also from tries before whose answers were
 * lost; a 503 says it of its own try alone, and `overloaded` not of a charge: that is committed before the bank is asked,
 * and what cannot be done after that is 503 too.
 */
export function beliefOf({ kind, replies }: Pick<MerchantRequest, 'kind' | 'replies'>): Belief {
  const answers = replies.filter((answer) => answer !== 'lost')
  if (answers.some(({ id }) => id !== undefined)) return 'exists'
  const last = replies.at(-1)
  if (last === undefined || last === 'lost' || last.code === 'request_in_progress') return 'unknown'
  if (last.status >= 400 && last.status < 500) return 'absent'
  const promises = ['cash_out_suspended', 'partner_unavailable', ...(kind === 'cash_in' ? [] : ['overloaded'])]
  const isEachRefused = answers.length === replies.length && answers.every(({ code = '' }) => promises.includes(code))
  return isEachRefused ? 'absent' : 'unknown'
}

/** A setting of the switch of payouts. */
export interface SwitchSet {
  readonly enabled: boolean
  readonly reply: Reply
  /** How it stood when it was looked at later, before it was set again; `undefined` where nobody looked. */
  readonly stoodLater?: boolean | undefined
}

/**
 * How the switch may stand in the end: as it was last confirmed, or as a later request wanted whose answer was lost. Off
 * wins against all that was asked before it.
 */
export function possibleSwitches(sets: readonly SwitchSet[]): ReadonlySet<boolean> {
  const last = sets.findLastIndex(({ reply }) => reply !== 'lost' && reply.status === 200)
  const later = sets.slice(last + 1).filter(({ reply }) => reply === 'lost' || reply.status >= 500)
  return new Set([last < 0 ? true : (sets[last] as SwitchSet).enabled, ...later.map(({ enabled }) => enabled)])
}
