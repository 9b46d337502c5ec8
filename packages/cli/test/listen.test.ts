import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import type { Followed } from '../../sdk/src/index.ts'
import { startReceiver } from '../../server/test/support/webhook-receiver.ts'
import { world } from '../../server/test/support/world.ts'
import { type Forwarding, forward } from '../src/forward.ts'
import { assertAllTaken, feedOf, payAndReverse, type Taken } from './support/drill.ts'
import { folderOf, json, type Ran, shell } from './support/running.ts'

/** Runs a command until its signal. */
function background(pixgate: ReturnType<typeof shell>, line: string) {
  const stopping = new AbortController()
  const ran = pixgate(line, { signal: stopping.signal })
  return {
    stop: async (): Promise<Ran> => {
      stopping.abort()
      return ran
    },
  }
}

test('[cli.7] listen loses nothing while the receiver fails, while it is stopped, and over a restart', async (t) => {
  const pix = await world(t)
  const taken: Taken[] = []
  const tried = new Set<string>()
  let waiting: (() => void) | undefined
  const receiver = await startReceiver(t, (response, received) => {
    const id = String(received.headers['webhook-id'])
    // The first attempt of each event fails: by an error, or by a cut.
    if (!tried.has(id)) {
      tried.add(id)
      if (tried.size % 2 === 0) return void response.destroy()
      return void response.writeHead(500).end()
    }
    taken.push(received)
    response.end()
    waiting?.()
  })
  const arrived = async (count: number) => {
    while (taken.length < count)
      await new Promise<void>((resolve) => {
        waiting = resolve
      })
  }
  const folder = folderOf(t)
  const pixgate = shell(folder, { PIXGATE_URL: pix.url, PIXGATE_API_KEY: pix.apiKey })
  await pix.paid('500')
  const [paid] = await feedOf(pix, 1)
  const line = `pixgate listen --forward-to ${receiver.url.replace('http://', '')}hook --json`

  const first = background(pixgate, `${line} --from ${paid?.cursor}`)
  await payAndReverse(pix)
  await arrived(2)
  const { code, stdout } = await first.stop()
  assert.equal(code, 0)
  await payAndReverse(pix)
  const second = background(pixgate, line)
  await payAndReverse(pix)
  const events = (await feedOf(pix, 7)).slice(1)
  while (new Set(taken.map(({ headers }) => headers['webhook-id'])).size < events.length)
    await arrived(taken.length + 1)
  const restarted = await second.stop()

  const [{ secret }] = json(stdout)
  assert.equal([json(restarted.stdout)].flat()[0].secret, secret, 'the secret stays')
  await assertAllTaken(pix, events, taken, secret)
  const [kept = ''] = readdirSync(join(folder, 'config/pixgate/listen'))
  assert.equal(statSync(join(folder, 'config/pixgate/listen', kept)).mode & 0o777, 0o600)
})

/** An event of an operation. */
function followed(position: number, operation: string): Followed {
  const event = { event_type: 'pix_cash_in', event: { id: operation } }
  const entry = { position, id: `e${position}`, cursor: `c${position}`, body: JSON.stringify(event) }
  return { ...entry, event, entry: { ...entry, signature: 's', signatureKeyId: 'k' } } as unknown as Followed
}

async function* those(...events: readonly Followed[]) {
  yield* events
}

function forwarding(send: Forwarding['link']['send']): Forwarding & { readonly kept: string[] } {
  const kept: string[] = []
  return {
    url: 'http://receiver.example',
    secret: 'whsec_AAEC',
    signal: new AbortController().signal,
    link: { send, now: () => 0, sleep: async () => undefined },
    keep: (cursor) => void kept.push(cursor),
    taken: () => undefined,
    failed: () => undefined,
    kept,
  }
}

const idOf = (init: RequestInit) => (init.headers as Readonly<Record<string, string>>)['webhook-id'] ?? ''

test('[cli.7] the kept cursor passes no event that was not taken; others do not wait for it', async () => {
  const sent: string[] = []
  let failures = 3
  const release: (() => void)[] = []
  const settings = forwarding(async (_, init) => {
    const id = idOf(init)
    sent.push(id)
    if (id !== 'e1') return { status: 204 }
    failures -= 1
    if (failures > 0) return { status: 503 }
    await new Promise<void>((resolve) => release.push(resolve))
    return { status: 200 }
  })
  const ended = forward(those(followed(1, 'a'), followed(2, 'b'), followed(3, 'a')), settings)
  while (release.length === 0) await new Promise(setImmediate)
  assert.ok(sent.includes('e2') && !sent.includes('e3'), 'b goes on, a keeps its order')
  assert.deepEqual(settings.kept, [])
  release[0]?.()
  await ended
  assert.deepEqual(settings.kept, ['c2', 'c3'])
})

test('[cli.7] a redirect or an error is no receipt, and each attempt has a time of its own', async () => {
  const statuses = [302, 400, 401, 500]
  const times: (string | undefined)[] = []
  let now = 0
  const settings = forwarding(async (_, init) => {
    times.push((init.headers as Readonly<Record<string, string>>)['webhook-timestamp'])
    return { status: statuses.shift() ?? 200 }
  })
  const sleep = async () => {
    now += 3_600_000
  }
  const later = { ...settings, link: { ...settings.link, now: () => now, sleep } }
  await forward(those(followed(1, 'a')), later)
  assert.deepEqual(times, ['0', '3600', '7200', '10800', '14400'])
})

test('[cli.7] a receiver that was down for ten minutes is tried every ten seconds, and gets everything in order', async () => {
  const taken: string[] = []
  const waits: number[] = []
  let now = 0
  const settings = forwarding(async (_, init) => {
    if (now < 600_000) throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
    taken.push(idOf(init))
    return { status: 200 }
  })
  const sleep = async (ms: number) => {
    waits.push(ms)
    now += ms
    assert.deepEqual(settings.kept, [])
  }
  const events = [followed(1, 'a'), followed(2, 'b'), followed(3, 'a'), followed(4, 'b')]
  await forward(those(...events), { ...settings, link: { ...settings.link, now: () => now, sleep } })
  assert.equal(Math.max(...waits), 10_000)
  assert.equal(settings.kept.at(-1), 'c4')
  const order = (...ids: readonly string[]) => taken.filter((id) => ids.includes(id))
  assert.deepEqual(
    [order('e1', 'e3'), order('e2', 'e4')],
    [
      ['e1', 'e3'],
      ['e2', 'e4'],
    ],
  )
})

test('[cli.7] when the feed ends with an error, so do deliveries to a receiver that is down', async () => {
  const sleeping = Promise.withResolvers<AbortSignal>()
  const settings = forwarding(async () => ({ status: 503 }))
  const sleep = (_: number, signal: AbortSignal) => {
    sleeping.resolve(signal)
    return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  }
  async function* refused() {
    yield followed(1, 'a')
    await sleeping.promise
    throw new Error('401')
  }
  await assert.rejects(forward(refused(), { ...settings, link: { ...settings.link, sleep } }), { message: '401' })
  assert.ok((await sleeping.promise).aborted)
})
