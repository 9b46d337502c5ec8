import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Benchmark } from './benchmark.ts'
import { scoped } from './benchmark.ts'
import type { Seen } from './callers.ts'
import { type Living, type Subject, startLiving, subjects } from './lives.ts'
import { figuresOf } from './measure.ts'
import type { Pixgate } from './pixgate.ts'

const PER_SECOND = 300

const WARM_UP_S = 4

const MEASURED_S = 10

/** Where a payment is at an even pace: from marks that exist, of the merchant, the bank's book and the database. */
export const stages: Benchmark = {
  name: 'stages',
  summary: `how long each stage of a payout's and of a charge's life takes, at ${PER_SECOND} a second`,
  options: ['of'],
  run: async (after, options) => {
    const figures: ReturnType<typeof lineOf>[] = []
    for (const subject of subjects) {
      const { call } = subject
      if ((call !== 'payout' && call !== 'charge') || options.of?.includes(call) === false) continue
      const lives = await scoped(after, async (afterwards) => livesOf(await startLiving(afterwards, subject), subject))
      figures.push(...STAGES[call].map((stage) => lineOf(call, stage, lives)))
    }
    return { figures, targets: [] }
  },
}

/** When what happened to a payment, epoch milliseconds. Those of the bank and of the service are whole ones. */
type Life = Readonly<Record<string, number>>

type Stage = readonly [name: string, from: string, to: string]

const NOTIFIED: readonly Stage[] = [
  ['paid at the bank → event received', 'bank paid', 'received'],
  ['event received → applied', 'received', 'partner.confirmed'],
  ['event received → its answer at the bank', 'received', 'bank delivered'],
  ['applied → fanned out', 'partner.confirmed', 'fanned out'],
  ['fanned out → attempt', 'fanned out', 'attempted'],
  ['attempt → at the merchant', 'attempted', 'notified'],
]

/** Not every one begins where the one before ends: what goes on at the same time is told too. */
const STAGES: Readonly<Record<'payout' | 'charge', readonly Stage[]>> = {
  payout: [
    ['request → created', 'sent', 'create'],
    ['created → answered', 'create', 'answered'],
    ['created → claimed', 'create', 'send.claimed'],
    ['claimed → at the bank', 'send.claimed', 'bank accepted'],
    ['at the bank → its answer noted', 'bank accepted', 'send.accepted'],
    ['at the bank → paid', 'bank accepted', 'bank paid'],
    ...NOTIFIED,
    ['the whole life', 'sent', 'notified'],
  ],
  charge: [
    ['request → created', 'sent', 'create'],
    ['created → at the bank', 'create', 'bank accepted'],
    ['at the bank → its answer noted', 'bank accepted', 'charge.accepted'],
    ['its answer noted → answered', 'charge.accepted', 'answered'],
    ['told to pay → paid at the bank', 'paying', 'bank paid'],
    ...NOTIFIED,
    ['told to pay → notified', 'paying', 'notified'],
    ['the whole life', 'sent', 'notified'],
  ],
}

function lineOf(call: string, [name, from, to]: Stage, lives: readonly Life[]) {
  const tookMs = lives.map((life) => (life[to] ?? Number.NaN) - (life[from] ?? Number.NaN)).filter(Number.isFinite)
  const { p50Ms, p95Ms, p99Ms } = figuresOf(tookMs, MEASURED_S * 1_000)
  return { payment: call, stage: name, p50Ms, p95Ms, p99Ms, payments: tookMs.length }
}

async function livesOf({ pixgate, callers, loadOf }: Living, { call }: Subject): Promise<Life[]> {
  const { url, apiKey } = loadOf(1)
  const load = { call, url, apiKey, perSecond: PER_SECOND }
  await callers.runPaced({ ...load, payments: PER_SECOND * WARM_UP_S })
  const seen = await callers.runPaced({ ...load, payments: PER_SECOND * MEASURED_S })
  const [ofDatabase, ofBank] = [await databaseMarks(pixgate, seen), await bankMarks(pixgate)]
  return seen.map(({ id, ...marks }) => ({ ...marks, ...ofDatabase.get(id), ...ofBank.get(id) }))
}

const MARKS = `
  SELECT seen.id,
         (SELECT jsonb_object_agg(trigger, extract(epoch FROM at) * 1000) FROM move WHERE operation_id = seen.id) AS moves,
         (SELECT min(extract(epoch FROM i.received_at) * 1000)
            FROM inbox_event e JOIN inbox i ON i.id = e.inbox_id WHERE e.operation_id = seen.id)::float8 AS received,
         (extract(epoch FROM n.fanned_out_at) * 1000)::float8 AS "fanned out",
         (extract(epoch FROM a.started_at) * 1000)::float8 AS attempted
    FROM unnest($1::uuid[]) AS seen (id)
    JOIN notification n ON n.operation_id = seen.id
    JOIN delivery d ON d.notification_id = n.id
    JOIN delivery_attempt a ON a.delivery_id = d.id`

/** What the service noted, by payment. */
async function databaseMarks({ database }: Pixgate, seen: readonly Seen[]): Promise<Map<string, Life>> {
  await database.query('ANALYZE')
  const { rows } = await database.query(MARKS, [seen.map(({ id }) => id)])
  return new Map(rows.map(({ id, moves, ...marks }) => [id, { ...moves, ...marks }]))
}

const FACTS: Readonly<Record<string, string>> = {
  'charge created': 'bank accepted',
  'payout accepted': 'bank accepted',
  'charge paid': 'bank paid',
  'payout confirmed': 'bank paid',
}

/** What the bank's book says, by payment. */
async function bankMarks({ dataDirectory }: Pixgate): Promise<Map<string, Life>> {
  const book = (await readFile(join(dataDirectory, 'bank', 'book.jsonl'), 'utf8')).trim().split('\n')
  const lives = new Map<string, Record<string, number>>()
  const paymentOfEvent = new Map<string, string>()
  for (const line of book) {
    const { fact, at: bookedAt, chargeId, payoutId = chargeId, eventId } = JSON.parse(line)
    const id = fact === 'event delivered' ? paymentOfEvent.get(eventId) : payoutId
    const mark = fact === 'event delivered' ? 'bank delivered' : FACTS[fact]
    if (id === undefined || mark === undefined) continue
    if (eventId !== undefined) paymentOfEvent.set(eventId, id)
    lives.set(id, { ...lives.get(id), [mark]: bookedAt })
  }
  return lives
}
