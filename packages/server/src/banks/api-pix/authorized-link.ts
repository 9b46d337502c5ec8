import type { Outcome, PartnerCall, PartnerLink } from '../link.ts'
import type { SendWindow } from '../port.ts'
import type { Tokens } from './tokens.ts'

/**
 * Puts the token of now on each call. A 401 says that the bank read nothing but the token: the call is made once more, with a
 * new one.
 * @source rules#api-pix.1
 */
export function authorizedLink(link: PartnerLink, tokens: Tokens): PartnerLink {
  async function attempt(
    call: PartnerCall,
    deadline?: AbortSignal,
    window?: SendWindow,
  ): Promise<{ readonly outcome: Outcome; readonly token?: string }> {
    const granted = await tokens.current()
    if ('failed' in granted) return { outcome: withoutToken(granted.failed) }
    const { token } = granted
    return { outcome: await link.exchange({ ...call, authorization: `Bearer ${token}` }, deadline, window), token }
  }
  return {
    exchange: async (call, deadline, window) => {
      const first = await attempt(call, deadline, window)
      if (first.token === undefined || first.outcome.kind !== 'answered' || first.outcome.httpStatus !== 401)
        return first.outcome
      tokens.refused(first.token)
      const second = await attempt(call, deadline, window)
      // What kept us from making it again proves nothing of the first attempt, of which bytes have left.
      return second.outcome.kind === 'not sent' ? first.outcome : second.outcome
    },
    close: () => link.close(),
  }
}

/**
 * Without a token no byte of the call left, for the reason for which there was none. OAuth 2.0 says 400 to credentials that it
 * does not know, and some banks say 403.
 */
function withoutToken(failed: Outcome): Outcome {
  if (failed.kind !== 'answered') return { kind: 'not sent', reason: failed.reason }
  const { httpStatus } = failed
  const refusesUs = httpStatus === 400 || httpStatus === 403
  return { kind: 'not sent', reason: `no token: HTTP ${httpStatus}`, httpStatus: refusesUs ? 401 : httpStatus }
}
