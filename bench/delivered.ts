import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createWebhook } from '@pixgate/spec'
import { freePort } from '../packages/server/src/platform/ports.ts'
import type { After, Benchmark } from './benchmark.ts'
import { startContestant } from './contestant.ts'
import { type Cost, measureCost, medianCost, WATCHED, watchDatabase } from './cost.ts'
import { cpuUsOf } from './counters.ts'
import { profileDuring, selfTimes } from './cpu-profile.ts'
import { jsonHeaders } from './http-client.ts'
import { inRounds, median } from './measure.ts'
import { fund } from './payouts.ts'
import { type Pixgate, startPixgate } from './pixgate.ts'

const ROUNDS = 5

const BACKLOG = 10_000

const POST = { callers: 64, warmUpMs: 500, measuredMs: 2_000 }

const TOP = 12

/** Notifications that waited for their receiver, against what sends the same bodies to it and does nothing else. */
export const delivered: Benchmark = {
  name: 'delivered',
  summary: `${BACKLOG} notifications that waited, delivered to one receiver, against undici's posts to it; T7`,
  options: ['rounds'],
  run: async (after, options) => {
    const inspectorPort = await freePort(9_300)
    const pixgate = await startPixgate(after, { postgres: WATCHED, inspectorPort })
    const receiver = await startReceiver(after)
    const body = JSON.stringify({ url: `${receiver.url}/`, events: ['pix_cash_in'] })
    await pixgate.send({ method: 'POST', path: createWebhook.path, headers: jsonHeaders(pixgate.apiKey), body })
    await fund(pixgate)
    const poster = await startContestant(after, 'poster', receiver.url, await bodyOfFirst(pixgate))
    const watched = {
      ...{ serverPid: pixgate.pid, clientPid: receiver.pid },
      database: await watchDatabase(after, pixgate),
    }
    const round = async () => {
      await holdBacklog(pixgate)
      const before = cpuUsOf(poster.pid)
      const { perSecond: posted } = await poster.measure(POST)
      const postUs = (cpuUsOf(poster.pid) - before) / (posted * ((POST.warmUpMs + POST.measuredMs) / 1_000))
      const measured = await measureCost(watched, BACKLOG, () => release(pixgate, receiver))
      return { ...measured, posted, postUs }
    }
    const rounds = await inRounds(options.rounds ?? ROUNDS, round)
    await holdBacklog(pixgate)
    const profile = await profileDuring(inspectorPort, () => release(pixgate, receiver))
    return {
      figures: figuresOf(rounds),
      targets: [
        {
          ...{ id: 'T7', what: "notifications a second, of undici's posts", atLeast: 0.5 },
          value: median(rounds.map(({ perSecond, posted }) => perSecond / posted)),
        },
      ],
      notes: [{ title: 'Where the server’s main thread spends its time', lines: selfTimes(profile).slice(0, TOP) }],
    }
  },
}

type Round = Cost & Readonly<Record<'perSecond' | 'posted' | 'postUs', number>>

function figuresOf(rounds: readonly Round[]) {
  const { posted, postUs, perSecond, ...costs } = medianCost(rounds)
  return [
    { who: 'undici, 64', perSecond: posted, serverUs: postUs },
    { who: 'notifications', perSecond, ...costs },
  ]
}

interface Receiver {
  readonly url: string
  readonly pid: number
  /** When each of the next so many messages came, in milliseconds, in their order. */
  next(count: number): Promise<readonly number[]>
}

async function startReceiver(after: After): Promise<Receiver> {
  const child = fork(fileURLToPath(new URL('contestants/receiver.ts', import.meta.url)))
  const exited = once(child, 'exit')
  after(async () => {
    child.disconnect()
    await exited
  })
  const [url] = await once(child, 'message')
  return {
    url,
    pid: child.pid as number,
    next: async (count) => {
      child.send(count)
      return (await once(child, 'message'))[0]
    },
  }
}

async function bodyOfFirst({ database }: Pixgate): Promise<string> {
  const { rows } = await database.query<{ body: Buffer }>('SELECT body FROM notification LIMIT 1')
  return String(rows[0]?.body)
}

const POLL_MS = 50

const COPY = `
INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at)
SELECT uuidv7(), operation_id, event_type, status, reference || uuidv7(), body, now()
  FROM (SELECT * FROM notification ORDER BY created_at LIMIT 1) AS first, generate_series(1, $1)`

/** Makes notifications, and waits until their deliveries are held, as by `Retry-After`. */
async function holdBacklog({ database }: Pixgate): Promise<void> {
  const ask = async (query: string) => (await database.query(query)).rows[0].count
  while ((await ask("SELECT count(*)::integer FROM delivery WHERE state = 'PENDING'")) > 0) await delay(POLL_MS)
  await database.query("UPDATE endpoint SET held_until = now() + interval '1 hour'")
  await database.query(COPY, [BACKLOG])
  while ((await ask('SELECT count(*)::integer FROM notification WHERE fanned_out_at IS NULL')) > 0) await delay(POLL_MS)
  await database.query('VACUUM ANALYZE notification, delivery')
  await database.query('CHECKPOINT')
}

/** Lets them go. @returns how many arrive a second after the first quarter, when the connections are open */
async function release({ database }: Pixgate, { next }: Receiver): Promise<{ readonly perSecond: number }> {
  const arrived = next(BACKLOG)
  await database.query('UPDATE endpoint SET held_until = NULL')
  const arrivalsMs = await arrived
  const warm = BACKLOG / 4
  const tookMs = (arrivalsMs[BACKLOG - 1] ?? Number.NaN) - (arrivalsMs[warm] ?? Number.NaN)
  return { perSecond: ((BACKLOG - 1 - warm) * 1_000) / tookMs }
}
