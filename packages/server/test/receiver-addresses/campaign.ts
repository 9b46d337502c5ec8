import { isIP } from 'node:net'
import { limits, Refusal } from '@pixgate/spec'
import {
  type AddressGate,
  createGuardedAgent,
  publicAddressGate,
  type Resolve,
} from '../../src/platform/http-client/agent.ts'
import { type Answer, post } from '../../src/platform/http-client/post.ts'
import { type AllowedUrls, assertResolves, type Bounds, endpointUrl } from '../../src/webhooks/endpoint-url.ts'
import { chanceOf } from '../fuzz/chance.ts'
import { type Canaries, startCanaries } from './canaries.ts'
import { isPublic, type MadeAddress, makeAddress } from './made-addresses.ts'

/** How many addresses are tried, and from which seed. */
export interface CampaignOptions {
  readonly seed: number
  readonly cases: number
  readonly onProgress?: (report: Report) => void
  /** What is tried: production's, unless the campaign itself is. */
  readonly gateOf?: (resolve: Resolve) => AddressGate
  /** What a registration accepts; production's for API keys, where left out. */
  readonly urls?: AllowedUrls
}

/** What came of them. */
export interface Report {
  cases: number
  /** That a registration took, as their names led to public addresses then. */
  registered: number
  /** That a delivery was tried to, registered or not, by why it was not connected. */
  readonly deliveries: Map<string, number>
  /** Left out, as their delivery would leave this machine: a spelling became somebody's public address. */
  public: number
  /** Of the canaries; anything but 0 is a way inside. */
  connections: number
  /** A line each. */
  readonly findings: string[]
}

/** As many as a process has under way. */
const AT_ONCE = 64

/**
 * Registers made-up addresses as production does and delivers to every one that is a URL, whether or not it was registered:
 * each of both walls has to hold without the other. Nothing leaves this machine.
 * @source rules#webhooks.1
 */
export async function runCampaign(options: CampaignOptions): Promise<Report> {
  const { cases, onProgress } = options
  const canaries = await startCanaries()
  const report: Report = { cases: 0, registered: 0, deliveries: new Map(), public: 0, connections: 0, findings: [] }
  try {
    while (report.cases < cases) {
      const first = report.cases
      report.cases += Math.min(AT_ONCE * 16, cases - first)
      await tryAll(canaries, report, options, { next: first, end: report.cases })
      report.connections = canaries.connections()
      onProgress?.(report)
    }
  } finally {
    await canaries.close()
  }
  return report
}

/** Of the cases that are still to be tried. */
interface Indices {
  next: number
  readonly end: number
}

/** With an agent of their own: every origin has a pool in it. */
async function tryAll(
  canaries: Canaries,
  report: Report,
  { seed, gateOf = publicAddressGate, urls = 'public' }: CampaignOptions,
  indices: Indices,
): Promise<void> {
  const answers = new Map<string, readonly string[]>()
  const gate = gateOf(async (hostname) => answers.get(hostname) ?? [])
  const agent = createGuardedAgent(gate, limits.webhookConnectTimeoutMs)
  const next = async (): Promise<void> => {
    if (indices.next === indices.end) return
    const index = indices.next++
    const made = makeAddress(chanceOf(seed, index), canaries.ports)
    const before = canaries.connections()
    const said = await tryOne(
      made,
      { urls, gate: gateOf(async () => made.atRegistration) },
      report,
      async (url, hostname) => {
        answers.set(hostname, made.atDelivery)
        return (await post(agent, { ...SENT, url })).answer
      },
    )
    const wasReached = canaries.connections() > before ? ['a canary was reached'] : []
    for (const finding of [...said, ...wasReached]) {
      report.findings.push(`${finding}: seed ${seed}, case ${index}, ${JSON.stringify(made)}`)
    }
    return next()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
  await agent.destroy()
}

const SENT = {
  headers: {},
  body: Buffer.from('{}'),
  timeoutMs: limits.webhookTimeoutMs,
  responseMaxBytes: 1_024,
  responseTimeoutMs: 1_000,
}

type Deliver = (url: string, hostname: string) => Promise<Answer>

/** @returns what should not be */
async function tryOne(made: MadeAddress, bounds: Bounds, report: Report, deliver: Deliver): Promise<string[]> {
  const registered = await registration(made.text, bounds)
  const url = registered ?? URL.parse(made.text)
  const findings: string[] = []
  if (registered !== undefined) {
    report.registered += 1
    if (isIP(bare(registered)) !== 0) findings.push('an address without a name was registered')
    if (!made.atRegistration.every(isPublic)) findings.push('a name that leads inside was registered')
  }
  if (url === null || !/^https?:$/.test(url.protocol)) return findings
  if (isPublic(bare(url))) {
    report.public += 1
    return findings
  }
  const answer = await deliver(url.href, bare(url))
  const outcome = 'failure' in answer ? answer.failure : `status ${answer.statusCode}`
  report.deliveries.set(outcome, (report.deliveries.get(outcome) ?? 0) + 1)
  // Anything else was tried, or could have been.
  return NOT_TRIED.has(outcome) ? findings : [...findings, `the delivery ended with ${outcome}`]
}

const NOT_TRIED = new Set(['address_not_allowed', 'dns'])

/** The address as it would be stored; `undefined` where the registration refuses it. */
async function registration(text: string, bounds: Bounds): Promise<URL | undefined> {
  try {
    const url = endpointUrl(text, bounds.urls)
    await assertResolves(bounds, url)
    return url
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

function bare({ hostname }: URL): string {
  return hostname.replace(/^\[(.+)\]$/, '$1')
}
