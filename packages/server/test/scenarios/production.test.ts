import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { testDatabase } from '../support/database.ts'
import { as, serverLogin } from '../support/logins.ts'
import { testPort } from '../support/port.ts'
import { PROGRAM_ENVIRONMENT } from '../support/program-environment.ts'

const PROGRAMS = {
  'the server alone': new URL('../../src/main.ts', import.meta.url),
  'the sandbox’s program': new URL('../../../sandbox/src/main.ts', import.meta.url),
}

const SECRETS = {
  PIXGATE_ADMIN_TOKEN: 'canary-admin-token-Qm7vXz2LpT9sWk4RbN8y',
  PIXGATE_ENCRYPTION_KEY: 'canary-encryption-key-Hd5gJc3ZtV6nKx1FqS0w',
  PIXGATE_PARTNER_TOKEN: 'canary-partner-token-Ye8uPo4RiB2mLk7XaD9t',
  PIXGATE_PARTNER_SECRET: 'canary-partner-secret-Nf6hWs1CjG3vZq5TbM8e',
}

const CONFIGURED = {
  PIXGATE_MODE: 'production',
  // The discard port: no listener.
  PIXGATE_PARTNER_URL: 'https://127.0.0.1:9',
  PIXGATE_TRUST_PROXY: 'none',
  PIXGATE_MERCHANT_PIX_KEY: 'loja@example.com',
  PIXGATE_MERCHANT_NAME: 'Loja',
  PIXGATE_MERCHANT_CITY: 'Sao Paulo',
  PIXGATE_PAYMENT_MAX_CENTS: '500000',
  PIXGATE_HOUR_MAX_CENTS: '2000000',
  PIXGATE_DAY_MAX_CENTS: '10000000',
  PIXGATE_NIGHT_MAX_CENTS: 'none',
  ...SECRETS,
}

for (const [name, program] of Object.entries(PROGRAMS)) {
  test(`[sandbox.1] [sandbox.4] [config.2] [reference.1] production by ${name} starts without printing a secret, describes itself, and has no controls`, async (t) => {
    const { url } = await testDatabase(t)
    const databaseUrl = as(url, await serverLogin(t))
    const { port, directory, stop } = await startProduction(t, program, databaseUrl)
    const call = async (method: string, path: string, token: string) => {
      const ask = () =>
        fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { authorization: `Bearer ${token}` } })
      let response = await ask()
      // A busy machine's database takes more than its second to connect.
      while (response.status === 503) response = await ask()
      return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
    }
    const { body: made } = await call('POST', '/api-key/generate', SECRETS.PIXGATE_ADMIN_TOKEN)
    assert.match(made.apiKey, /^pix_live_/)
    for (const [method, path] of [
      ['POST', '/sandbox/cash-in/0198c0de-7a11-7000-8000-5f1d3c2b1a09/pay'],
      ['POST', '/sandbox/cash-in/0198c0de-7a11-7000-8000-5f1d3c2b1a09/fail'],
      ['POST', '/sandbox/close'],
      ['GET', '/sandbox/behavior'],
      ['PUT', '/sandbox/behavior'],
      ['GET', '/sandbox/book'],
    ] as const) {
      const { status, body } = await call(method, path, made.apiKey)
      assert.deepEqual([status, body.code], [404, 'not_found'], path)
    }
    for (const path of ['/', '/docs', '/docs/errors', '/openapi.json', '/llms.txt']) {
      assert.equal((await fetch(`http://127.0.0.1:${port}${path}`)).status, 200, path)
    }
    const { status, headers } = await call('GET', '/organization/balance', made.apiKey)
    assert.equal(status, 200)
    assert.match(headers.get('strict-transport-security') ?? '', /max-age/)

    const output = await stop()
    const said = [...output.matchAll(/"msg":"(stop[^"]*)"/g)].map(([, sentence]) => sentence)
    assert.deepEqual(said, STEPS, 'each step of the end is a line')
    for (const secret of [...Object.values(SECRETS), databaseUrl, made.apiKey]) assert.ok(!output.includes(secret))
    assert.deepEqual(await readdir(directory), [], 'and nothing is kept on this machine')
  })
}

const REFUSED_DEBUGGER = 'a debugger was requested; production opens none'

test('[production.5] SIGUSR1 opens no debugger in production: it is a line of the log', async (t) => {
  const { url } = await testDatabase(t)
  const databaseUrl = as(url, await serverLogin(t))
  const { askForDebugger, stop } = await startProduction(t, PROGRAMS['the server alone'], databaseUrl)
  await askForDebugger()
  assert.doesNotMatch(await stop(), /Debugger listening/)
})

/** Log line of an orderly end. */
const STEPS = [
  'stopping on signal',
  'stopping: no longer ready; every answer closes its connection',
  'stopping: the workers have finished',
  'stopping: all requests are finished, and no more are accepted',
  'stopping: events, commands and deliveries are finished',
  'stopped: all accepted work is in the database',
]

/** Resolves when it is ready; it goes with the test. `stop` ends it in its orderly way and returns all it has written. */
async function startProduction(t: TestContext, program: URL, databaseUrl: string) {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-production-'))
  const port = await testPort()
  const child = spawn(process.execPath, [fileURLToPath(program)], {
    env: {
      ...PROGRAM_ENVIRONMENT,
      ...CONFIGURED,
      PORT: String(port),
      DATABASE_URL: databaseUrl,
      PIXGATE_DATA_DIR: directory,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const gone = once(child, 'close')
  t.after(async () => {
    child.kill('SIGKILL')
    await gone
    await rm(directory, { recursive: true })
  })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes) => {
        output += bytes
        if (output.includes('"msg":"ready"')) resolve()
      })
    }
    void gone.then(() => reject(new Error(output)))
  })
  const askForDebugger = async () => {
    child.kill('SIGUSR1')
    while (!output.includes(REFUSED_DEBUGGER)) await Promise.race([once(child.stdout, 'data'), gone])
  }
  const stop = async () => {
    child.kill('SIGTERM')
    await gone
    return output
  }
  return { port, directory, askForDebugger, stop }
}
