import type { Outcome, PartnerCall, PartnerLink } from './link.ts'

/** A bank that says `Retry-After: 86400` by mistake is asked again after this. */
const LONGEST_WAIT_MS = 300_000

/** A link that waits where the bank asks it to. */
export interface PatientLink extends PartnerLink {
  /** Whether a call would be held back now. @returns what it would come to then; `undefined`: it would leave */
  heldBack(call: PartnerCall): NotSent | undefined
}

/** A call of which no byte left. */
export type NotSent = Extract<Outcome, { readonly kind: 'not sent' }>

/**
 * Makes no call of a kind for which the bank asked us to wait: it is told as not sent, with the time that is left, so that an order
 * stays as it is and goes out later under the same id. Calls of other kinds go on: what a bank limits it limits apart.
 * @param monotonic a clock that goes on while the process sleeps, milliseconds
 * @param isHeld which calls are held back; absent: all
 * @source rules#api-pix.15
 */
export function patientLink(
  link: PartnerLink,
  monotonic: () => number,
  isHeld: (call: PartnerCall) => boolean = () => true,
): PatientLink {
  const holds = new Map<string, { readonly endsAt: number; readonly httpStatus: number }>()

  function heldBack(call: PartnerCall): NotSent | undefined {
    const hold = isHeld(call) ? holds.get(kindOf(call)) : undefined
    if (!hold || monotonic() >= hold.endsAt) return undefined
    const { endsAt, httpStatus } = hold
    return { kind: 'not sent', reason: 'the bank asked to wait', httpStatus, retryAfterMs: endsAt - monotonic() }
  }
  return {
    heldBack,
    exchange: async (call, deadline, window) => {
      const held = heldBack(call)
      if (held) return held
      const outcome = await link.exchange(call, deadline, window)
      if (outcome.kind === 'answered' && outcome.retryAfterMs !== undefined) {
        const endsAt = monotonic() + Math.min(outcome.retryAfterMs, LONGEST_WAIT_MS)
        holds.set(kindOf(call), { endsAt, httpStatus: outcome.httpStatus })
      }
      return outcome
    },
    close: () => link.close(),
  }
}

/** A call without what it is about: ids are the long parts of its path, and there are few kinds. */
function kindOf({ method, path }: PartnerCall): string {
  const [named = ''] = path.split('?')
  return `${method} ${named.replace(/\/[^/]{26,}/g, '/{id}')}`
}
