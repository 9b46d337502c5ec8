import type { Judge } from '../answers.ts'
import type { Outcome, PartnerCall, PartnerLink } from '../link.ts'
import type { AnyReported, QueryAnswer, SendAnswer, SendWindow } from '../port.ts'
import { withoutNulls } from '../values.ts'
import { classifyQuery, classifySend, type Refusals, STANDARD_REFUSALS, settleRefusal } from './classify.ts'

/** The calls of a bank of this standard, at its paths. */
export interface Exchange {
  /** Does one call. */
  raw(call: PartnerCall, deadline?: AbortSignal, window?: SendWindow): Promise<Outcome>
  /** Asks what there is at a path. */
  query<Report extends AnyReported>(
    path: string,
    judge: Judge<Report>,
    deadline?: AbortSignal,
  ): Promise<QueryAnswer<Report>>
  /** Puts something to the bank. What it refuses is asked about first, as an earlier attempt may have made it. */
  send<Report extends AnyReported>(order: Order<Report>): Promise<SendAnswer<Report>>
}

/** What is put to the bank: one try. */
export interface Order<Report extends AnyReported> {
  readonly path: string
  readonly body: object
  readonly judge: Judge<Report>
  /** Asks what the bank has under its id. */
  readonly query: () => Promise<QueryAnswer<Report>>
  /** Whether a refusal gives money back that was set aside for it. */
  readonly holdsMoney: boolean
  readonly deadline?: AbortSignal | undefined
  readonly window?: SendWindow | undefined
}

/**
 * Makes the calls. JSON comes without its nulls.
 * @param prefix of every path: `/v2`
 */
export function createExchange(
  link: Pick<PartnerLink, 'exchange'>,
  prefix: string,
  refusals: Refusals = STANDARD_REFUSALS,
): Exchange {
  const raw: Exchange['raw'] = async (call, deadline, window) => {
    const outcome = await link.exchange({ ...call, path: prefix + call.path }, deadline, window)
    return outcome.kind === 'answered' ? { ...outcome, json: withoutNulls(outcome.json) } : outcome
  }
  return {
    raw,
    query: async (path, judge, deadline) => classifyQuery(await raw({ method: 'GET', path }, deadline), judge),
    send: async ({ path, body, judge, query, holdsMoney, deadline, window }) => {
      const outcome = await raw({ method: 'PUT', path, body }, deadline, window)
      const answer = classifySend(outcome, judge, refusals)
      return answer.kind === 'REFUSED' ? settleRefusal(answer, await query(), holdsMoney) : answer
    },
  }
}
