import { connectionProblem, openPartnerLink } from '@pixgate/server'
import type { Readiness } from '@pixgate/spec'

/** The sandbox that listens at an address, as it sees itself. Neither: nobody listens there. */
export interface Running {
  readonly url: string
  readonly readiness?: Readiness
  /** Why it does not tell, for a sentence that begins with who it is. */
  readonly problem?: string
}

/** Nobody is there. A port of 0 is any. */
const ABSENT = ['ECONNREFUSED', 'EADDRNOTAVAIL']

/** Asks the sandbox at an address how it fares. */
export async function runningSandbox(url: string): Promise<Running> {
  const link = openPartnerLink({ url, token: '', timeoutMs: 2_000 })
  const answer = await link.exchange({ method: 'GET', path: '/readyz' }).finally(() => link.close())
  if (answer.kind === 'answered') {
    const readiness = answer.json as Partial<Readiness> | undefined
    if (readiness?.dependencies?.bank === undefined) return { url, problem: OTHER }
    return { url, readiness: readiness as Readiness }
  }
  if (answer.kind === 'not sent' && ABSENT.includes(answer.reason)) return { url }
  return { url, problem: connectionProblem(answer.reason) }
}

const OTHER = 'is no Pixgate: set PORT to a port that is free'
