import { connectionProblem, openPartnerLink } from '@pixgate/server'
import type { Readiness } from '@pixgate/spec'

/** A sandbox with its readiness, or a problem. If neither is set, nothing listens at the URL. */
export interface Running {
  readonly url: string
  readonly readiness?: Readiness
  /** Why its readiness is unknown, as a predicate after «the sandbox at …». */
  readonly problem?: string
}

/** Nothing listens there. EADDRNOTAVAIL results from port 0. */
const ABSENT = ['ECONNREFUSED', 'EADDRNOTAVAIL']

/** Queries the readiness of the sandbox at a URL. */
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

const OTHER = 'is not Pixgate: set PORT to a free port'
