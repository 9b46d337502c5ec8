import type { Outcome, PartnerCall } from '../../../src/banks/link.ts'

/** Requests to a bank of the standard, and its next answers. */
export interface ScriptedExchange {
  readonly calls: PartnerCall[]
  exchange(call: PartnerCall): Promise<Outcome>
}

/** A link that gives each call the next of these outcomes. */
export function scripted(...outcomes: readonly Outcome[]): ScriptedExchange {
  const left = [...outcomes]
  const calls: PartnerCall[] = []
  return {
    calls,
    exchange: async (call) => {
      calls.push(call)
      return left.shift() ?? { kind: 'lost', reason: 'the script has ended' }
    },
  }
}

/** A whole answer. */
export function answered(httpStatus: number, json: unknown): Outcome {
  return { kind: 'answered', httpStatus, json }
}

/** An answer of the standard that says why not. */
export function problem(httpStatus: number, type: string, more: object = {}): Outcome {
  return answered(httpStatus, {
    type: `https://pix.bcb.gov.br/api/v2/error/${type}`,
    title: type,
    status: httpStatus,
    ...more,
  })
}
