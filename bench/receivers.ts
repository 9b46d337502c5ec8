import type { RequestListener } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { After, Benchmark } from './benchmark.ts'
import { type Charge, payer, storeCharges } from './charges.ts'
import { type Figures, figuresOf, inRounds, ratio, tableOf } from './measure.ts'
import { type Pixgate, startPixgate } from './pixgate.ts'
import { EVENTS, operationIdOf, startReceiver, subscribe } from './webhooks.ts'

const ROUNDS = 3

const HEALTHY = 20

/** Each payment is notified to every endpoint: 300 notifications per second to the healthy ones. */
const PAYMENTS_PER_SECOND = 15

const WARM_UP_MS = 2_000

const MEASURED_MS = 10_000

const DRIP_MS = 500

/** Receivers that do not answer properly. */
const BROKEN = {
  hanging: () => {},
  failing: (_request, response) => response.writeHead(500).end(),
  /** Sends a byte of its headers at a time and never finishes. */
  dripping: ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nx: ')
    const drip = setInterval(() => socket.write('x'), DRIP_MS)
    socket.once('close', () => clearInterval(drip))
  },
  redirecting: (_request, response) => response.writeHead(302, { location: '/' }).end(),
} satisfies Record<string, RequestListener>

type Fault = keyof typeof BROKEN

const SCENES = {
  '20 healthy': [],
  'with one of each fault': ['hanging', 'failing', 'dripping', 'redirecting'],
  'with 18 hanging': Array.from({ length: 18 }, () => 'hanging' as const),
} satisfies Record<string, readonly Fault[]>

type Scene = keyof typeof SCENES

/** Delay that broken receivers cause for healthy ones. */
export const receivers: Benchmark = {
  name: 'receivers',
  summary: `from the bank's event to ${HEALTHY} healthy receivers, while others hang, fail, drip and redirect`,
  run: async () => {
    const rounds = await inRounds(ROUNDS, async () => {
      const figures = {} as Record<Scene, Figures>
      for (const scene of Object.keys(SCENES) as Scene[]) figures[scene] = await measureScene(SCENES[scene])
      return figures
    })
    const target = (scene: Scene) => ({
      what: `p99 of healthy receivers ${scene}, relative to without`,
      value: ratio(rounds, 'p99Ms', scene, '20 healthy'),
      atMost: 2,
    })
    return {
      figures: tableOf(rounds),
      targets: [target('with one of each fault'), target('with 18 hanging')],
    }
  },
}

/** Uses a new service for each scene, which has no circuit breaker open. */
async function measureScene(faults: readonly Fault[]): Promise<Figures> {
  const stops: (() => Promise<unknown>)[] = []
  const after: After = (stop) => stops.push(stop)
  try {
    const pixgate = await startPixgate(after)
    const arrivals = new Map<string, number[]>()
    const healthy = await startReceiver(after, async (request, response) => {
      arrivals.get(await operationIdOf(request))?.push(performance.now())
      response.end()
    })
    for (let one = 0; one < HEALTHY; one += 1) await subscribe(pixgate, `${healthy}/${one}`)
    for (const [index, fault] of faults.entries()) {
      await store(pixgate, `${await startReceiver(after, BROKEN[fault])}/${index}`)
    }
    return await paced(pixgate, arrivals)
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

/** Stores an endpoint directly: the API allows fewer. */
async function store({ database }: Pixgate, url: string): Promise<void> {
  await database.query(
    'INSERT INTO endpoint (id, url, events, created_at, since) VALUES (uuidv7(), $1, $2, now() - interval $$1 minute$$, now())',
    [url, EVENTS],
  )
}

/** Pays charges at a fixed rate, and waits until all healthy receivers have every notification. */
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
