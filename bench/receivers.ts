import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createWebhook } from '@pixgate/spec'
import type { After, Benchmark } from './benchmark.ts'
import { type Charge, storeCharges } from './charges.ts'
import { jsonHeaders } from './http-client.ts'
import { type Figures, figuresOf, inRounds, ratio, tableOf } from './measure.ts'
import { payer } from './payments.ts'
import { type Pixgate, startPixgate } from './pixgate.ts'

const ROUNDS = 3

const HEALTHY = 20

/** Each payment goes to every receiver: 300 notifications a second to those that are well. */
const PAYMENTS_PER_SECOND = 15

const WARM_UP_MS = 2_000

const MEASURED_MS = 10_000

const DRIP_MS = 500

/** What receivers do that are not well. */
const ILL = {
  hanging: () => {},
  failing: (_request, response) => response.writeHead(500).end(),
  /** A byte of its headers now and then, for ever. */
  dripping: ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nx: ')
    const drip = setInterval(() => socket.write('x'), DRIP_MS)
    socket.once('close', () => clearInterval(drip))
  },
  redirecting: (_request, response) => response.writeHead(302, { location: '/' }).end(),
} satisfies Record<string, RequestListener>

type Illness = keyof typeof ILL

const SCENES = {
  'twenty that are well': [],
  'beside one of each kind': ['hanging', 'failing', 'dripping', 'redirecting'],
  'beside eighteen that hang': Array.from({ length: 18 }, () => 'hanging' as const),
} satisfies Record<string, readonly Illness[]>

type Scene = keyof typeof SCENES

/** What receivers that are not well cost those that are. */
export const receivers: Benchmark = {
  name: 'receivers',
  summary: `from the bank's event to ${HEALTHY} servers that are well, beside others that hang, fail, drip and redirect`,
  run: async () => {
    const rounds = await inRounds(ROUNDS, async () => {
      const figures = {} as Record<Scene, Figures>
      for (const scene of Object.keys(SCENES) as Scene[]) figures[scene] = await played(SCENES[scene])
      return figures
    })
    const target = (scene: Scene) => ({
      what: `p99 of those that are well, ${scene}, of theirs alone`,
      value: ratio(rounds, 'p99Ms', scene, 'twenty that are well'),
      atMost: 2,
    })
    return {
      figures: tableOf(rounds),
      targets: [target('beside one of each kind'), target('beside eighteen that hang')],
    }
  },
}

/** A service of its own for each scene: what is known of a receiver is forgotten. */
async function played(ill: readonly Illness[]): Promise<Figures> {
  const stops: (() => Promise<unknown>)[] = []
  const after: After = (stop) => stops.push(stop)
  try {
    const pixgate = await startPixgate(after)
    const arrivals = new Map<string, number[]>()
    const well = await listener(after, async (request, response) => {
      const { event } = JSON.parse(Buffer.concat(await request.toArray()).toString())
      arrivals.get(event.id)?.push(performance.now())
      response.end()
    })
    for (let one = 0; one < HEALTHY; one += 1) await subscribe(pixgate, `${well}/${one}`)
    for (const [index, illness] of ill.entries()) {
      await store(pixgate, `${await listener(after, ILL[illness])}/${index}`)
    }
    return await paced(pixgate, arrivals)
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

/** @returns its address */
async function listener(after: After, answer: RequestListener<typeof IncomingMessage>): Promise<string> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const EVENTS = ['pix_cash_in', 'pix_cash_out']

async function subscribe({ send, apiKey }: Pixgate, url: string): Promise<void> {
  const body = JSON.stringify({ url, events: EVENTS })
  await send({ method: 'POST', path: createWebhook.path, headers: jsonHeaders(apiKey), body })
}

/** More than the API lets anybody register. */
async function store({ database }: Pixgate, url: string): Promise<void> {
  await database.query(
    'INSERT INTO endpoint (id, url, events, created_at, since) VALUES (uuidv7(), $1, $2, now() - interval $$1 minute$$, now())',
    [url, EVENTS],
  )
}

/** Pays charges one after the other at an even pace, and waits until all that are well were told of all of them. */
async function paced(pixgate: Pixgate, arrivals: Map<string, number[]>): Promise<Figures> {
  const charges = await storeCharges(pixgate, (PAYMENTS_PER_SECOND * (WARM_UP_MS + MEASURED_MS)) / 1_000)
  const pay = payer(pixgate)
  const sentAt = new Map<string, number>()
  const startedAt = performance.now()
  const paid: Promise<unknown>[] = []
  for (const [index, charge] of charges.entries()) {
    await delay(Math.max(0, startedAt + (index * 1_000) / PAYMENTS_PER_SECOND - performance.now()))
    arrivals.set(charge.id, [])
    sentAt.set(charge.id, performance.now())
    paid.push(pay(charge))
  }
  await Promise.all(paid)
  const isNotified = ({ id }: Charge) => (arrivals.get(id)?.length ?? 0) >= HEALTHY
  while (!charges.every(isNotified)) await delay(DRIP_MS)
  const measured = charges.slice((PAYMENTS_PER_SECOND * WARM_UP_MS) / 1_000)
  const latenciesMs = measured.flatMap(({ id }) =>
    (arrivals.get(id) ?? []).map((arrivedAt) => arrivedAt - (sentAt.get(id) ?? 0)),
  )
  return figuresOf(latenciesMs, MEASURED_MS)
}
