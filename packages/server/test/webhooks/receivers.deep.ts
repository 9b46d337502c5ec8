import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { eventTypes } from '@pixgate/spec'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { eraseEvents } from '../support/feed.ts'
import { testPort } from '../support/port.ts'
import { snippetOf } from '../support/verifiers/programs.ts'
import { ADMIN_TOKEN, type Answer, request, type World, world } from '../support/world.ts'

/**
 * The receivers of `examples/receivers` as processes, with deliveries of the whole service. `PYTHON` is a Python with
 * `fastapi`, `uvicorn` and `cryptography` (default `python3`).
 */
const PYTHON = process.env.PYTHON ?? 'python3'

const EXAMPLES = fileURLToPath(new URL('../../../../examples/receivers/', import.meta.url))

const BOUND_MS = 60_000

interface Program {
  readonly name: 'python' | 'go'
  /** Ends with 0 where what it needs is installed. */
  readonly needs: readonly string[]
  readonly build?: readonly string[]
  readonly command: (port: number) => readonly string[]
  /** The heading of its verifier in the guide, and the file that has it. */
  readonly verifier: readonly [heading: string, file: string]
  /** Where a merchant's work begins, and lines that wait there for the file `open`. */
  readonly work: { readonly file: string; readonly before: string; readonly waits: string }
}

const programs: readonly Program[] = [
  {
    name: 'python',
    needs: [PYTHON, '-c', 'import fastapi, uvicorn, cryptography'],
    command: (port) => [PYTHON, '-m', 'uvicorn', 'receiver:app', '--port', String(port), '--log-level', 'warning'],
    verifier: ['Python', 'pixgate_signatures.py'],
    work: {
      file: 'receiver.py',
      before: '    event = notification["event"]\n',
      waits: '    while not os.path.exists("open"): time.sleep(0.01)\n',
    },
  },
  {
    name: 'go',
    needs: ['go', 'version'],
    build: ['go', 'build', '-o', 'receiver', '.'],
    command: () => ['./receiver'],
    verifier: ['Go', 'pixgate/verifier.go'],
    work: {
      file: 'main.go',
      before: '\tvar notification Notification\n',
      waits:
        '\tfor _, err := os.Stat("open"); err != nil; _, err = os.Stat("open") {\n\t\ttime.Sleep(10 * time.Millisecond)\n\t}\n',
    },
  },
]

const run = promisify(execFile)

async function isInstalled({ needs: [tool = '', ...options] }: Program): Promise<boolean> {
  return run(tool, options, { timeout: BOUND_MS }).then(
    () => true,
    () => false,
  )
}

/** Fails a wait that takes longer than a minute. */
async function within<T>(what: string, work: Promise<T>): Promise<T> {
  const late = new AbortController()
  const failed = realPause.for(BOUND_MS, late.signal).then(() => assert.fail(`${what}: not within ${BOUND_MS} ms`))
  failed.catch(() => undefined)
  try {
    return await Promise.race([work, failed])
  } finally {
    late.abort()
  }
}

/** A started receiver. */
interface Running {
  /** What it printed about its work. */
  readonly lines: readonly string[]
  /** Resolves when it has printed so many lines. */
  processed(count: number): Promise<void>
  /** Resolves when it has printed something about this operation. */
  has(id: string): Promise<void>
  kill(): Promise<void>
}

async function isListening(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  )
}

function follow(child: ChildProcess & { stdout: Readable }, url: string) {
  const lines: string[] = []
  const printed = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const exit = once(child, 'exit')
  const ended = exit.then(() => assert.fail('the receiver ended'))
  ended.catch(() => undefined)
  const listening = async () => {
    while (!(await isListening(url))) await realPause.for(20)
  }
  const arrived = async (count: number) => {
    while (lines.length < count) await once(printed, 'line')
  }
  const told = async (id: string) => {
    while (!lines.some((line) => line.includes(id))) await once(printed, 'line')
  }
  return {
    lines,
    has: (id: string) => Promise.race([told(id), ended]),
    listening: () => within('listening', Promise.race([listening(), ended])),
    processed: (count: number) => within(`${count} processed`, Promise.race([arrived(count), ended])),
    kill: async () => {
      child.kill('SIGKILL')
      await within('the end', exit)
    },
  }
}

/** A merchant whose endpoint is the program. */
interface Merchant {
  readonly pix: World
  readonly url: string
  readonly webhookId: string
  readonly secret: string
  /** Its work waits while the door is shut. */
  door(isOpen: boolean): Promise<void>
  /** @param readsFeed as it does with an API key */
  start(readsFeed?: boolean): Promise<Running>
}

/** Copies and builds the program, with work that waits for the file `open`. */
async function folderOf(t: TestContext, { name, build, work }: Program): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pixgate-receiver-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await cp(join(EXAMPLES, name), folder, { recursive: true })
  const file = join(folder, work.file)
  const parts = (await readFile(file, 'utf8')).split(work.before)
  assert.equal(parts.length, 2)
  await writeFile(file, parts.join(work.waits + work.before))
  if (build) {
    const [tool = '', ...options] = build
    const env = { ...process.env, GOPROXY: 'off', GOTOOLCHAIN: 'local', GOFLAGS: '' }
    await run(tool, options, { cwd: folder, env, timeout: 3 * BOUND_MS })
  }
  return folder
}

async function merchant(t: TestContext, program: Program): Promise<Merchant> {
  const folder = await folderOf(t, program)
  const pix = await world(t)
  const port = await testPort()
  const url = `http://127.0.0.1:${port}/pix`
  const { status, body } = await pix.call('POST', '/webhook', { url, events: [...eventTypes] })
  assert.equal(status, 201)
  const env = {
    ...process.env,
    PIXGATE_URL: pix.url,
    PIXGATE_WEBHOOK_SECRET: body.secret,
    RECEIVER_ADDRESS: `127.0.0.1:${port}`,
  }
  const open = join(folder, 'open')
  await writeFile(open, '')
  return {
    pix,
    url,
    webhookId: body.webhook_id,
    secret: body.secret,
    door: (isOpen) => (isOpen ? writeFile(open, '') : rm(open)),
    start: async (readsFeed = false) => {
      const [command = '', ...args] = program.command(port)
      const started = { ...env, ...(readsFeed && { PIXGATE_API_KEY: pix.apiKey }) }
      const child = spawn(command, args, { cwd: folder, env: started, stdio: ['ignore', 'pipe', 'inherit'] })
      t.after(() => child.kill('SIGKILL'))
      const running = follow(child, url)
      await running.listening()
      return running
    },
  }
}

type Headers = Readonly<Record<string, string>>

/** The newest notification, signed for this endpoint as the service does. */
function newest({ pix, secret }: Merchant) {
  const { headers, body } = pix.receiver.received.at(-1) ?? assert.fail('nothing arrived')
  const own = Object.entries(headers).filter(([name]) => /^(?:digital|webhook)-/.test(name))
  const signed = Object.fromEntries(own.map(([name, value]) => [name, String(value)]))
  return { headers: sealed(secret, signed, body), foreign: signed, body }
}

/** Signs with the endpoint's secret. */
function sealed(secret: string, headers: Headers, body: Buffer, timestamp = headers['webhook-timestamp']): Headers {
  const hmac = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
  const signature = hmac.update(`${headers['webhook-id']}.${timestamp}.`).update(body).digest('base64')
  return { ...headers, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${signature}` }
}

async function send(url: string, headers: Headers, body: Buffer): Promise<number> {
  const signal = AbortSignal.timeout(BOUND_MS)
  return (await fetch(url, { method: 'POST', headers, body: new Uint8Array(body), signal })).status
}

/** Resolves when all deliveries to it have arrived, each in so many attempts. */
async function delivered({ pix, webhookId }: Merchant, deliveries: number, attempts: number): Promise<void> {
  const path = `/webhook-delivery?webhook_id=${webhookId}`
  const holds = ({ data }: Answer['body']) =>
    data.length === deliveries &&
    data.every((it: Answer['body']) => it.state === 'DELIVERED' && it.attemptCount === attempts)
  await within(`${deliveries} delivered`, pix.until(path, holds))
}

async function resendAll({ pix, webhookId }: Merchant): Promise<void> {
  const { data } = await pix.get(`/webhook-delivery?webhook_id=${webhookId}`)
  for (const { id } of data) assert.equal((await pix.call('POST', `/webhook-delivery/${id}/resend`)).status, 202)
}

const paid = ({ pix }: Merchant, value: string) => within('paid', pix.paid(value))

/** Ids of the operations whose notifications were worked on. */
const operations = ({ lines }: Running) => lines.map((line) => /^processed \S+ pix_cash_in (\S+) PAID$/.exec(line)?.[1])

function without(headers: Headers, name: string): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name))
}

for (const program of programs) {
  const { name, verifier } = program
  const story = (title: string, tell: (merchant: Merchant) => Promise<void>) =>
    test(title.replace('NAME', name), { timeout: 10 * BOUND_MS }, async (t) => {
      if (!(await isInstalled(program))) return t.skip(`${program.needs.join(' ')} does not run here`)
      await tell(await merchant(t, program))
    })

  test(`[webhooks.8] the ${name} receiver has the guide's verifier`, async () => {
    const [heading, file] = verifier
    assert.equal(await readFile(join(EXAMPLES, name, file), 'utf8'), snippetOf(heading))
  })

  story(
    '[webhooks.8] [webhook-secrets.1] the NAME receiver works on a delivery, and on nothing forged',
    async (shop) => {
      const { pix, url, secret, start } = shop
      const running = await start()
      const first = await paid(shop, '15.00')
      await running.processed(1)
      await within('the other receiver', pix.receiver.arrived(1))
      const { headers, foreign, body } = newest(shop)
      const changed = Buffer.from(String(body).replace('1500', '1501'))
      assert.notDeepEqual(changed, body)
      const old = String(Number(headers['webhook-timestamp']) - 600)
      const forged: readonly (readonly [Headers, Buffer])[] = [
        [foreign, body],
        [sealed(secret, headers, changed), changed],
        [{ ...headers, 'webhook-id': 'another' }, body],
        [{ ...headers, 'digital-signature-key-id': 'unknown' }, body],
        [{ ...headers, 'digital-signature': 'AAAA' }, body],
        [without(headers, 'digital-signature'), body],
        [without(headers, 'digital-signature-key-id'), body],
        [without(headers, 'webhook-signature'), body],
        [sealed(secret, headers, body, old), body],
        [{}, body],
      ]
      for (const [given, bytes] of forged) assert.equal(await send(url, given, bytes), 401, JSON.stringify(given))
      assert.equal(await send(url, headers, Buffer.alloc(70_000, ' ')), 413)
      assert.equal(await send(url, headers, body), 204)
      const second = await paid(shop, '16.00')
      await running.processed(2)
      assert.deepEqual(operations(running), [first.id, second.id])
    },
  )

  story(
    '[webhooks.5] [webhooks.21] [NO-2] the NAME receiver answers before it works, and works once, also after a crash',
    async (shop) => {
      const { start, door } = shop
      await door(false)
      const before = await start()
      const first = await paid(shop, '15.00')
      await delivered(shop, 1, 1)
      await resendAll(shop)
      await delivered(shop, 1, 2)
      assert.deepEqual(before.lines, [])
      await before.kill()
      await door(true)
      const after = await start()
      await after.processed(1)
      await resendAll(shop)
      await delivered(shop, 1, 3)
      await after.kill()
      const last = await start()
      const second = await paid(shop, '16.00')
      await last.processed(1)
      assert.deepEqual([operations(after), operations(last)], [[first.id], [second.id]])
    },
  )

  story(
    '[feed.8] [feed.5] the NAME receiver reads on from its cursor, in order, and works once on what the webhook brings too',
    async (shop) => {
      const { pix, webhookId, start } = shop
      const order = async (action: string) =>
        assert.equal((await pix.call('POST', `/webhook/${webhookId}/${action}`)).status, 200)
      const sold: string[] = []
      const sell = async () => sold.push((await paid(shop, '15.00')).id)
      const worksOnLast = (running: Running) => within('the last one', running.has(sold.at(-1) ?? ''))
      await order('pause')
      await sell()
      await sell()
      const first = await start(true)
      await worksOnLast(first)
      await sell()
      await worksOnLast(first)
      await first.kill()
      assert.deepEqual(operations(first), sold)

      await sell()
      await sell()
      const second = await start(true)
      await worksOnLast(second)
      await order('resume')
      await delivered(shop, 5, 1)
      await sell()
      await delivered(shop, 6, 1)
      await worksOnLast(second)
      await second.kill()
      // Work that the end interrupted is repeated, and nothing else.
      const begunAgain = operations(second)[0] === sold[2] ? 2 : 3
      assert.deepEqual(operations(second), sold.slice(begunAgain))

      await order('pause')
      await sell()
      await sell()
      await within(
        'in the feed',
        pix.until('/api/pix/events', ({ feed }) => feed.lastPosition === 8),
      )
      await eraseEvents(pix.databaseUrl, 7)
      const third = await start(true)
      await worksOnLast(third)
      assert.ok(!operations(third).includes(sold[6]))
    },
  )

  story(
    '[signing-keys.4] [NO-7] the NAME receiver verifies with a new signing key, and forgets one that was retired',
    async (shop) => {
      const { pix, url, start } = shop
      const running = await start()
      await paid(shop, '15.00')
      await running.processed(1)
      await within('the other receiver', pix.receiver.arrived(1))
      const ofOldKey = newest(shop)
      const keys = `${pix.operatorUrl}/operator/signing-keys`
      const operate = async (path: string) => {
        const order = { reason: 'the tests', ...(path && { force: true }) }
        const { status, body } = await request(keys + path, ADMIN_TOKEN, 'POST', order)
        assert.ok(status < 300, JSON.stringify(body))
        return body
      }
      const { id: next } = await operate('')
      await operate(`/${next}/promote`)
      const second = await paid(shop, '16.00')
      await running.processed(2)
      assert.equal(operations(running)[1], second.id)
      await within('the other receiver', pix.receiver.arrived(2))
      const { headers, body } = newest(shop)
      assert.equal(headers['digital-signature-key-id'], next)
      assert.equal(await send(url, ofOldKey.headers, ofOldKey.body), 204)
      await operate(`/${ofOldKey.headers['digital-signature-key-id']}/retire`)
      // An unknown id makes it load the keys again, once a second at most.
      const forgotten = async () => {
        while ((await send(url, ofOldKey.headers, ofOldKey.body)) !== 401) {
          assert.equal(await send(url, { ...headers, 'digital-signature-key-id': 'unknown' }, body), 401)
          await realPause.for(100)
        }
      }
      await within('forgotten', forgotten())
      assert.equal(await send(url, headers, body), 204)
    },
  )
}
