import { wallNow } from '../support/wall-clock.ts'
import { type CaseSource, type FuzzCase, makeCase } from './cases.ts'
import { chanceOf } from './chance.ts'
import { type Answer, type Connection, NoAnswer, openConnection } from './connection.ts'
import { createCorpus } from './corpus.ts'
import type { Operation } from './document.ts'
import { addFinding, answersIn, countAnswer, emptyReport, excerpt, type Report, successOf } from './findings.ts'
import { complaintsAbout } from './judge.ts'
import { DISTURBING, type Prepared, prepare } from './prepare.ts'
import { exchangeRaw } from './raw-exchange.ts'
import { rawRequest } from './raw-requests.ts'

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
  /** All that the document has. */
  readonly operations: readonly Operation[]
  /** The only one to be fuzzed, by its id; all of them where absent. */
  readonly operation?: string
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
const RAW_PER_BATCH = 20

/** Among so many answers each operation has a success: a campaign without it does not get far enough. */
const ENOUGH_ANSWERS = 20_000

/**
 * Sends the cases of a seed, a batch at a time: first what must be refused, after which nothing may have been created,
 * then the rest, then, one by one, what changes how all the others are answered.
 */
export async function runCampaign({ target, operations, ...options }: CampaignOptions): Promise<Report> {
  const { seed, from, cases, until } = options
  const report = emptyReport()
  const corpus = createCorpus()
  const prepared = await prepare(target, operations, corpus)
  const { readLists, calm } = prepared
  const chosen = operations.filter(({ id }) => id === (options.operation ?? id))
  const source = sourceOf(prepared, { ...target, operations: chosen, seed, corpus })

  async function send(batch: readonly FuzzCase[], connections = CONNECTIONS): Promise<Suspect[]> {
    const suspects: Suspect[] = []
    const waiting = batch.values()
    const worker = async () => {
      const connection = openConnection(target.port)
      for (const fuzzCase of waiting) {
        const { answer, complaints } = await attempt(connection, fuzzCase, target)
        countAnswer(report, fuzzCase.operation.id, answer?.status ?? 0)
        if (answer && answer.status < 300) corpus.learn(fuzzCase.operation.path, jsonOf(answer))
        suspects.push(...complaints.map((complaint) => ({ fuzzCase, complaint })))
      }
      connection.close()
    }
    await Promise.all(Array.from({ length: connections }, worker))
    return suspects
  }

  await calm('manual')
  for (let index = from; index < from + cases && wallNow() < until; index += BATCH) {
    const count = Math.min(BATCH, from + cases - index)
    const batch = Array.from({ length: count }, (_, offset) => makeCase(source, index + offset))
    const invalid = batch.filter(({ request }) => request.isInvalid)
    const [disturbing = [], others = []] = [true, false].map((disturbs) =>
      batch.filter(({ request, operation }) => !request.isInvalid && DISTURBING.includes(operation.path) === disturbs),
    )

    const before = await readLists()
    const suspects = await send(invalid)
    const after = await readLists()
    if (after !== before) {
      const text = `a refused request created something (seed ${seed}, cases ${index} to ${index + count - 1})`
      await addFinding(report, 'creation', async () => `${text}\n${before}\n${after}`)
    }
    suspects.push(...(await send(others)), ...(await send(inOrder(disturbing), 1)))
    await calm(chanceOf(seed, index).pick(['auto', 'manual']))
    for (const suspect of suspects) {
      const kind = `${suspect.fuzzCase.operation.id}: ${suspect.complaint.slice(0, 100)}`
      await addFinding(report, kind, () => describe(suspect, source, target))
    }
    await sendRaw(target.port, seed, index, report)
    options.onProgress?.(report)
  }
  if (answersIn(report) >= ENOUGH_ANSWERS) {
    for (const { id } of chosen) {
      if (successOf(report.answers.get(id) ?? new Map()) > 0) continue
      await addFinding(report, `${id}: shallow`, async () => `${id}: not one request succeeded`)
    }
  }
  return report
}

/** Cases with the credentials that work when they are made. */
function sourceOf(
  { apiKey, operatorToken, approverToken }: Prepared,
  given: Omit<CaseSource, 'apiKey' | 'approverToken'>,
): CaseSource {
  return {
    ...given,
    adminToken: operatorToken,
    approverToken,
    get apiKey() {
      return apiKey()
    },
  }
}

function inOrder(disturbing: readonly FuzzCase[]): FuzzCase[] {
  const placeOf = ({ operation }: FuzzCase) => DISTURBING.indexOf(operation.path)
  return disturbing.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** A case whose answer is not as it should be. */
interface Suspect {
  readonly fuzzCase: FuzzCase
  readonly complaint: string
}

async function attempt(connection: Connection, fuzzCase: FuzzCase, { secrets }: Target) {
  try {
    const answer = await connection.exchange(fuzzCase.request.bytes, fuzzCase.request.method)
    return { answer, complaints: complaintsAbout(fuzzCase, answer, secrets) }
  } catch (error) {
    if (error instanceof NoAnswer) return { answer: undefined, complaints: [error.message] }
    throw error
  }
}

/** Tells of a case, with one of its mutations or none where that is enough to see the same. */
async function describe({ fuzzCase, complaint }: Suspect, source: CaseSource, target: Target): Promise<string> {
  const connection = openConnection(target.port)
  const smaller = [-1, ...fuzzCase.mutations.keys()].map((keep) =>
    makeCase(source, fuzzCase.index, (place) => place === keep),
  )
  try {
    for (const candidate of smaller) {
      const { answer, complaints } = await attempt(connection, candidate, target)
      if (complaints.includes(complaint)) return textOf(candidate, complaint, source.seed, answer)
    }
    return textOf(fuzzCase, complaint, source.seed)
  } finally {
    connection.close()
  }
}

function textOf({ index, mutations, request }: FuzzCase, complaint: string, seed: number, answer?: Answer): string {
  const origin = `seed ${seed}, case ${index}, mutations: ${mutations.join(', ') || 'none'}`
  const answered = answer ? `\n→ ${answer.status} ${excerpt(answer.body)}` : ''
  return `${complaint} (${origin})\n${excerpt(request.bytes)}${answered}`
}

/** What an answer says in JSON; `undefined` where it says nothing, or in other words. */
function jsonOf({ headers, body }: Answer): unknown {
  return headers.get('content-type')?.includes('json') && body.length > 0 ? JSON.parse(body.toString()) : undefined
}

async function sendRaw(port: number, seed: number, index: number, report: Report): Promise<void> {
  const requests = Array.from({ length: RAW_PER_BATCH }, (_, place) => rawRequest(chanceOf(seed, index, place)))
  await Promise.all(
    requests.map(async (request) => {
      const { statuses, complaints } = await exchangeRaw(port, request)
      for (const status of statuses) countAnswer(report, 'raw bytes', status)
      for (const complaint of complaints) {
        const text = `${complaint}\n${excerpt(Buffer.concat(request.slices))}`
        await addFinding(report, complaint.slice(0, 100), async () => text)
      }
    }),
  )
}
