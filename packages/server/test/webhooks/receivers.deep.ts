import assert from 'node:assert/strict'
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { eventTypes } from '@pixgate/spec'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { testPort } from '../support/port.ts'
import { ADMIN_TOKEN, request, type World, world } from '../support/world.ts'

/** The receivers of examples/receivers, as programs of their own. `PYTHON` is the interpreter that has their packages. */

const PYTHON = process.env.PYTHON ?? 'python3'

const EXAMPLES = fileURLToPath(new URL('../../../../examples/receivers/', import.meta.url))

const GUIDE = new URL('../../../../docs/guides/webhook-receiver.md', import.meta.url)

interface Program {
  readonly name: 'python' | 'go'
  readonly needs: readonly string[]
  /** Builds it, once. */
  readonly build?: readonly string[]
  readonly command: (port: number) => readonly string[]
  /** The file that is a verifier of the guide, and its heading there. */
  readonly verifier: readonly [heading: string, file: string]
}

const programs: readonly Program[] = [
  {
    name: 'python',
    needs: [PYTHON, '-c', 'import fastapi, uvicorn, cryptography'],
    command: (port) => [PYTHON, '-m', 'uvicorn', 'receiver:app', '--port', String(port), '--log-level', 'warning'],
    verifier: ['Python', 'pixgate_signatures.py'],
  },
  {
    name: 'go',
    needs: ['go', 'version'],
    build: ['go', 'build', '-o', 'receiver', '.'],
    command: () => ['./receiver'],
    verifier: ['Go', 'pixgate/verifier.go'],
  },
]

/** A started receiver. */
interface Running {
  readonly child: ChildProcess
  /** Lines that it printed about its work. */
  readonly lines: string[]
  processed(count: number): Promise<void>
}

async function listening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await realPause.for(50)
  }
}

async function start(t: TestContext, program: Program, cwd: string, port: number, env: Record<string, string>) {
  const [command = '', ...args] = program.command(port)
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env, RECEIVER_ADDRESS: `127.0.0.1:${port}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const lines: string[] = []
  const printed = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  await listening(port)
  const processed = async (count: number) => {
    while (lines.length < count) await once(printed, 'line')
  }
  return { child, lines, processed } satisfies Running
}

async function kill({ child }: Running): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Sends the newest notification of the other endpoint: its ECDSA signature is right, its HMAC is of another secret. */
async function replay({ receiver }: World, url: string, changes: Record<string, string>, body?: Buffer) {
  const { headers, body: sent } = receiver.received.at(-1) ?? assert.fail('nothing arrived')
  const kept = Object.entries(headers).filter(([name]) => /^(digital|webhook)-/.test(name))
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...Object.fromEntries(kept.map(([name, value]) => [name, String(value)])), ...changes },
    body: new Uint8Array(body ?? sent),
  })
  return answer.status
}

async function resendAll({ get, call }: World, webhookId: string): Promise<void> {
  const { data } = await get(`/webhook-delivery?webhook_id=${webhookId}`)
  for (const { id } of data) assert.equal((await call('POST', `/webhook-delivery/${id}/resend`)).status, 202)
}

async function delivered({ until }: World, webhookId: string, attempts: number): Promise<void> {
  await until(`/webhook-delivery?webhook_id=${webhookId}`, ({ data }) =>
    data.every(
      (delivery: { state: string; attempts: number }) =>
        delivery.attempts >= attempts && delivery.state === 'delivered',
    ),
  )
}

for (const program of programs) {
  const { name, needs, build, verifier } = program
  test(`[webhooks.8] the ${name} receiver has the guide's verifier`, () => {
    const [heading, file] = verifier
    const block = readFileSync(GUIDE, 'utf8').split(`### ${heading}\n`)[1]?.split('```')[1] ?? ''
    assert.equal(readFileSync(join(EXAMPLES, name, file), 'utf8'), block.slice(block.indexOf('\n') + 1))
  })

  test(`[webhooks.8] the ${name} receiver works once on each notification, and accepts no forged one`, {
    timeout: 300_000,
  }, async (t) => {
    const [need = '', ...args] = needs
    const isInstalled = await promisify(execFile)(need, args).then(
      () => true,
      () => false,
    )
    if (!isInstalled) return t.skip(`${needs.join(' ')} does not run here`)
    const pix = await world(t)
    const cwd = await mkdtemp(join(tmpdir(), 'pixgate-receiver-'))
    t.after(() => rm(cwd, { recursive: true, force: true }))
    await cp(join(EXAMPLES, name), cwd, { recursive: true })
    if (build) execFileSync(build[0] ?? '', build.slice(1), { cwd })
    const port = await testPort()
    const url = `http://127.0.0.1:${port}/pix`
    const { body: endpoint } = await pix.call('POST', '/webhook', { url, events: [...eventTypes] })
    const env = { PIXGATE_URL: pix.url, PIXGATE_WEBHOOK_SECRET: endpoint.secret }

    const first = await start(t, program, cwd, port, env)
    const { id } = await pix.paid('15.00')
    await first.processed(1)
    assert.match(first.lines[0] ?? '', new RegExp(`^processed \\S+ pix_cash_in ${id} PAID$`))
    await pix.receiver.arrived(1)
    assert.equal(await replay(pix, url, {}), 401)
    assert.equal(await replay(pix, url, { 'digital-signature-key-id': 'unknown' }), 401)
    assert.equal(await replay(pix, url, {}, Buffer.alloc(70_000, ' ')), 413)

    await kill(first)
    const second = await start(t, program, cwd, port, env)
    await resendAll(pix, endpoint.webhook_id)
    await delivered(pix, endpoint.webhook_id, 2)
    const operator = `${pix.operatorUrl}/operator/signing-keys`
    const { body: key } = await request(operator, ADMIN_TOKEN, 'POST', {})
    assert.equal((await request(`${operator}/${key.id}/promote`, ADMIN_TOKEN, 'POST', { force: true })).status, 200)
    const { id: next } = await pix.paid('16.00')
    await second.processed(1)
    assert.match(second.lines[0] ?? '', new RegExp(` ${next} PAID$`))
    assert.equal(second.lines.length, 1)
  })
}
