import { type CaseSource, type FuzzCase, makeCase } from './cases.ts'
import { chanceOf } from './chance.ts'
import { type Answer, type Connection, NoAnswer, openConnection } from './connection.ts'
import { createCorpus } from './corpus.ts'
import type { Operation } from './document.ts'
import { addFinding, countAnswer, emptyReport, excerpt, type Report } from './findings.ts'
import { complaintsAbout } from './judge.ts'
import { complaintsAboutMalformed, malformedRequest } from './malformed-http.ts'
import { BEHAVIOR, prepare } from './prepare.ts'

/** A service to be fuzzed: its API on loopback, and what opens it. */
export interface Target {
  readonly port: number
  readonly adminToken: string
  readonly partnerSecret: string
  /** Address of a receiver of notifications, without a path. */
  readonly receiverUrl: string
  /** What must not turn up in any answer. */
  readonly secrets: readonly string[]
}

/** How a campaign is run. */
export interface CampaignOptions {
  readonly target: Target
  readonly operations: readonly Operation[]
  readonly seed: number
  /** Index of the first case, and how many there are. */
  readonly from: number
  readonly cases: number
  /** Epoch milliseconds at which no more are begun. */
  readonly until: number
  readonly onProgress?: (report: Report) => void
}

const CONNECTIONS = 16
const BATCH = 1_000
const MALFORMED_PER_BATCH = 20

/**
 * Sends the cases of a seed, a batch at a time: first what must be refused, after which nothing may have been created,
 * then the rest; then, one by one, what changes how the bank behaves.
 */
export async function runCampaign(options: CampaignOptions): Promise<Report> {
  const { target, operations, seed, from, cases, until } = options
  const report = emptyReport()
  const corpus = createCorpus()
  const { apiKey, readLists, resetBank } = await prepare(target, operations, corpus)
  const source: CaseSource = { ...target, operations, seed, corpus, apiKey }

  async function attempt(connection: Connection, fuzzCase: FuzzCase) {
    const t0=Date.now()
    try {
      const answer = await connection.exchange(fuzzCase.request.bytes, fuzzCase.request.method)
      if (Date.now()-t0>3000) console.log('SLOW', Date.now()-t0, fuzzCase.index, fuzzCase.mutations, answer.status)
      return { answer, complaints: complaintsAbout(fuzzCase, answer, target.secrets) }
    } catch (error) {
      if (error instanceof NoAnswer) return { answer: undefined, complaints: [error.message] }
      throw error
    }
  }

  async function send(connection: Connection, fuzzCase: FuzzCase): Promise<void> {
    const { answer, complaints } = await attempt(connection, fuzzCase)
    const { id, path } = fuzzCase.operation
    countAnswer(report, id, answer?.status ?? 0)
    if (answer && answer.status < 300 && isJson(answer)) corpus.learn(path, JSON.parse(answer.body.toString()))
    for (const complaint of complaints) {
      await addFinding(report, `${id}: ${complaint.slice(0, 100)}`, () => smallest(connection, fuzzCase, complaint))
    }
  }

  /** A case with one mutation, or none, is easier to understand than one with three. */
  async function smallest(connection: Connection, fuzzCase: FuzzCase, complaint: string): Promise<string> {
    for (const keep of [-1, ...fuzzCase.mutations.keys()]) {
      const smaller = makeCase(source, fuzzCase.index, (place) => place === keep)
      const { answer, complaints } = await attempt(connection, smaller)
      if (complaints.includes(complaint)) return describe(seed, smaller, complaint, answer)
    }
    return describe(seed, fuzzCase, complaint, undefined)
  }

  for (let index = from; index < from + cases && Date.now() < until; index += BATCH) {
    const count = Math.min(BATCH, from + cases - index)
    const batch = Array.from({ length: count }, (_, offset) => makeCase(source, index + offset))
    const invalid = batch.filter(({ request }) => request.isInvalid)
    const valid = batch.filter(({ request }) => !request.isInvalid)

    const before = await readLists()
    await spread(target.port, invalid, CONNECTIONS, send)
    const after = await readLists()
    if (after !== before) {
      const where = `seed ${seed}, cases ${index} to ${index + count - 1}`
      await addFinding(report, 'a refused request created something', async () => `${where}:\n${before}\n${after}`)
    }
    const disturbing = valid.filter(({ operation }) => operation.path === BEHAVIOR)
    await spread(
      target.port,
      valid.filter((it) => !disturbing.includes(it)),
      CONNECTIONS,
      send,
    )
    await spread(target.port, disturbing, 1, send)
    await resetBank()
    await sendMalformed(target.port, seed, index, report)
    options.onProgress?.(report)
  }
  return report
}

/** Works through the cases on so many connections. */
async function spread(
  port: number,
  cases: readonly FuzzCase[],
  connections: number,
  send: (connection: Connection, fuzzCase: FuzzCase) => Promise<void>,
): Promise<void> {
  const waiting = cases.values()
  const worker = async () => {
    const connection = openConnection(port)
    for (const fuzzCase of waiting) await send(connection, fuzzCase)
    connection.close()
  }
  await Promise.all(Array.from({ length: connections }, worker))
}

async function sendMalformed(port: number, seed: number, index: number, report: Report): Promise<void> {
  const requests = Array.from({ length: MALFORMED_PER_BATCH }, (_, place) =>
    malformedRequest(chanceOf(seed, index, place)),
  )
  await Promise.all(
    requests.map(async (request) => {
      const complaints = await complaintsAboutMalformed(port, request)
      countAnswer(report, 'malformed HTTP', request.statuses[0] ?? 0)
      for (const complaint of complaints) {
        await addFinding(
          report,
          `malformed HTTP, ${request.name}: ${complaint.slice(0, 100)}`,
          async () => `${complaint}\n${excerpt(Buffer.concat(request.slices))}`,
        )
      }
    }),
  )
}

/** Whether there is a value to read; an answer to HEAD has none. */
function isJson({ headers, body }: Answer): boolean {
  return body.length > 0 && headers.get('content-type')?.startsWith('application/json') === true
}

function describe(seed: number, { index, mutations, request }: FuzzCase, complaint: string, answer?: Answer): string {
  return [
    `${complaint} (seed ${seed}, case ${index}, mutations: ${mutations.join(', ') || 'none'})`,
    excerpt(request.bytes),
    answer ? `→ ${answer.status} ${excerpt(answer.body)}` : '',
  ].join('\n')
}
