import type { PartnerCall, PartnerLink } from './link.ts'

/** A bank that says `Retry-After: 86400` by mistake is asked again after this. */
const LONGEST_WAIT_MS = 300_000

/**
 * Makes no call of a kind for which the bank asked us to wait: it is told as not sent, so that an order stays as it is and goes out
 * later under the same id. Calls of other kinds go on: what a bank limits it limits apart.
 * @param monotonic a clock that goes on while the process sleeps, milliseconds
 * @param isHeld which calls are held back; absent: all
 * @source rules#api-pix.15
 */
export function patientLink(
  link: PartnerLink,
  monotonic: () => number,
  isHeld: (call: PartnerCall) => boolean = () => true,
): PartnerLink {
  const waitsUntil = new Map<string, number>()
  return {
    exchange: async (call, deadline, window) => {
      if (!isHeld(call)) return link.exchange(call, deadline, window)
      const kind = kindOf(call)
      if (monotonic() < (waitsUntil.get(kind) ?? Number.NEGATIVE_INFINITY))
        return { kind: 'not sent', reason: 'the bank asked to wait', httpStatus: 429 }
      const outcome = await link.exchange(call, deadline, window)
      if (outcome.kind === 'answered' && outcome.retryAfterMs !== undefined)
        waitsUntil.set(kind, monotonic() + Math.min(outcome.retryAfterMs, LONGEST_WAIT_MS))
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
