import assert from 'node:assert/strict'
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventTypes } from '@pixgate/spec'
import { type TcpProxy, tcpProxy } from '../../server/test/support/tcp-proxy.ts'
import { startReceiver } from '../../server/test/support/webhook-receiver.ts'
import { world } from '../../server/test/support/world.ts'
import { assertAllTaken, feedOf, payAndReverse, type Taken } from './support/drill.ts'
import { folderOf, shell } from './support/running.ts'

const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const SHIFTED = fileURLToPath(new URL('support/shifted.ts', import.meta.url))

/** A receiver that keeps what it took over its own restarts. */
async function restartable(t: TestContext, port: number) {
  const taken: Taken[] = []
  const make = () =>
    createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray())
      taken.push({ headers: request.headers, body })
      response.end()
    })
  let server = make()
  const start = async (on: number) => {
    server.listen(on, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    return typeof address === 'object' && address ? address.port : 0
  }
  const listening = await start(port)
  const stop = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  t.after(stop)
  const restart = async (pause: () => Promise<void>) => {
    await stop()
    await pause()
    server = make()
    await start(listening)
  }
  return { taken, port: listening, restart }
}

const glance = () => new Promise((resolve) => setTimeout(resolve, 20))

async function closedFor(proxy: TcpProxy, pause: () => Promise<void>): Promise<void> {
  const { target } = proxy
  proxy.target = 1
  proxy.cutAll()
  await pause()
  proxy.target = target
}

/** @throws unless it was killed */
async function endOf(program: ChildProcessByStdio<null, Readable, Readable>): Promise<void> {
  const [says, [code, signal]] = await Promise.all([text(program.stderr), once(program, 'exit')])
  assert.equal(signal, 'SIGKILL', `listen ended with ${code}: ${says}`)
}

interface Drill {
  readonly taken: readonly Taken[]
  readonly pixgateProxy: TcpProxy
  readonly receiverProxy: TcpProxy
  readonly folder: string
  /** Makes two events of one operation. */
  act(): Promise<void>
  /** The program, which prints a line of JSON once it listens. */
  start(): Promise<ChildProcess>
  restartReceiver(pause: () => Promise<void>): Promise<void>
  /** As the program sees a restart of Pixgate: connections end, and none is taken until it is back. */
  restartPixgate(pause: () => Promise<void>): Promise<void>
  /** Ends when everything in the feed was taken. @returns after the comparison */
  assertNothingLost(): Promise<void>
}

async function drill(t: TestContext): Promise<Drill> {
  const pix = await world(t)
  await pix.paid('900')
  const [paid] = await feedOf(pix, 1)
  const receiver = await restartable(t, 0)
  const pixgateProxy = await tcpProxy(t, Number(new URL(pix.url).port))
  const receiverProxy = await tcpProxy(t, receiver.port)
  const folder = folderOf(t)
  const secrets = new Set<string>()
  const ended = Promise.withResolvers<never>()
  let isFirst = true
  let expected = 1
  return {
    taken: receiver.taken,
    pixgateProxy,
    receiverProxy,
    folder,
    restartReceiver: receiver.restart,
    restartPixgate: (pause) => closedFor(pixgateProxy, pause),
    act: async () => {
      expected += 2
      await payAndReverse(pix)
    },
    start: async () => {
      const from = isFirst ? ['--from', paid?.cursor ?? ''] : []
      isFirst = false
      const words = ['listen', '--forward-to', `127.0.0.1:${receiverProxy.port}`, '--json', ...from]
      const child = spawn(process.execPath, ['--import', SHIFTED, PROGRAM, ...words], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          XDG_CONFIG_HOME: folder,
          PIXGATE_URL: `http://127.0.0.1:${pixgateProxy.port}`,
          PIXGATE_API_KEY: pix.apiKey,
          PIXGATE_TEST_SHIFT: join(folder, 'an-hour-later'),
        },
      })
      t.after(() => child.kill('SIGKILL'))
      void endOf(child).catch(ended.reject)
      const lines = createInterface({ input: child.stdout })
      const [line] = await once(lines, 'line')
      lines.on('line', () => undefined)
      secrets.add(JSON.parse(line).secret)
      return child
    },
    assertNothingLost: async () => {
      const events = (await feedOf(pix, expected)).slice(1)
      const ids = () => new Set(receiver.taken.map(({ headers }) => headers['webhook-id'])).size
      while (ids() < events.length) await Promise.race([glance(), ended.promise])
      assert.equal(secrets.size, 1)
      await assertAllTaken(pix, events, receiver.taken, [...secrets].join())
      t.diagnostic(`${events.length} events, ${receiver.taken.length} receipts`)
    },
  }
}

test('[cli.7] ten restarts of the program, of Pixgate and of the receiver lose nothing', async (t) => {
  const { act, start, restartPixgate, restartReceiver, assertNothingLost } = await drill(t)
  let child = await start()
  for (let round = 0; round < 10; round += 1) {
    const paying = act()
    child.kill('SIGKILL')
    await once(child, 'exit')
    await restartReceiver(() => paying)
    child = await start()
    await restartPixgate(act)
  }
  await assertNothingLost()
})

test('[cli.7] a hundred cuts on both sides lose nothing', async (t) => {
  const { act, start, pixgateProxy, receiverProxy, assertNothingLost } = await drill(t)
  // A full page of the feed is several pieces, so that each time one of them is cut.
  for (let payouts = 0; payouts < 50; payouts += 1) await act()
  await start()
  let cuts = 0
  // Of each side every third piece of bytes is cut on its way, in either direction, until there were a hundred.
  for (const proxy of [pixgateProxy, receiverProxy]) {
    let pieces = 0
    proxy.judge = () => {
      pieces += 1
      if (cuts >= 100 || pieces % 3 !== 0) return 'pass'
      cuts += 1
      return 'cut'
    }
  }
  while (cuts < 100) await act()
  await assertNothingLost()
})

test('[cli.7] a program that slept for an hour goes on, and signs with the time of now', async (t) => {
  const { act, start, folder, pixgateProxy, receiverProxy, taken, assertNothingLost } = await drill(t)
  const child = await start()
  await act()
  while (taken.length < 2) await glance()
  child.kill('SIGSTOP')
  await act()
  // Nobody keeps a connection for an hour.
  for (const proxy of [pixgateProxy, receiverProxy]) proxy.cutAll()
  writeFileSync(join(folder, 'an-hour-later'), '')
  child.kill('SIGCONT')
  await act()
  await assertNothingLost()
  const times = taken.map(({ headers }) => Number(headers['webhook-timestamp']))
  assert.ok((times.at(-1) ?? 0) - (times[0] ?? 0) >= 3_600)
})

test('[cli.7] a receiver that is down loses nothing and gets everything in order', async (t) => {
  const { act, start, restartReceiver, assertNothingLost } = await drill(t)
  await start()
  await restartReceiver(async () => {
    for (let payouts = 0; payouts < 20; payouts += 1) await act()
  })
  await assertNothingLost()
})

test('[cli.7] [sdk.10] connections that went silent are given up, and lose nothing', async (t) => {
  const { act, start, pixgateProxy, receiverProxy, assertNothingLost } = await drill(t)
  const silent = new Set<number>()
  const reached = Promise.withResolvers<void>()
  let isSilent = false
  pixgateProxy.judge = (_, _bytes, connection) => {
    if (!isSilent) silent.add(connection)
    return isSilent && silent.has(connection) ? 'swallow' : 'pass'
  }
  receiverProxy.judge = (_, _bytes, connection) => {
    reached.resolve()
    return connection === 1 ? 'swallow' : 'pass'
  }
  await start()
  await act()
  await reached.promise
  isSilent = true
  await act()
  await assertNothingLost()
})

test('[cli.7] listen brings what an endpoint is delivered, and prints how much later', async (t) => {
  const pix = await world(t)
  const arrivals = new Map<string, number>()
  const receiver = await startReceiver(t, (response, { path, headers }) => {
    arrivals.set(`${path} ${headers['webhook-id']}`, performance.now())
    response.end()
  })
  await pix.paid('900')
  const [paid] = await feedOf(pix, 1)
  await pix.call('POST', '/webhook', { url: `${receiver.url}endpoint`, events: [...eventTypes] })
  const stopping = new AbortController()
  const pixgate = shell(folderOf(t), { PIXGATE_URL: pix.url, PIXGATE_API_KEY: pix.apiKey })
  const line = `pixgate listen --forward-to ${receiver.url}listen --from ${paid?.cursor}`
  const listening = pixgate(line, { signal: stopping.signal })
  for (let payouts = 0; payouts < 50; payouts += 1) await payAndReverse(pix)
  const events = (await feedOf(pix, 101)).slice(1)
  await receiver.arrived(200)
  stopping.abort()
  assert.equal((await listening).code, 0)
  const at = (path: string, id: string) => arrivals.get(`${path} ${id}`) ?? Number.NaN
  const added = events.map(({ id }) => Math.round(at('/listen', id) - at('/endpoint', id)))
  assert.ok(added.every(Number.isFinite))
  const [median, p95] = [49, 94].map((place) => added.toSorted((one, other) => one - other)[place])
  t.diagnostic(`listen adds ${median} ms (median), ${p95} ms (p95)`)
})
